//! A store that ends its process at one chosen point: before or after any change that somebody asks of it.
//!
//! What a process leaves behind is what its store holds, so that these points are all the points at which a death can
//! make a difference, but for what tools do outside: those report their own with [`Points::pass`].

use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, FileRow, Lease, NewLine, Page,
    QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent, ThreadFilter, ThreadRow,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the points that a process passes, and ends it at one of them.
#[derive(Debug, Default)]
pub struct Points {
    passed: AtomicUsize,
    /// Nothing is written out, nobody is told, nothing is dropped. Absent: the process lives.
    last: Option<usize>,
}

impl Points {
    pub fn until(last: Option<usize>) -> Arc<Self> {
        Arc::new(Self { passed: AtomicUsize::new(0), last })
    }

    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }

    /// Passes the next point, or does not.
    pub fn pass(&self) {
        let point = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if Some(point) == self.last {
            std::process::abort();
        }
    }

    /// Passes one point before and one after the work.
    async fn around<T>(&self, work: impl Future<Output = T>) -> T {
        self.pass();
        let done = work.await;
        self.pass();
        done
    }
}

/// Everything goes to the store behind it.
#[derive(Debug)]
pub struct DyingStore {
    behind: Arc<dyn Store>,
    points: Arc<Points>,
}

impl DyingStore {
    pub fn new(behind: Arc<dyn Store>, points: Arc<Points>) -> Self {
        Self { behind, points }
    }
}

#[async_trait]
impl Store for DyingStore {
    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        self.points.around(self.behind.commit(lease, commit)).await
    }

    async fn register(&self, node: NodeId) -> Result<(), StoreError> {
        self.points.around(self.behind.register(node)).await
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        self.behind.heartbeat(node).await
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        self.points.around(self.behind.sweep()).await
    }

    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError> {
        self.points.around(self.behind.create(thread, claim)).await
    }

    async fn create_once(
        &self,
        thread: NewThread,
        key: RootKey,
        claim: Option<NodeId>,
    ) -> Result<RootMade, StoreError> {
        self.points.around(self.behind.create_once(thread, key, claim)).await
    }

    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
        self.behind.made_once(key).await
    }

    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError> {
        self.points.around(self.behind.enqueue(to, line, claim)).await
    }

    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError> {
        // It is asked for again and again; what counts is that somebody now holds something.
        let claims = self.behind.claim(node, max, root).await;
        if claims.as_ref().is_ok_and(|claims| !claims.is_empty()) {
            self.points.pass();
        }
        claims
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.points.around(self.behind.release(lease)).await
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
        self.points.around(self.behind.delete(id)).await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.behind.run(id).await
    }

    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError> {
        self.behind.runs(filter, page).await
    }

    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.points.around(self.behind.request_cancel(id)).await
    }

    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError> {
        self.points.around(self.behind.mark_delivered(id)).await
    }

    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.points.around(self.behind.put_blob(digest, bytes)).await
    }

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError> {
        self.behind.blob(digest).await
    }

    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError> {
        self.points.around(self.behind.put_file(thread, file)).await
    }

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError> {
        self.behind.files(thread).await
    }

    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError> {
        self.points.around(self.behind.delete_file(thread, path)).await
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
