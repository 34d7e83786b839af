//! A thread and a commit to start from, for this contract and for the tests of backends.

use crate::row::{Claim, Commit};
use entourage_model::{Digest, Event, NewThread, Started, ThreadId, ThreadStatus, Timestamp, Usage};

/// What these threads are started from. Only whoever looks for damage misses it.
pub const BUNDLE: &[u8] = b"bundle";

/// A thread with its first event and nothing to do: a root, or else below the root that it names.
pub fn new_thread(id: ThreadId, parent: Option<ThreadId>, root: ThreadId) -> NewThread {
    let started = Started {
        parent,
        root,
        depth: u32::from(parent.is_some()),
        ..Started::root(id, "worker".into(), Digest::of(BUNDLE), Timestamp(1))
    };
    NewThread {
        id,
        parent,
        root,
        depth: started.depth,
        agent: started.agent.clone(),
        bundle: started.bundle,
        user_id: None,
        tags: Vec::new(),
        events: vec![Event::Started(started)],
        items: Vec::new(),
        run: None,
        at_work: true,
    }
}

/// A commit that changes nothing and keeps the lease.
pub fn blank(claim: &Claim) -> Commit {
    Commit {
        seq: claim.seq,
        events: Vec::new(),
        writes: Vec::new(),
        consumed: Vec::new(),
        buried: Vec::new(),
        burial: None,
        status: ThreadStatus::Running,
        seen: claim.lines.last().map_or(0, |line| line.number),
        wake_at: None,
        usage: Usage::default(),
        claim: false,
        children_total: 200,
    }
}
