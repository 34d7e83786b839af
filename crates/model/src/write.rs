//! What a decision changes beyond its own journal, in the same transaction.

use crate::{Digest, Ending, Event, FileRow, Item, Name, RunId, ThreadId};
use serde::{Deserialize, Serialize};

/// One row or queue line that becomes durable together with the events that caused it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Write {
    /// Makes a child thread.
    Spawn(Box<NewThread>),
    /// Puts a line into a thread's queue. A missing or terminated thread is a no-op.
    Deliver {
        to: ThreadId,
        item: Box<Item>,
    },
    NewRun(NewRun),
    /// Pending or interrupted becomes running; anything else stays as it is.
    StartRun {
        run: RunId,
    },
    /// Running becomes interrupted; anything else stays as it is.
    InterruptRun {
        run: RunId,
    },
    /// A run that has ended already stays as it is.
    EndRun {
        run: RunId,
        ending: Ending,
    },
    /// Somebody wants it to end; a run that has ended already stays as it is.
    CancelRun {
        run: RunId,
    },
    /// Its result was given to whoever asked for it.
    DeliveredRun {
        run: RunId,
    },
    /// Points a path of a thread's file system at a blob. A missing thread is a no-op; without the blob nothing of the
    /// whole decision is written.
    PutFile {
        thread: ThreadId,
        file: FileRow,
    },
    /// The thread's row names another agent from now on. A missing thread is a no-op.
    SetAgent {
        thread: ThreadId,
        agent: Name,
    },
    /// A missing thread or file is a no-op.
    RemoveFile {
        thread: ThreadId,
        path: String,
    },
}

/// A thread that does not exist yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewThread {
    pub id: ThreadId,
    pub parent: Option<ThreadId>,
    pub root: ThreadId,
    pub depth: u32,
    pub agent: Name,
    pub bundle: Digest,
    pub user_id: Option<String>,
    pub tags: Vec<String>,
    pub events: Vec<Event>,
    pub items: Vec<Item>,
    pub run: Option<NewRun>,
    /// It has something to do at once; otherwise it rests until somebody writes.
    pub at_work: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRun {
    pub id: RunId,
    pub thread: ThreadId,
    /// The thread that asked for it.
    pub parent: Option<ThreadId>,
    pub agent: Name,
    pub request: String,
    /// It is worked on from the start, and never pending.
    pub begun: bool,
}
