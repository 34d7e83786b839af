//! The one trait through which threads are made durable.

use crate::copy::{Export, Import};
use crate::row::{
    Blob, Claim, Commit, Committed, DeadLetter, Enqueued, FileRow, Hint, Lease, NewLine, Page, QueueLine, RootKey,
    RootMade, RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow,
};
use async_trait::async_trait;
use entourage_model::{Digest, NewThread, NodeId, Report, RunId, ThreadId, Timestamp};
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::broadcast;

/// How long a node lives from one heartbeat to the next, unless its store says otherwise.
pub const NODE_LIFE: Duration = Duration::from_secs(15);

/// A store that cannot serve, for a reason that is nobody's fault in particular.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("another process uses it")]
    Locked,
    #[error("it was written by a newer version (schema {found}, this program knows {known})")]
    Newer { found: u32, known: u32 },
    #[error("it is damaged: {0}")]
    Corrupt(String),
    #[error("the disk is full")]
    Full,
    #[error("this node was declared dead")]
    NodeDead,
    /// This program does not want to use it as it is; the report says what to change.
    #[error("{}", .0.what)]
    Refused(Box<Report>),
    #[error("{0}")]
    Unavailable(String),
}

impl StoreError {
    /// What it says cannot be read, and never will be by this program.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Newer { .. } | Self::Corrupt(_) => true,
            Self::Locked | Self::Full | Self::NodeDead | Self::Refused(_) | Self::Unavailable(_) => false,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Somebody else holds a greater epoch. Nothing was written; drop what is in memory.
    #[error("the lease is lost")]
    Fenced,
    /// The tree has no room for the spawned threads. Nothing was written.
    #[error("only {left} more threads fit into the tree")]
    TreeFull { left: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    #[error("no such thread")]
    NoThread,
    #[error("the thread is terminated")]
    Terminated,
    #[error("the queue is full")]
    QueueFull,
    #[error("the key was used with another message")]
    Conflict,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Durable threads. Every method is atomic; what has returned `Ok` survives the process, at any instant.
///
/// Times are the store's own clock: the clocks of nodes are never compared.
///
/// Dropping a future does not take back what it asked for. A claim in an answer that nobody waited for is held by a
/// node that does not know it, until that node dies: ask for claims where nothing cancels the asking.
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    /// Announces a process. Its id must never have been used before.
    async fn register(&self, node: NodeId) -> Result<(), StoreError>;

    /// Says that the node lives. `NodeDead` means that others have taken its threads: drop everything.
    async fn heartbeat(&self, node: NodeId) -> Result<(), StoreError>;

    /// Makes the threads of dead nodes, and of nodes that were never registered, `ready` again; returns how many.
    /// Repeating it changes nothing.
    async fn sweep(&self) -> Result<usize, StoreError>;

    /// Makes a root thread: held by `claim` at once, or else `ready` if it has something to do, or `idle`. A blob for
    /// its bundle must exist. A thread that exists already is `Unavailable`, and nothing is written.
    async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Result<Option<Claim>, StoreError>;

    /// The same, once for each key: whoever repeats a request is told what its first call made. A key goes with its
    /// thread.
    async fn create_once(&self, thread: NewThread, key: RootKey, claim: Option<NodeId>)
    -> Result<RootMade, StoreError>;

    /// What `create_once` would say of a key that was used before. Nothing: it is free.
    async fn made_once(&self, key: &RootKey) -> Result<Option<RootMade>, StoreError>;

    /// Queues a line. With `claim`, a parked thread is taken up for that node in the same transaction. A key that was
    /// used before is answered first, whatever has become of the thread since.
    async fn enqueue(&self, to: ThreadId, line: NewLine, claim: Option<NodeId>) -> Result<Enqueued, EnqueueError>;

    /// Takes up at most `max` threads that are `ready` or whose time has come, longest waiting first.
    /// Attempts are counted here, before anything runs; a thread that was tried in vain more than once is taken up
    /// alone ([`leave_one_suspect`](crate::leave_one_suspect)). A node that is not registered, or dead, gets `NodeDead`.
    /// With `root`, only threads of that tree.
    async fn claim(&self, node: NodeId, max: usize, root: Option<ThreadId>) -> Result<Vec<Claim>, StoreError>;

    /// Appends a decision. Only the holder of the newest epoch can; an unknown outcome is read back inside.
    async fn commit(&self, lease: Lease, commit: Commit) -> Result<Committed, CommitError>;

    /// Gives a thread back untouched, `ready` for anybody; the attempt does not count. A lost lease is a no-op.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// The queue behind line `after`, in order.
    async fn lines(&self, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError>;

    /// A thread's events behind `after`, in order, at most `limit`.
    async fn journal(&self, thread: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError>;

    /// The events of all threads of a tree behind position `after`, in order of position.
    async fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError>;

    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, StoreError>;

    /// Newest first, by id.
    async fn threads(&self, filter: &ThreadFilter, page: Page<ThreadId>) -> Result<Vec<ThreadRow>, StoreError>;

    /// Removes a thread with everything below it; returns the removed ids. A missing one is a no-op.
    async fn delete(&self, id: ThreadId) -> Result<Vec<ThreadId>, StoreError>;

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError>;

    /// Newest first, by the time they were made, then by id. Nothing lies behind a run that does not exist.
    async fn runs(&self, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, StoreError>;

    /// Notes that a run is to be cancelled. The caller then queues the cancel; an ended or missing run is a no-op.
    async fn request_cancel(&self, id: &RunId) -> Result<Option<RunRow>, StoreError>;

    /// Notes that somebody outside has read a run's result. Only the first time counts.
    async fn mark_delivered(&self, id: &RunId) -> Result<(), StoreError>;

    /// Keeps bytes under their digest. Repeating it changes nothing.
    async fn put_blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError>;

    async fn blob(&self, digest: Digest) -> Result<Option<Blob>, StoreError>;

    /// Points a path of a thread's file system at a blob. A missing thread or blob is `Unavailable`.
    async fn put_file(&self, thread: ThreadId, file: FileRow) -> Result<(), StoreError>;

    async fn files(&self, thread: ThreadId) -> Result<Vec<FileRow>, StoreError>;

    /// Returns whether there was such a file.
    async fn delete_file(&self, thread: ThreadId, path: &str) -> Result<bool, StoreError>;

    /// In the order of their burial.
    async fn dead_letters(&self, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError>;

    /// The store's own clock.
    fn now(&self) -> Timestamp;

    /// Whether other processes may change it at the same time. What they do is then found by polling; `hints`,
    /// `waiting` and `heads` make that quick.
    fn is_shared(&self) -> bool {
        false
    }

    /// How long a node lives from one heartbeat to the next.
    fn node_life(&self) -> Duration {
        NODE_LIFE
    }

    /// What other processes did, from now on, soon after it is durable. Any hint may be lost or come twice: polling is
    /// the truth. None where one process sees all, or where the store was opened without hints.
    fn hints(&self) -> Option<broadcast::Receiver<Hint>> {
        None
    }

    /// The threads that this node holds and in whose queue something waits, each with its greatest line number.
    /// Empty where one process sees all.
    async fn waiting(&self, node: NodeId) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        let _ = node;
        Ok(Vec::new())
    }

    /// The position of the last event of each of these trees; one without events is left out. Empty where one process
    /// sees all.
    async fn heads(&self, roots: &[ThreadId]) -> Result<Vec<(ThreadId, u64)>, StoreError> {
        let _ = roots;
        Ok(Vec::new())
    }

    /// Everything that this node holds, by the store's word: what it does not work on itself, it has to release.
    /// Empty where one process sees all.
    async fn held(&self, node: NodeId) -> Result<Vec<Lease>, StoreError> {
        let _ = node;
        Ok(Vec::new())
    }

    /// Says that a process ends well. What it still holds is `ready` for anybody, and the attempts do not count.
    /// Repeating it changes nothing; where one process sees all, it does nothing.
    async fn retire(&self, node: NodeId) -> Result<(), StoreError> {
        let _ = node;
        Ok(())
    }

    /// Keeps the first value that was ever given for this name, and returns it. Where one process sees all, nothing
    /// is kept: the value is its own.
    async fn remember(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let _ = name;
        Ok(value.to_owned())
    }

    /// Everything that it holds, as of one moment.
    async fn export(&self) -> Result<Box<dyn Export>, StoreError> {
        Err(StoreError::Unavailable("a store of this kind cannot be copied".to_owned()))
    }

    /// Takes in everything of another store; refuses if it holds something already. Open it anew afterwards.
    async fn import(&self) -> Result<Box<dyn Import>, StoreError> {
        Err(StoreError::Unavailable("nothing can be copied into a store of this kind".to_owned()))
    }

    /// Looks for damage, beyond what every read checks.
    async fn check(&self) -> Result<Vec<Report>, StoreError>;

    /// Flushes and lets go of files and locks. Calls after it fail.
    async fn close(&self);
}
