//! Blobs as objects, each named by its digest, and what an object store's faults mean.

use super::Stage;
use crate::blob::BlobPlace;
use crate::refusal;
use async_trait::async_trait;
use entourage_model::Digest;
use entourage_store::{Blob, StoreError};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutPayload};
use std::error::Error as _;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

pub(super) struct Objects {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    /// The place as people read it.
    place: String,
    stage: Stage,
}

impl Objects {
    pub(super) fn new(objects: Arc<dyn ObjectStore>, prefix: &str, place: String, stage: Stage) -> Self {
        Self { objects, prefix: Path::from(prefix), place, stage }
    }

    /// All of them side by side. A folder for some of them would have to be made first, and whoever found it made could not
    /// know that its making is durable.
    fn path(&self, digest: Digest) -> Path {
        self.prefix.clone().join(digest.to_string().replace(':', "-").as_str())
    }

    fn fault(&self, error: &Error) -> StoreError {
        Fault::of(error).told(&self.place, self.stage)
    }
}

/// Without what an object store would print of itself.
impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.place)
    }
}

#[async_trait]
impl BlobPlace for Objects {
    /// Written again if it is there: that may be damaged, and whoever puts it is told that it is kept.
    async fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        let put = self.objects.put(&self.path(digest), PutPayload::from(bytes.to_vec())).await;
        put.map(drop).map_err(|error| self.fault(&error))
    }

    async fn get(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        let read = async { self.objects.get(&self.path(digest)).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error @ Error::NotFound { .. }) if told(&error) != Some("NoSuchBucket") => Ok(None),
            Err(error) => Err(self.fault(&error)),
        }
    }
}

/// Why a place cannot be used, in words that hold no credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    why: String,
    hint: &'static str,
    is_full: bool,
}

impl Fault {
    pub(super) fn of(error: &Error) -> Self {
        if let Some(error) = io_cause(error) {
            return Self::of_file(error);
        }
        let answer = answer(error);
        let (why, hint) = match error {
            _ if answer.contains("NoSuchBucket") => {
                ("there is no such bucket".to_owned(), "make the bucket, or name another one")
            }
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => (
                format!("the credentials are not let in ({answer})"),
                "look at `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; they need the right to read and write objects",
            ),
            _ if answer.contains("scheme is not allowed") => {
                ("the endpoint speaks no TLS".to_owned(), "`AWS_ALLOW_HTTP=true` says that you accept that")
            }
            _ => (
                answer,
                "look at `AWS_ENDPOINT_URL`, `AWS_REGION` and the credentials in the environment of this process",
            ),
        };
        Self { why, hint, is_full: false }
    }

    pub(super) fn of_file(error: &io::Error) -> Self {
        let hint = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => "make the folder, or mount what is shared there",
            ErrorKind::PermissionDenied => "give the user of this process the right to write there",
            ErrorKind::ReadOnlyFilesystem => "mount it so that it can be written to",
            _ => "look whether the folder is mounted and has room",
        };
        let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        Self { why: error.to_string(), hint, is_full }
    }

    pub(super) fn told(&self, place: &str, stage: Stage) -> StoreError {
        match stage {
            Stage::Opening => refusal::place(place, &self.why, self.hint),
            Stage::AtWork if self.is_full => StoreError::Full,
            Stage::AtWork => StoreError::Unavailable(format!("`{place}`: {}", self.why)),
        }
    }
}

/// The system's own word about a file.
fn io_cause(error: &Error) -> Option<&io::Error> {
    match error {
        Error::Generic { store, .. } if *store != "LocalFileSystem" => None,
        _ => causes(error).find_map(|cause| cause.downcast_ref()),
    }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// The deepest cause: those above repeat it with addresses. Of what a server says only its code is kept, because some
/// repeat the credentials that they were sent.
fn answer(error: &Error) -> String {
    let deepest = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
    let line = deepest.split('<').next().unwrap_or_default().trim().trim_end_matches(':').to_owned();
    match code(&deepest) {
        Some(code) => format!("{line}: {code}"),
        None => line,
    }
}

/// The code of a bucket's refusal, such as `NoSuchBucket`.
fn told(error: &Error) -> Option<&'static str> {
    let text = causes(error).last()?.to_string();
    ["NoSuchBucket", "NoSuchKey"].into_iter().find(|known| code(&text) == Some(known))
}

fn code(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("<Code>")?;
    rest.split_once("</Code>")
        .map(|(code, _)| code)
        .filter(|code| code.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
