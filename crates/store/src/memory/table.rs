//! The maps that everything lies in, and what one thread's entry can say about itself.

use crate::row::{Blob, Claim, DeadLetter, FileRow, Lease, QueueLine, RunRow, ThreadRow};
use entourage_model::{Digest, Event, Item, NodeId, RunId, ThreadId, ThreadStatus, Timestamp};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) threads: BTreeMap<ThreadId, Thread>,
    /// By the key's name.
    pub(super) root_keys: BTreeMap<String, RootEntry>,
    pub(super) runs: BTreeMap<RunId, RunRow>,
    pub(super) nodes: BTreeMap<NodeId, Node>,
    pub(super) blobs: BTreeMap<Digest, Blob>,
    /// In the order of their burial.
    pub(super) dead_letters: Vec<DeadLetter>,
    /// Of the last event that was ever appended; a deleted one's is not given again.
    pub(super) position: u64,
    pub(super) closed: bool,
}

/// What a key for a root thread was used for.
#[derive(Debug)]
pub(super) struct RootEntry {
    pub(super) request: Digest,
    pub(super) thread: ThreadId,
    pub(super) run: Option<RunId>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) expires_at: Timestamp,
    pub(super) dead: bool,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) row: ThreadRow,
    /// Who may commit; nobody while it is parked or ready.
    pub(super) owner: Option<NodeId>,
    /// Since when it has been ready, while it is.
    pub(super) ready_at: Timestamp,
    /// How many threads lie below it, counted only in the root of a tree.
    pub(super) below: u32,
    pub(super) journal: Vec<Entry>,
    /// The number that the newest line was given, whether it still waits or not.
    pub(super) last_line: u64,
    pub(super) queue: BTreeMap<u64, Item>,
    pub(super) keys: BTreeMap<String, QueueLine>,
    pub(super) files: BTreeMap<String, FileRow>,
}

/// The event at index `n` has the sequence number `n + 1`.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) position: u64,
    pub(super) epoch: u64,
    pub(super) event: Event,
}

impl Thread {
    /// Nobody works on it and nothing waits for it to be worked on.
    pub(super) fn is_parked(&self) -> bool {
        self.owner.is_none() && self.row.status != ThreadStatus::Ready
    }

    pub(super) fn is_terminated(&self) -> bool {
        self.row.terminated_at.is_some()
    }

    /// When it wants to be taken up although nothing may have arrived.
    pub(super) fn wakes_at(&self) -> Option<Timestamp> {
        self.row.wake_at.filter(|_| self.is_parked())
    }

    pub(super) fn queue_line(&mut self, item: Item) -> u64 {
        self.last_line += 1;
        self.queue.insert(self.last_line, item);
        self.last_line
    }

    pub(super) fn lines(&self) -> Vec<QueueLine> {
        self.queue.iter().map(|(&number, item)| QueueLine { number, item: item.clone() }).collect()
    }

    pub(super) fn make_ready(&mut self, now: Timestamp) {
        self.owner = None;
        self.row.status = ThreadStatus::Ready;
        self.ready_at = now;
    }

    /// Gives it to a node. The attempt is counted here, before anything runs.
    pub(super) fn take_up(&mut self, node: NodeId) -> Claim {
        self.owner = Some(node);
        self.row.status = ThreadStatus::Running;
        self.row.epoch += 1;
        self.row.attempts += 1;
        Claim {
            lease: Lease { thread: self.row.id, node, epoch: self.row.epoch },
            attempts: self.row.attempts,
            seq: self.row.seq,
            root: self.row.root,
            bundle: self.row.bundle,
            lines: self.lines(),
            journal: None,
        }
    }
}
