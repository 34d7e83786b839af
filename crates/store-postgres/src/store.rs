//! The store itself: every method is one statement.

use crate::settings::Options;
use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, FileRow, Lease, NewLine, Page,
    QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent, ThreadFilter, ThreadRow,
};

/// Threads in a PostgreSQL database that any number of processes use.
#[derive(Debug)]
pub struct PostgresStore {
    options: Options,
}

impl PostgresStore {
    /// Opens the store at this address, and makes or migrates its tables.
    pub async fn open(_url: &str, options: Options) -> Result<Self, StoreError> {
        Ok(Self { options })
    }

    fn missing(&self) -> StoreError {
        StoreError::Unavailable(format!("not yet: {:?}", self.options))
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn register(&self, _node: NodeId) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn heartbeat(&self, _node: NodeId) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        Err(self.missing().into())
    }

    async fn create(&self, _thread: NewThread, _claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        Err(self.missing().into())
    }

    async fn create_once(
        &self,
        _thread: NewThread,
        _key: RootKey,
        _claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        Err(self.missing().into())
    }

    async fn enqueue(&self, _to: ThreadId, _line: NewLine, _claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        Err(self.missing().into())
    }

    async fn claim(&self, _node: NodeId, max: usize, _root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        Err(self.missing().into())
    }

    async fn commit(&self, _lease: Lease, _commit: Commit) -> Result<Committed, CommitError> {
        Err(self.missing().into())
    }

    async fn release(&self, _lease: Lease) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn lines(&self, _thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
        Err(self.missing().into())
    }

    async fn journal(&self, _thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        Err(self.missing().into())
    }

    async fn tree_journal(&self, _root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        Err(self.missing().into())
    }

    async fn thread(&self, _id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn threads(&self, _filter: &ThreadFilter, _page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn delete(&self, _id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
        Err(self.missing().into())
    }

    async fn run(&self, _id: &RunId) -> Result<Option<RunRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn runs(&self, _filter: &RunFilter, _page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn request_cancel(&self, _id: &RunId) -> Result<Option<RunRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn mark_delivered(&self, _id: &RunId) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn put_blob(&self, _digest: Digest, _bytes: &[u8]) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn blob(&self, _digest: Digest) -> Result<Option<Blob>, StoreError> {
        Err(self.missing().into())
    }

    async fn put_file(&self, _thread: ThreadId, _file: FileRow) -> Result<(), StoreError> {
        Err(self.missing().into())
    }

    async fn files(&self, _thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        Err(self.missing().into())
    }

    async fn delete_file(&self, _thread: ThreadId, _path: &str) -> Result<bool, StoreError> {
        Err(self.missing().into())
    }

    async fn dead_letters(&self, _thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
        Err(self.missing().into())
    }

    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        Err(self.missing().into())
    }

    async fn close(&self) {
        // nothing is open yet
    }
}
