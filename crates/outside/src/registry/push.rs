//! Sending: every blob that the registry does not have, then the manifest that names them.

use super::Registry;
use super::fetch::CONTENT_DIGEST;
use super::trouble::Trouble;
use super::wire::{Action, Wire};
use bytes::Bytes;
use entourage_bundle::{Blobs, Descriptor, Exit, Fault, MANIFEST_BYTES_MAX, Manifest, Reference, names};
use entourage_model::{Digest, Report};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use std::collections::BTreeMap;
use std::fmt;

/// What is sent from, and what the registry may have already.
#[derive(Clone, Copy)]
pub struct Freight<'a> {
    pub blobs: &'a dyn Blobs,
    /// Blobs that another repository of the same registry may hold, and which.
    pub elsewhere: &'a BTreeMap<Digest, String>,
}

impl fmt::Debug for Freight<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Freight").field("elsewhere", self.elsewhere).finish_non_exhaustive()
    }
}

impl Registry {
    /// Sends the artifact under the reference's tag. What is not as its descriptors say is noticed before the first
    /// byte leaves.
    pub async fn push(&self, freight: Freight<'_>, artifact: &Descriptor, reference: &Reference) -> Result<(), Fault> {
        if let Some(digest) = reference.digest.filter(|digest| *digest != artifact.digest) {
            let what = format!("`{reference}` asks for the digest `{digest}`, and this is `{}`", artifact.digest);
            let report = Report::error("B045", what).hint("leave the digest away, or push what has it");
            return Err(Fault::new(Exit::Usage, report));
        }
        let wire = self.wire(reference)?;
        let wanted = reference.tag.clone().unwrap_or_else(|| reference.wanted());
        self.push_manifest(&wire, freight, artifact, &wanted).await.map(drop)
    }

    /// Sends a manifest and its blobs; the answer's headers say what the registry makes of it.
    pub(super) async fn push_manifest(
        &self,
        wire: &Wire,
        freight: Freight<'_>,
        artifact: &Descriptor,
        wanted: &str,
    ) -> Result<HeaderMap, Fault> {
        let bytes = freight.blobs.read(artifact, MANIFEST_BYTES_MAX)?;
        let manifest = Manifest::parse(&bytes, artifact.digest)?;
        for blob in manifest.blobs() {
            freight.blobs.open(blob)?.finish()?;
        }
        for blob in manifest.blobs() {
            self.push_blob(wire, freight, blob).await?;
        }
        let headers = self.put_manifest(wire, wanted, names::MANIFEST, Bytes::from(bytes)).await?;
        match headers.get(CONTENT_DIGEST).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()) {
            Some(stored) if stored != artifact.digest.to_string() => {
                let reason = format!("the registry says that it stored `{stored}`");
                Err(Fault::Tampered { digest: artifact.digest, reason })
            }
            _ => Ok(headers),
        }
    }

    pub(super) async fn put_manifest(
        &self,
        wire: &Wire,
        wanted: &str,
        media_type: &str,
        bytes: Bytes,
    ) -> Result<HeaderMap, Fault> {
        self.settings
            .patience
            .persist(async || {
                let url = wire.at(&format!("manifests/{wanted}"))?;
                let make = |client: &reqwest::Client| {
                    client.put(url.clone()).header(CONTENT_TYPE, media_type).body(bytes.clone())
                };
                let response = wire.send(Action::Push, make).await?;
                match response.status() {
                    StatusCode::CREATED | StatusCode::OK | StatusCode::ACCEPTED => Ok(response.headers().clone()),
                    _ => Err(Trouble::of_status(&wire.host, response).await),
                }
            })
            .await
    }
}
