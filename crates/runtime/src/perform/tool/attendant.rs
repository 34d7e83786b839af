//! What a thread does for one of its tools while that runs.

use super::Caller;
use crate::hub::Notice;
use crate::perform::Place;
use crate::runtime::Inner;
use async_trait::async_trait;
use entourage_model::{Act, CallId, Digest, FileRow, Team, file_path, mime_type};
use entourage_outside::tool::{Attendant, Stream};
use std::sync::{Arc, Mutex, PoisonError};

/// Where outputs are kept that were too long for the model.
const FOLDER: &str = "/outputs";
const NAME_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct ThreadAttendant {
    inner: Arc<Inner>,
    place: Place,
    team: Arc<Team>,
    call: CallId,
    /// What makes its files differ from those of every other call of the thread: providers give ids again.
    mark: String,
    /// Files become the thread's with the end of the call.
    kept: Mutex<Vec<FileRow>>,
}

impl ThreadAttendant {
    /// `key` is the call's own.
    pub(super) fn new(inner: Arc<Inner>, caller: &Caller, call: CallId, key: &str) -> Self {
        let mark = key.split('/').skip(1).collect::<Vec<_>>().join("-");
        Self { inner, place: caller.place, team: Arc::clone(&caller.team), call, mark, kept: Mutex::default() }
    }

    /// What the call did to its thread.
    pub(super) fn acts(&self) -> Vec<Act> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.drain(..).map(Act::PutFile).collect()
    }

    async fn put(&self, name: &str, bytes: &[u8]) -> Result<String, String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
        let name: String = name.chars().map(plain).take(NAME_CHARS_MAX).collect();
        let path = file_path(&format!("{FOLDER}/{}/{name}", self.mark)).map_err(|error| error.to_string())?;
        let digest = Digest::of(bytes);
        self.inner.store.put_blob(digest, bytes).await.map_err(|error| error.to_string())?;
        let file = FileRow {
            mime_type: mime_type(&path, bytes).to_owned(),
            path: path.clone(),
            digest,
            size: bytes.len() as u64,
            created_at: self.inner.store.now(),
        };
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        Ok(path)
    }
}

#[async_trait]
impl Attendant for ThreadAttendant {
    fn show(&self, stream: Stream, text: &str) {
        if self.inner.hub.is_watched() {
            let (thread, call) = (self.place.thread, self.call.clone());
            self.inner.hub.tell(self.place.root, Notice::Output { thread, call, stream, text: text.into() });
        }
    }

    async fn keep(&self, name: &str, bytes: Vec<u8>) -> Option<String> {
        let kept = self.put(name, &bytes).await;
        kept.inspect_err(|error| tracing::warn!(thread = %self.place.thread, %error, "an output was not kept")).ok()
    }

    async fn file(&self, path: &str) -> Option<Vec<u8>> {
        let path = file_path(path).ok()?;
        let files = self.inner.store.files(self.place.thread).await.ok()?;
        match files.into_iter().find(|file| file.path == path) {
            Some(file) => self.inner.store.blob(file.digest).await.ok()?,
            None => self.team.files.get(&path).map(|text| text.as_bytes().to_vec()),
        }
    }
}
