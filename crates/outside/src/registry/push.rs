//! Sending: every blob that the registry does not have, then the manifest that names them.

use super::Registry;
use super::fetch::{CONTENT_DIGEST, short_name};
use super::trouble::Trouble;
use super::watch::Watch;
use super::wire::{Action, Wire};
use bytes::Bytes;
use entourage_bundle::{BlobReader, Blobs, Descriptor, Exit, Fault, MANIFEST_BYTES_MAX, Manifest, Reference, names};
use entourage_model::Report;
use futures::Stream;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Body, Response, StatusCode, Url};
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

const PIECE_BYTES: usize = 128 << 10;

impl Registry {
    /// Sends the artifact under the reference's tag. What is not as its descriptors say is noticed before the first
    /// byte leaves.
    pub async fn push(&self, blobs: &dyn Blobs, artifact: &Descriptor, reference: &Reference) -> Result<(), Fault> {
        if let Some(digest) = reference.digest.filter(|digest| *digest != artifact.digest) {
            let what = format!("`{reference}` asks for the digest `{digest}`, and this is `{}`", artifact.digest);
            let report = Report::error("B045", what).hint("leave the digest away, or push what has it");
            return Err(Fault::new(Exit::Usage, report));
        }
        let wire = self.wire(reference)?;
        let wanted = reference.tag.clone().unwrap_or_else(|| reference.wanted());
        self.push_manifest(&wire, blobs, artifact, &wanted).await.map(drop)
    }

    /// Sends a manifest and its blobs; the answer's headers say what the registry makes of it.
    pub(super) async fn push_manifest(
        &self,
        wire: &Wire,
        blobs: &dyn Blobs,
        artifact: &Descriptor,
        wanted: &str,
    ) -> Result<HeaderMap, Fault> {
        let bytes = blobs.read(artifact, MANIFEST_BYTES_MAX)?;
        let manifest = Manifest::parse(&bytes, artifact.digest)?;
        for blob in manifest.blobs() {
            blobs.open(blob)?.finish()?;
        }
        for blob in manifest.blobs() {
            self.push_blob(wire, blobs, blob).await?;
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

    async fn push_blob(&self, wire: &Wire, blobs: &dyn Blobs, blob: &Descriptor) -> Result<(), Fault> {
        self.settings.watch.begins(short_name(blob), blob.size);
        self.settings
            .patience
            .persist(async || {
                if self.is_there(wire, blob).await? {
                    self.settings.watch.moved(blob.size);
                    return Ok(());
                }
                let place = self.begin_upload(wire, blob).await?;
                self.upload(wire, blobs, blob, place).await
            })
            .await?;
        self.settings.watch.ends();
        Ok(())
    }

    async fn is_there(&self, wire: &Wire, blob: &Descriptor) -> Result<bool, Trouble> {
        let url = wire.at(&format!("blobs/{}", blob.digest))?;
        let response = wire.send(Action::Push, |client| client.head(url.clone())).await?;
        match response.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(Trouble::of_status(&wire.host, response).await),
        }
    }

    /// Where the registry wants to have the blob.
    async fn begin_upload(&self, wire: &Wire, blob: &Descriptor) -> Result<Url, Trouble> {
        let url = wire.at("blobs/uploads/")?;
        let make = |client: &reqwest::Client| client.post(url.clone()).header(CONTENT_LENGTH, 0);
        let response = wire.send(Action::Push, make).await?;
        if response.status() != StatusCode::ACCEPTED {
            return Err(Trouble::of_status(&wire.host, response).await);
        }
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.ok_or_else(|| Trouble::odd(&wire.host, "takes an upload, and does not say where"))?;
        let mut place = wire.join(location)?;
        place.query_pairs_mut().append_pair("digest", &blob.digest.to_string());
        Ok(place)
    }

    async fn upload(&self, wire: &Wire, blobs: &dyn Blobs, blob: &Descriptor, place: Url) -> Result<(), Trouble> {
        // Opened once for each time that the request is made: the second follows when the registry asks who we are.
        let spoiled: Arc<Mutex<Option<Fault>>> = Arc::default();
        let make = |client: &reqwest::Client| {
            let request = client.put(place.clone()).header(CONTENT_TYPE, "application/octet-stream");
            match blobs.open(blob) {
                Ok(reader) => {
                    let pieces = pieces(reader, Arc::clone(&self.settings.watch), Arc::clone(&spoiled));
                    request.header(CONTENT_LENGTH, blob.size).body(Body::wrap_stream(pieces))
                }
                Err(fault) => {
                    spoil(&spoiled, fault);
                    request.body(Body::wrap_stream(futures::stream::iter([Err::<Bytes, _>(unsound())])))
                }
            }
        };
        let sent: Result<Response, Trouble> = wire.send(Action::Push, make).await;
        if let Some(fault) = spoiled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(fault.into());
        }
        let response = sent?;
        match response.status() {
            StatusCode::CREATED | StatusCode::NO_CONTENT | StatusCode::OK => Ok(()),
            _ => Err(Trouble::of_status(&wire.host, response).await),
        }
    }
}

/// The blob in pieces. What turns out not to be what it was ends the request before the registry has all of it.
fn pieces(
    reader: BlobReader,
    watch: Arc<dyn Watch>,
    spoiled: Arc<Mutex<Option<Fault>>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    futures::stream::try_unfold(Some(reader), move |reader| {
        let (watch, spoiled) = (Arc::clone(&watch), Arc::clone(&spoiled));
        async move {
            let Some(mut reader) = reader else { return Ok(None) };
            let mut piece = vec![0; PIECE_BYTES];
            let count = reader.read(&mut piece)?;
            if count > 0 {
                piece.truncate(count);
                watch.moved(count as u64);
                return Ok(Some((Bytes::from(piece), Some(reader))));
            }
            match reader.finish() {
                Ok(()) => Ok(None),
                Err(fault) => {
                    spoil(&spoiled, fault);
                    Err(unsound())
                }
            }
        }
    })
}

fn spoil(spoiled: &Mutex<Option<Fault>>, fault: Fault) {
    *spoiled.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
}

fn unsound() -> io::Error {
    io::Error::other("the blob is not what it was")
}
