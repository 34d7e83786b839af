//! A store that breaks on request: everything goes to the store behind it, until somebody asks for a fault.

use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, FileRow, Lease, NewLine, Page,
    QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent, ThreadFilter, ThreadRow,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// What happens to a commit. A store never leaves open whether it has written, so neither does this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written and the disk is said to be full.
    Full,
    /// Nothing is written and somebody else is said to hold the thread.
    Fenced,
    /// Nothing is written and the caller's task breaks.
    Panic,
    /// It is written as soon as somebody lets it.
    Late,
}

#[derive(Debug)]
pub struct BreakingStore {
    behind: Arc<dyn Store>,
    /// One for each of the next commits.
    faults: Mutex<VecDeque<Option<Fault>>>,
    /// Rung by a late commit that waits.
    waits: Notify,
    /// Rung to let a late commit go on.
    goes_on: Notify,
}

impl BreakingStore {
    pub fn new(behind: Arc<dyn Store>) -> Self {
        Self { behind, faults: Mutex::default(), waits: Notify::new(), goes_on: Notify::new() }
    }

    /// Breaks the commit that comes after `good` good ones.
    pub fn break_commit(&self, good: usize, fault: Fault) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        *faults = std::iter::repeat_n(None, good).chain([Some(fault)]).collect();
    }

    /// Whether every fault that was asked for has happened.
    pub fn is_through(&self) -> bool {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Waits until a late commit waits.
    pub async fn until_late(&self) {
        self.waits.notified().await;
    }

    /// Lets the commit that is late go on.
    pub fn let_late_go_on(&self) {
        self.goes_on.notify_one();
    }

    fn next_fault(&self) -> Option<Fault> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front().flatten()
    }
}

#[async_trait]
impl Store for BreakingStore {
    #[expect(clippy::panic, reason = "that is what was asked for")]
    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        match self.next_fault() {
            None => self.behind.commit(lease, commit).await,
            Some(Fault::Full) => Err(StoreError::Full.into()),
            Some(Fault::Fenced) => Err(CommitError::Fenced),
            Some(Fault::Panic) => panic!("the store was asked to break"),
            Some(Fault::Late) => {
                self.waits.notify_one();
                self.goes_on.notified().await;
                self.behind.commit(lease, commit).await
            }
        }
    }

    async fn register(&self, node: NodeId) -> Result<(), StoreError> {
        self.behind.register(node).await
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        self.behind.heartbeat(node).await
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        self.behind.sweep().await
    }

    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        self.behind.create(thread, claim).await
    }

    async fn create_once(
        &self,
        thread: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        self.behind.create_once(thread, key, claim).await
    }

    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        self.behind.enqueue(to, line, claim).await
    }

    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        self.behind.claim(node, max, root).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.behind.release(lease).await
    }

    async fn lines(&self, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
        self.behind.lines(thread, after).await
    }

    async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.behind.journal(thread, after, limit).await
    }

    async fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.behind.tree_journal(root, after, limit).await
    }

    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
        self.behind.thread(id).await
    }

    async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError> {
        self.behind.threads(filter, page).await
    }

    async fn delete(&self, id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
        self.behind.delete(id).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.behind.run(id).await
    }

    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        self.behind.runs(filter, page).await
    }

    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.behind.request_cancel(id).await
    }

    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError> {
        self.behind.mark_delivered(id).await
    }

    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.behind.put_blob(digest, bytes).await
    }

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        self.behind.blob(digest).await
    }

    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        self.behind.put_file(thread, file).await
    }

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        self.behind.files(thread).await
    }

    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
        self.behind.delete_file(thread, path).await
    }

    async fn dead_letters(&self, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
        self.behind.dead_letters(thread).await
    }

    fn now(&self) -> Timestamp {
        self.behind.now()
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        self.behind.check().await
    }

    async fn close(&self) {
        self.behind.close().await;
    }
}
