//! The store that forgets: the reference model of what every store does, for tests and throw-away threads.

mod commit;
mod journal;
mod lease;
mod node;
mod queue;
mod run;
mod table;
mod thread;

use crate::clock::Clock;
use crate::row::{
    Blob, Claim, Commit, Committed, DeadLetter, Enqueued, FileRow, Lease, NewLine, Page, QueueLine, RootKey, RootMade,
    RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow,
};
use crate::store::{CommitError, EnqueueError, Store, StoreError};
use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use std::sync::{Mutex, MutexGuard, PoisonError};
use table::Tables;

/// Threads in plain maps behind one lock, which nobody holds across an `await`.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Clock,
    tables: Mutex<Tables>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::with_clock(Clock::system())
    }

    pub fn with_clock(clock: Clock) -> Self {
        Self { clock, tables: Mutex::default() }
    }

    fn tables(&self) -> Result<MutexGuard<'_, Tables>, StoreError> {
        // Tables are whole even after a panic: every change is checked before the first write.
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.closed { Err(StoreError::Unavailable("the store is closed".to_owned())) } else { Ok(tables) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn register(&self, node: NodeId) -> Result<(), StoreError> {
        self.tables()?.register(node, self.clock.now());
        Ok(())
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        self.tables()?.heartbeat(node, self.clock.now())
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        Ok(self.tables()?.sweep(self.clock.now()))
    }

    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        self.tables()?.create(thread, claim, self.clock.now())
    }

    async fn create_once(
        &self,
        thread: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        self.tables()?.create_once(thread, key, claim, self.clock.now())
    }

    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
        Ok(self.tables()?.made_once(key))
    }

    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        self.tables()?.enqueue(to, line, claim, self.clock.now())
    }

    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        self.tables()?.claim(node, max, root, self.clock.now())
    }

    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        self.tables()?.commit(lease, commit, self.clock.now())
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.tables()?.release(lease, self.clock.now());
        Ok(())
    }

    async fn lines(&self, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
        Ok(self.tables()?.lines(thread, after))
    }

    async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(self.tables()?.journal(thread, after, limit))
    }

    async fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(self.tables()?.tree_journal(root, after, limit))
    }

    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
        Ok(self.tables()?.threads.get(&id).map(|thread| thread.row.clone()))
    }

    async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError> {
        Ok(self.tables()?.list_threads(filter, page))
    }

    async fn delete(&self, id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
        Ok(self.tables()?.delete(id))
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.tables()?.runs.get(id).cloned())
    }

    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.tables()?.list_runs(filter, &page))
    }

    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.tables()?.request_cancel(id))
    }

    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError> {
        self.tables()?.mark_delivered(id, self.clock.now());
        Ok(())
    }

    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.tables()?.blobs.entry(digest).or_insert_with(|| bytes.to_vec());
        Ok(())
    }

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        Ok(self.tables()?.blobs.get(&digest).cloned())
    }

    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        self.tables()?.put_file(thread, file)
    }

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        let tables = self.tables()?;
        let files = tables.threads.get(&thread).map(|thread| thread.files.values().cloned().collect());
        Ok(files.unwrap_or_default())
    }

    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
        let mut tables = self.tables()?;
        Ok(tables.threads.get_mut(&thread).is_some_and(|thread| thread.files.remove(path).is_some()))
    }

    async fn dead_letters(&self, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
        let tables = self.tables()?;
        let asked = |letter: &&DeadLetter| thread.is_none_or(|thread| letter.thread == thread);
        Ok(tables.dead_letters.iter().filter(asked).cloned().collect())
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        self.tables().map(|_| Vec::new())
    }

    async fn close(&self) {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    }
}
