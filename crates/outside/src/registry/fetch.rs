//! Fetching: the manifest, then every blob that is not here yet, into a change of the layout that can still be dropped.

use super::Registry;
use super::trouble::{Trouble, Unread, bounded, chunk};
use super::wire::{Action, Wire};
use entourage_bundle::{
    BlobReader, Blobs as _, Change, Descriptor, Exit, Fault, MANIFEST_BYTES_MAX, Manifest, Reference, Staged, names,
};
use entourage_model::{Digest, Report};
use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode};
use std::io::Write as _;

/// How a registry says what it believes that it sends.
pub(super) const CONTENT_DIGEST: &str = "docker-content-digest";

impl Registry {
    /// Stages what `reference` means, and everything that its manifest names: together no more than `bytes_max`. What
    /// the blobs hold is not looked into.
    pub async fn fetch(
        &self,
        reference: &Reference,
        change: &mut Change<'_>,
        bytes_max: u64,
    ) -> Result<Descriptor, Fault> {
        let wire = self.wire(reference)?;
        let bytes = self.fetch_manifest(&wire, reference).await?;
        let digest = Digest::of(&bytes);
        let manifest = Manifest::parse(&bytes, digest)?;
        manifest.kind(digest)?;
        insist_on_size(&manifest, digest, bytes_max)?;
        self.fetch_blobs(&wire, &manifest, change).await?;
        change.put(names::MANIFEST, &bytes)
    }

    /// The blobs of a manifest that are not here, or not as they must be.
    pub(super) async fn fetch_blobs(
        &self,
        wire: &Wire,
        manifest: &Manifest,
        change: &mut Change<'_>,
    ) -> Result<(), Fault> {
        for descriptor in manifest.blobs() {
            if change.has(descriptor) && change.open(descriptor).and_then(BlobReader::finish).is_ok() {
                continue;
            }
            let staged = self.fetch_blob(wire, descriptor, change).await?;
            change.stage(staged);
        }
        Ok(())
    }

    /// The manifest's bytes. They have the digest that was asked for, and the one that the registry announces.
    pub(super) async fn fetch_manifest(&self, wire: &Wire, reference: &Reference) -> Result<Vec<u8>, Fault> {
        let bytes = self.try_manifest(wire, &reference.wanted(), reference.digest).await?;
        bytes.ok_or_else(|| *Trouble::not_there(reference).fault)
    }

    /// The same by tag or digest. Absent: the registry has none.
    pub(super) async fn try_manifest(
        &self,
        wire: &Wire,
        wanted: &str,
        digest: Option<Digest>,
    ) -> Result<Option<Vec<u8>>, Fault> {
        self.settings
            .patience
            .persist(async || {
                let url = wire.at(&format!("manifests/{wanted}"))?;
                let accept = [names::MANIFEST, names::INDEX].join(", ");
                let make = |client: &reqwest::Client| client.get(url.clone()).header(ACCEPT, &accept);
                let response = wire.send(Action::Pull, make).await?;
                match response.status() {
                    StatusCode::OK => {}
                    StatusCode::NOT_FOUND => return Ok(None),
                    _ => return Err(Trouble::of_status(&wire.host, response).await),
                }
                let announced = announced(&response);
                let announced_bytes = response.content_length();
                let bytes = bounded(response, MANIFEST_BYTES_MAX as usize).await;
                let bytes = bytes.map_err(|unread| unread_manifest(wire, &unread, wanted, announced_bytes))?;
                let found = Digest::of(&bytes);
                let refuse =
                    |reason: String| Trouble::from(Fault::Tampered { digest: digest.unwrap_or(found), reason });
                if digest.is_some_and(|digest| digest != found) {
                    return Err(refuse(format!("the registry sent a manifest with the digest `{found}`")));
                }
                match announced {
                    Some(announced) if announced != found.to_string() => {
                        Err(refuse(format!("the registry announced the digest `{announced}`, and sent `{found}`")))
                    }
                    _ => Ok(Some(bytes)),
                }
            })
            .await
    }

