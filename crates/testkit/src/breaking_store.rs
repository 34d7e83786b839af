//! A store that breaks on request: everything goes to the store behind it, until somebody asks for a fault.

use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use entourage_store::{
    Blob, Claim, Commit, CommitError, Committed, DeadLetter, EnqueueError, Enqueued, Export, FileRow, Hint, Import,
    Lease, NewLine, Page, QueueLine, RootKey, RootMade, RunFilter, RunRow, Store, StoreError, StoredEvent,
    ThreadFilter, ThreadRow,
};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast};

/// What happens to a commit. A store never leaves open whether it has written, so neither does this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written and the disk is said to be full.
    Full,
    /// Nothing is written and the thread is said to be damaged.
    Corrupt,
    /// Nothing is written and somebody else is said to hold the thread.
    Fenced,
    /// Nothing is written and the caller's task breaks.
    Panic,
    /// It is written as soon as somebody lets it.
    Late,
}

/// What is done whenever a commit is refused because somebody else holds the thread.
type Fenced = Box<dyn Fn() + Send + Sync>;

pub struct BreakingStore {
    behind: Arc<dyn Store>,
    /// What nodes are told of their life, in place of the truth.
    life: Option<Duration>,
    fenced: Option<Fenced>,
    /// Lives as long as the store.
    kept: Option<Box<dyn Any + Send + Sync>>,
    /// One for each of the next commits.
    faults: Mutex<VecDeque<Option<Fault>>>,
    /// No word of a node reaches the store.
    is_mute: AtomicBool,
    /// Rung by a late commit that waits.
    waits: Notify,
    /// Rung to let a late commit go on.
    goes_on: Notify,
}

impl BreakingStore {
    pub fn new(behind: Arc<dyn Store>) -> Self {
        let (life, fenced, kept) = (None, None, None);
        let (waits, goes_on) = (Notify::new(), Notify::new());
        let is_mute = AtomicBool::new(false);
        Self { behind, life, fenced, kept, faults: Mutex::default(), is_mute, waits, goes_on }
    }

    /// Lets nodes believe that they live so long without a heartbeat, which makes them zombies.
    pub fn with_life(self, life: Duration) -> Self {
        Self { life: Some(life), ..self }
    }

    /// Tells of every commit that is refused because somebody else holds the thread.
    pub fn on_fenced(self, told: impl Fn() + Send + Sync + 'static) -> Self {
        Self { fenced: Some(Box::new(told)), ..self }
    }

    /// Keeps something that the store stands on, until it goes.
    pub fn keeping(self, kept: impl Any + Send + Sync) -> Self {
        Self { kept: Some(Box::new(kept)), ..self }
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

    /// Keeps every word of a node from the store that it is there, or lets it through again.
    pub fn mute(&self, is_mute: bool) {
        self.is_mute.store(is_mute, Ordering::Release);
    }

    fn hears(&self) -> Result<(), StoreError> {
        let mute = || StoreError::Unavailable("nobody hears this node".to_owned());
        if self.is_mute.load(Ordering::Acquire) { Err(mute()) } else { Ok(()) }
    }

    fn next_fault(&self) -> Option<Fault> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front().flatten()
    }
}

impl fmt::Debug for BreakingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakingStore")
            .field("behind", &self.behind)
            .field("kept", &self.kept.is_some())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for BreakingStore {
    #[expect(clippy::panic, reason = "that is what was asked for")]
    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError> {
        match self.next_fault() {
            None => {
                let committed = self.behind.commit(lease, commit).await;
                if let (Err(CommitError::Fenced), Some(told)) = (&committed, &self.fenced) {
                    told();
                }
                committed
            }
            Some(Fault::Full) => Err(StoreError::Full.into()),
            Some(Fault::Corrupt) => Err(StoreError::Corrupt("it was torn".to_owned()).into()),
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
        self.hears()?;
        self.behind.register(node).await
    }

    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError> {
        self.hears()?;
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

    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError> {
        self.behind.made_once(key).await
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

    fn is_shared(&self) -> bool {
        self.behind.is_shared()
    }

    fn node_life(&self) -> Duration {
        self.life.unwrap_or_else(|| self.behind.node_life())
    }

    fn hints(&self) -> Option<broadcast::Receiver<Hint>> {
        self.behind.hints()
    }

    async fn waiting(&self, node: NodeId) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        self.behind.waiting(node).await
    }

    async fn heads(&self, roots: &[ThreadId]) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        self.behind.heads(roots).await
    }

    async fn held(&self, node: NodeId) -> Result<Vec<Lease>, StoreError> {
        self.behind.held(node).await
    }

    async fn retire(&self, node: NodeId) -> Result<(), StoreError> {
        self.behind.retire(node).await
    }

    async fn remember(&self, name: &str, value: &str) -> Result<String, StoreError> {
        self.behind.remember(name, value).await
    }

    async fn export(&self) -> Result<Box<dyn Export>, StoreError> {
        self.behind.export().await
    }

    async fn import(&self) -> Result<Box<dyn Import>, StoreError> {
        self.behind.import().await
    }

    async fn check(&self) -> Result<Vec<Report>, StoreError> {
        self.behind.check().await
    }

    async fn close(&self) {
        self.behind.close().await;
    }
}
