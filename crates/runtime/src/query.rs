//! Looking at threads, runs and files from outside. Nothing here changes how a thread goes on.

use crate::dex;
use crate::mirror::Hidden;
use crate::runtime::{Runtime, RuntimeError};
use entourage_model::{Digest, Ids, RunId, Team, ThreadId, Timestamp};
use entourage_store::{FileRow, Page, RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow};
use std::sync::Arc;

/// Runs that are read at once.
const PAGE: usize = 200;

impl Runtime {
    /// A name that nobody else has.
    pub fn fresh_id(&self) -> String {
        Ids::new(self.inner.store.now(), fastrand::u64(..)).message().to_string()
    }

    /// The moment, by the clock that everything here is stamped with.
    pub fn now(&self) -> Timestamp {
        self.inner.store.now()
    }

    pub async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, RuntimeError> {
        Ok(self.inner.store.thread(id).await?)
    }

    /// Newest first.
    pub async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, RuntimeError> {
        Ok(self.inner.store.threads(filter, page).await?)
    }

    /// Whether a root can start no child any more, however long one waits: its tree has had all that it may have, and
    /// nobody in it is at work.
    pub async fn is_used_up(&self, root: ThreadId) -> Result<bool, RuntimeError> {
        let tree = ThreadFilter { root: Some(root), ..ThreadFilter::default() };
        let below = usize::try_from(self.inner.limits.children_total).unwrap_or(usize::MAX);
        let threads = self.threads(&tree, Page { after: None, limit: below.saturating_add(1) }).await?;
        let is_at_work = |row: &ThreadRow| row.id != root && !row.status.is_settled();
        Ok(threads.len() > below && !threads.iter().any(is_at_work))
    }

    pub async fn run(&self, id: &RunId) -> Result<Option<RunRow>, RuntimeError> {
        Ok(self.inner.store.run(id).await?)
    }

    /// Newest first.
    pub async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, RuntimeError> {
        Ok(self.inner.store.runs(filter, page).await?)
    }

    /// Notes that somebody outside has read the run's result.
    pub async fn mark_delivered(&self, id: &RunId) -> Result<(), RuntimeError> {
        Ok(self.inner.store.mark_delivered(id).await?)
    }

    /// A thread's events behind `after`, in order, at most `limit`.
    pub async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, RuntimeError> {
        Ok(self.inner.store.journal(thread, after, limit).await?)
    }

    /// The events of a whole tree behind position `after`, in order.
    pub async fn tree_journal(
        &self,
        root: ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, RuntimeError> {
        Ok(self.inner.store.tree_journal(root, after, limit).await?)
    }

    /// The team that a thread was started from.
    pub async fn team(&self, bundle: Digest) -> Result<Arc<Team>, RuntimeError> {
        self.inner.teams.load(bundle).await
    }

    pub async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, RuntimeError> {
        Ok(self.inner.store.files(thread).await?)
    }

    /// The bytes of a thread's file. Absent: there is no such file.
    pub async fn file(&self, thread: ThreadId, path: &str) -> Result<Option<(FileRow, Vec<u8>)>, RuntimeError> {
        let Some(row) = self.files(thread).await?.into_iter().find(|row| row.path == path) else { return Ok(None) };
        let bytes = self.inner.store.blob(row.digest).await?;
        Ok(bytes.map(|bytes| (row, bytes)))
    }

    /// Writes a file of a thread, in place of one that is there.
    pub async fn put_file(
        &self,
        thread: ThreadId,
        path: String,
        mime_type: String,
        bytes: &[u8],
    ) -> Result<FileRow, RuntimeError> {
        let created_at = self.inner.store.now();
        let row = FileRow { path, digest: Digest::of(bytes), size: bytes.len() as u64, mime_type, created_at };
        self.inner.store.put_blob(row.digest, bytes).await?;
        self.inner.store.put_file(thread, row.clone()).await?;
        Ok(row)
    }

    /// Returns whether there was such a file.
    pub async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, RuntimeError> {
        Ok(self.inner.store.delete_file(thread, path).await?)
    }

    /// Ends a thread with everything below it, and removes all that is known of them.
    pub async fn delete(&self, thread: ThreadId) -> Result<Vec<ThreadId>, RuntimeError> {
        let ended = match self.terminate(thread).await {
            Ok(()) => self.until_all_rest(thread).await,
            Err(error) => Err(error),
        };
        match ended {
            // What cannot be read cannot be ended in order, but it can be removed.
            Err(error) if error.damage().is_some() => tracing::warn!(%thread, %error, "a damaged thread is removed"),
            ended => ended?,
        }
        let shown = self.shown(thread).await?;
        let deleted = self.inner.store.delete(thread).await?;
        self.inner.roster.forget(&deleted);
        self.inner.hide(shown).await;
        Ok(deleted)
    }

    /// What of a thread, and of those below it, is shown on disk.
    async fn shown(&self, thread: ThreadId) -> Result<Hidden, RuntimeError> {
        let (mut parents, mut shown) = (vec![thread], Hidden::default());
        while let Some(parent) = parents.pop() {
            match self.inner.fold(parent).await {
                Err(error) if error.damage().is_some() => {}
                folded => folded?.iter().for_each(|state| shown.add(state)),
            }
            let filter = RunFilter { parent: Some(parent), ..RunFilter::default() };
            let mut after = None;
            loop {
                let page = self.inner.store.runs(&filter, Page { after, limit: PAGE }).await?;
                parents.extend(page.iter().map(|row| row.thread));
                after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id.clone());
                shown.runs.extend(page.into_iter().map(|row| row.id).filter(dex::is_dex));
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(shown)
    }

    /// Done once the runtime was asked to end.
    pub async fn stopping(&self) {
        self.inner.stopping.cancelled().await;
    }
}
