//! What is attached to an artifact in a registry, such as its signatures: by the referrers API, or by the tag that stands
//! in for it where a registry does not have that.

use super::Registry;
use super::push::Freight;
use super::trouble::{Trouble, Unread, bounded};
use super::wire::{Action, Wire};
use bytes::Bytes;
use entourage_bundle::{Change, Descriptor, Fault, Index, Manifest, Reference, names};
use entourage_model::Digest;
use reqwest::StatusCode;

const INDEX_BYTES_MAX: usize = 4 << 20;
/// More signatures than anybody looks at.
const REFERRERS_MAX: usize = 64;
/// How a registry says that it noticed what a manifest is attached to.
const SUBJECT: &str = "oci-subject";

impl Registry {
    /// Stages what is attached to `subject` in the repository of `reference` and is of this type. What does not hold
    /// what it promises is left out: whoever needs an attachment finds that it is missing.
    pub async fn fetch_attached(
        &self,
        reference: &Reference,
        subject: Digest,
        artifact_type: &str,
        change: &mut Change<'_>,
    ) -> Result<Vec<Descriptor>, Fault> {
        let wire = self.wire(reference)?;
        let mut found = Vec::new();
        for descriptor in self.attached(&wire, subject, artifact_type).await?.into_iter().take(REFERRERS_MAX) {
            match self.fetch_one(&wire, &descriptor, change).await {
                Ok(manifest) if manifest.subject.as_ref().is_some_and(|named| named.digest == subject) => {
                    found.push(descriptor);
                }
                Ok(_) => tracing::warn!(digest = %descriptor.digest, "a registry names something attached that is not"),
                Err(fault) => {
                    tracing::warn!(digest = %descriptor.digest, ?fault, "something attached cannot be fetched")
                }
            }
        }
        Ok(found)
    }

    /// Sends something that is attached to another artifact of the same repository.
    pub async fn push_attached(
        &self,
        freight: Freight<'_>,
        attached: &Descriptor,
        subject: Digest,
        reference: &Reference,
    ) -> Result<(), Fault> {
        let wire = self.wire(reference)?;
        let headers = self.push_manifest(&wire, freight, attached, &attached.digest.to_string()).await?;
        if headers.contains_key(SUBJECT) {
            return Ok(());
        }
        let mut index = self.tagged_index(&wire, subject).await?.unwrap_or_default();
        if index.of_digest(attached.digest).is_none() {
            index.manifests.push(attached.clone());
            let bytes = Bytes::from(index.to_bytes());
            self.put_manifest(&wire, &stand_in(subject), names::INDEX, bytes).await?;
        }
        Ok(())
    }

    async fn fetch_one(
        &self,
        wire: &Wire,
        descriptor: &Descriptor,
        change: &mut Change<'_>,
    ) -> Result<Manifest, Fault> {
        let digest = descriptor.digest;
        let bytes = self.try_manifest(wire, &digest.to_string(), Some(digest)).await?.ok_or(Fault::Absent(digest))?;
        let manifest = Manifest::parse(&bytes, digest)?;
        let total: u64 = manifest.blobs().fold(0, |total, blob| total.saturating_add(blob.size));
        if total > INDEX_BYTES_MAX as u64 {
            return Err(Fault::BadManifest { digest, reason: format!("what is attached has {total} bytes") });
        }
        self.fetch_blobs(wire, &manifest, change).await?;
        change.put(names::MANIFEST, &bytes)?;
        Ok(manifest)
    }

    async fn attached(&self, wire: &Wire, subject: Digest, artifact_type: &str) -> Result<Vec<Descriptor>, Fault> {
        let index = match self.listed(wire, subject).await? {
            Some(index) => Some(index),
            None => self.tagged_index(wire, subject).await?,
        };
        let manifests = index.map(|index| index.manifests).unwrap_or_default();
        let is_meant = |entry: &Descriptor| entry.artifact_type.as_deref() == Some(artifact_type);
        Ok(manifests.into_iter().filter(is_meant).collect())
    }

    /// By the API. Absent: the registry does not have it.
    async fn listed(&self, wire: &Wire, subject: Digest) -> Result<Option<Index>, Fault> {
        let bytes = self
            .settings
            .patience
            .persist(async || {
                let url = wire.at(&format!("referrers/{subject}"))?;
                let response = wire.send(Action::Pull, |client| client.get(url.clone())).await?;
                match response.status() {
                    StatusCode::OK => {}
                    // Some answer that they do not know the path, others that it is malformed or not allowed.
                    StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST | StatusCode::METHOD_NOT_ALLOWED => {
                        return Ok(None);
                    }
                    _ => return Err(Trouble::of_status(&wire.host, response).await),
                }
                let body = bounded(response, INDEX_BYTES_MAX).await.map_err(|unread| match unread {
                    Unread::TooLong => Trouble::odd(&wire.host, "lists attachments without end"),
                    Unread::Silent => Trouble::silent(&wire.host),
                    Unread::Broken(error) => Trouble::unreachable(&wire.host, &error),
                })?;
                Ok(Some(body))
            })
            .await?;
        // A page that answers 200 to everything is no list.
        Ok(bytes.and_then(|bytes| Index::parse(&bytes).ok()))
    }

    async fn tagged_index(&self, wire: &Wire, subject: Digest) -> Result<Option<Index>, Fault> {
        let bytes = self.try_manifest(wire, &stand_in(subject), None).await?;
        Ok(bytes.and_then(|bytes| Index::parse(&bytes).ok()))
    }
}

/// The tag that a list of attachments has: the digest, with a hyphen in place of the colon.
fn stand_in(subject: Digest) -> String {
    subject.to_string().replace(':', "-")
}
