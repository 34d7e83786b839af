//! What names a blob: media type, digest and size.

use crate::media;
use entourage_model::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub type Annotations = BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub media_type: String,
    pub digest: Digest,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Of the manifest that an index names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
}

impl Descriptor {
    /// Of bytes that are at hand.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::of(bytes), bytes.len() as u64)
    }

    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self { media_type: media_type.to_owned(), digest, size, annotations: Annotations::new(), artifact_type: None }
    }

    /// OCI's stand-in for no content: the blob `{}`.
    pub fn empty() -> Self {
        Self::of(media::EMPTY, EMPTY_BLOB)
    }
}

pub const EMPTY_BLOB: &[u8] = b"{}";