    async fn fetch_blob(&self, wire: &Wire, descriptor: &Descriptor, change: &Change<'_>) -> Result<Staged, Fault> {
        let staged = self
            .settings
            .patience
            .persist(async || {
                let url = wire.at(&format!("blobs/{}", descriptor.digest))?;
                let response = wire.send(Action::Pull, |client| client.get(url.clone())).await?;
                match response.status() {
                    StatusCode::OK => {}
                    StatusCode::NOT_FOUND => {
                        let what = format!("has no blob `{}`, which the manifest names", descriptor.digest);
                        return Err(Trouble::odd(&wire.host, what));
                    }
                    _ => return Err(Trouble::of_status(&wire.host, response).await),
                }
                self.settings.watch.begins(short_name(descriptor), descriptor.size);
                self.receive(wire, response, descriptor, change).await
            })
            .await?;
        self.settings.watch.ends();
        Ok(staged)
    }

    /// Writes a body as it comes. It is given up with the first byte too many.
    async fn receive(
        &self,
        wire: &Wire,
        mut response: Response,
        descriptor: &Descriptor,
        change: &Change<'_>,
    ) -> Result<Staged, Trouble> {
        let digest = descriptor.digest;
        let refuse = |reason: String| Trouble::from(Fault::Tampered { digest, reason });
        if let Some(announced) = announced(&response).filter(|announced| *announced != digest.to_string()) {
            return Err(refuse(format!("the registry announced the digest `{announced}`")));
        }
        let mut writer = change.writer()?;
        loop {
            let chunk = match chunk(&mut response).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(writer.finish_as(descriptor)?),
                Err(Unread::Silent) => {
                    let trouble = Trouble::silent(&wire.host);
                    // It was on its way, and may be the next time.
                    return Err(if writer.size() > 0 { trouble.passing() } else { trouble });
                }
                Err(Unread::Broken(_) | Unread::TooLong) => {
                    let reason = format!("the connection ended after {} of {} bytes", writer.size(), descriptor.size);
                    return Err(refuse(reason).passing());
                }
            };
            if writer.size() + chunk.len() as u64 > descriptor.size {
                return Err(refuse(format!("the registry sent more than its {} bytes", descriptor.size)));
            }
            let written = writer.write_all(&chunk);
            written.map_err(|cause| Fault::Machine { doing: "writing a blob".to_owned(), cause })?;
            self.settings.watch.moved(chunk.len() as u64);
        }
    }
}

/// Before anything is fetched: what is promised here is held while it is fetched.
fn insist_on_size(manifest: &Manifest, digest: Digest, bytes_max: u64) -> Result<(), Fault> {
    let total = manifest.blobs().try_fold(0u64, |total, blob| total.checked_add(blob.size));
    if total.is_some_and(|total| total <= bytes_max) {
        return Ok(());
    }
    let total = total.map_or_else(|| "countless".to_owned(), |total| total.to_string());
    let reason = format!("it has {total} bytes, and `artifact_bytes` allows {bytes_max}");
    Err(Fault::BadManifest { digest, reason })
}

fn announced(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_DIGEST)?;
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// What came is not what was announced, or cannot be a manifest: a fault of the bytes, as it would be of a blob's.
fn unread_manifest(wire: &Wire, unread: &Unread, wanted: &str, bytes: Option<u64>) -> Trouble {
    let refuse = |reason: String, hint: &str| {
        let report = Report::error("B008", format!("the manifest of `{wanted}` is refused: {reason}"));
        Trouble::from(Fault::new(Exit::Integrity, report.hint(hint)))
    };
    match unread {
        Unread::TooLong => refuse(
            format!("the registry sent a manifest of more than {MANIFEST_BYTES_MAX} bytes"),
            "ask whoever published it",
        ),
        Unread::Silent => Trouble::silent(&wire.host),
        Unread::Broken(_) => {
            let expected = bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
            let reason = format!("the connection ended before the end{expected}");
            refuse(reason, "it was cut short; try again, or ask whoever runs the registry").passing()
        }
    }
}

/// What people see of a blob while it moves: `knowledge` of `application/vnd.stax.knowledge.v1.tar+gzip`.
pub(super) fn short_name(descriptor: &Descriptor) -> &str {
    let name = descriptor.media_type.rsplit_once("vnd.").map_or(descriptor.media_type.as_str(), |(_, name)| name);
    let name = name.strip_prefix("stax.").unwrap_or(name);
    name.split_once(".v1").map_or(name, |(name, _)| name)
}
