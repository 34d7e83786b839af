//! The rows and requests that cross the `Store` trait.

pub use entourage_model::FileRow;
use entourage_model::{
    Digest, Ending, Event, Item, Name, NewRun, NodeId, RunId, RunStatus, ThreadId, ThreadStatus, Timestamp, Usage,
    Write,
};
use serde::{Deserialize, Serialize};

/// The right to change one thread. Worthless as soon as anybody holds a greater epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    pub thread: ThreadId,
    pub node: NodeId,
    pub epoch: u64,
}

/// A thread that this node has just taken up.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub lease: Lease,
    /// How often it was taken up since its last commit, this time included.
    pub attempts: u32,
    /// How many events its journal holds.
    pub seq: u64,
    pub root: ThreadId,
    pub bundle: Digest,
    /// Everything that waits in its queue, in order.
    pub lines: Vec<QueueLine>,
    /// The whole journal of a thread that was just made: nobody needs to read it back.
    pub journal: Option<Vec<Event>>,
}

/// One line of a thread's queue. Lines of one thread are numbered from 1 without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueLine {
    pub number: u64,
    pub item: Item,
}

/// A line to be queued from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct NewLine {
    pub item: Item,
    /// The same key with the same item gives the same line; with another item it is a conflict.
    pub key: Option<String>,
    /// Written with the line.
    pub run: Option<NewRun>,
    /// Refuses a message when as many wait already.
    pub messages_max: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Enqueued {
    pub number: u64,
    /// The line was there already, put by the same key; nothing changed.
    pub repeated: bool,
    /// What the key's first call queued, where this was a repetition.
    pub first: Option<Item>,
    /// The thread was parked and nobody had taken it up; it was claimed for the node that asked for that.
    pub claim: Option<Claim>,
    /// Who held the thread when the line came: there it works, and there it is to be told.
    pub holder: Option<NodeId>,
}

/// What makes a request for a root thread the same as an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootKey {
    pub name: String,
    /// Of all that was asked for.
    pub request: Digest,
}

/// What became of a request for a root thread that has a key.
#[derive(Clone, Debug, PartialEq)]
pub enum RootMade {
    /// The thread is new; it is held by the node that asked for that.
    New(Option<Claim>),
    /// The key's first call made this thread and this run. Nothing was written.
    Repeated { thread: ThreadId, run: Option<RunId> },
    /// The key was used for another request. Nothing was written.
    Conflict,
}

/// One decision made durable: all of it or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// How many events the journal holds before these; anything else is fenced.
    pub seq: u64,
    pub events: Vec<Event>,
    pub writes: Vec<Write>,
    /// Lines that became events or were acted on; they leave the queue.
    pub consumed: Vec<u64>,
    /// Lines that are put aside as dead letters, for this reason.
    pub buried: Vec<u64>,
    pub burial: Option<String>,
    /// `Running` keeps the lease. Anything else gives it back, unless a line beyond `seen` waits in the queue
    /// (lines that were consumed do not count, however great their number).
    pub status: ThreadStatus,
    /// The greatest line number that the decision knew of.
    pub seen: u64,
    /// When the thread is to be taken up again even if nothing arrives.
    pub wake_at: Option<Timestamp>,
    /// Added to the thread's counters.
    pub usage: Usage,
    /// Takes up, for this node, what the commit spawns and wakes; otherwise it becomes `ready`.
    pub claim: bool,
    /// The most threads that may lie below the root.
    pub children_total: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The position of the last event that was appended, in the order of all events of the store: this thread's or
    /// that of a thread it spawned. 0 if there was none.
    pub position: u64,
    /// The lease is gone. False after a request to park means: a line has arrived, go on.
    pub parked: bool,
    /// Spawned and woken threads that this node now holds.
    pub claims: Vec<Claim>,
    /// Threads that got a line and that this node held already: they are to be told.
    pub notified: Vec<ThreadId>,
}

/// What another process did, soon after it is durable. A hint: it may be lost, and polling finds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Some thread became `ready`.
    Ready,
    /// A line came into the queue of a thread that a node holds: the node is to look at its queue.
    Queued(ThreadId),
    /// The row or the journal of a thread changed.
    Changed { root: ThreadId, thread: ThreadId },
    /// So much happened, or the connection was away for so long, that everything is to be looked at.
    All,
}

/// An event with its numbers: `seq` within the thread, from 1; `position` within the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    pub thread: ThreadId,
    pub seq: u64,
    pub position: u64,
    /// Of the lease under which it was written; 0 for the events that a thread was made with.
    pub epoch: u64,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRow {
    pub id: ThreadId,
    pub parent: Option<ThreadId>,
    pub root: ThreadId,
    pub depth: u32,
    pub agent: Name,
    pub bundle: Digest,
    pub status: ThreadStatus,
    pub user_id: Option<String>,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub terminated_at: Option<Timestamp>,
    pub usage: Usage,
    pub seq: u64,
    pub attempts: u32,
    pub epoch: u64,
    pub wake_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub id: RunId,
    pub thread: ThreadId,
    pub parent: Option<ThreadId>,
    pub agent: Name,
    pub request: String,
    pub status: RunStatus,
    pub result: Option<String>,
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub cancel_requested: bool,
}

/// What a run's row says once the run has ended so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd<'e> {
    pub status: RunStatus,
    pub result: Option<&'e str>,
    /// What went wrong; for a run that is done, the limit that ended it.
    pub error: Option<&'e str>,
}

impl<'e> From<&'e Ending> for RunEnd<'e> {
    fn from(ending: &'e Ending) -> Self {
        let status = ending.outcome.run_status();
        let text = Some(ending.text.as_str());
        match status {
            RunStatus::Done => Self { status, result: text, error: ending.limit.as_deref() },
            RunStatus::Pending
            | RunStatus::Running
            | RunStatus::Interrupted
            | RunStatus::Failed
            | RunStatus::Cancelled => Self { status, result: ending.partial(), error: Some(ending.fault()) },
        }
    }
}

/// Which threads to list, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadFilter {
    pub agent: Option<Name>,
    pub status: Option<ThreadStatus>,
    /// Only threads that are at work or wait for something, by one look: who asks for one status after the other misses
    /// a thread that changes meanwhile.
    pub unsettled: bool,
    pub parent: Option<ThreadId>,
    pub root: Option<ThreadId>,
    /// Only threads without a parent.
    pub roots: bool,
    pub tag: Option<String>,
    pub user_id: Option<String>,
}

/// Which runs to list, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    pub thread: Option<ThreadId>,
    pub parent: Option<ThreadId>,
    pub status: Option<RunStatus>,
    /// Only runs that ended and whose result nobody was given.
    pub unread: bool,
}

/// A part of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The last row of the page before; listings go on behind it.
    pub after: Option<T>,
    pub limit: usize,
}

/// A line that could not be worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadLetter {
    pub thread: ThreadId,
    pub number: u64,
    pub item: Item,
    pub reason: String,
    pub at: Timestamp,
}

/// Bytes by their digest.
pub type Blob = Vec<u8>;
