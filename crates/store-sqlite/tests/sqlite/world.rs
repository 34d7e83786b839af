//! What the tests of this crate share: a folder, and the few rows that they need.

use entourage_model::{
    Digest, Event, Ids, Item, Message, NewRun, NewThread, NodeId, Posted, Role, Started, ThreadId, ThreadStatus,
    Timestamp, Usage,
};
use entourage_store::{Claim, Commit, Store};
use entourage_store_sqlite::SqliteStore;
use std::path::Path;
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(self.folder()).expect("the store can be opened")
    }

    pub(crate) async fn node(&self, store: &dyn Store, seed: u64) -> NodeId {
        let node = Ids::new(Timestamp(0), seed).node();
        store.register(node).await.expect("a node can be registered");
        node
    }

    /// A thread with an event, a line and a run, held by a node of its own.
    pub(crate) async fn held(&self, store: &dyn Store, seed: u64) -> Claim {
        let node = self.node(store, seed).await;
        let claim = store.create(new_thread(seed), Some(node)).await.expect("it can be made");
        claim.expect("a claim was asked for")
    }
}

pub(crate) fn new_thread(seed: u64) -> NewThread {
    let mut ids = Ids::new(Timestamp(1_000_000), seed);
    let id = ids.thread();
    let message = Message::new(ids.message(), Role::User, "work", Timestamp(0));
    let started = Started {
        thread: id,
        agent: "worker".into(),
        bundle: Digest::of(b"bundle"),
        parent: None,
        root: id,
        depth: 0,
        resumable: false,
        receives: None,
        user_id: None,
        at: Timestamp(1),
    };
    NewThread {
        id,
        parent: None,
        root: id,
        depth: 0,
        agent: started.agent.clone(),
        bundle: started.bundle,
        user_id: None,
        tags: Vec::new(),
        events: vec![Event::Started(started)],
        items: vec![Item::Message(Posted::plain(message))],
        run: Some(NewRun {
            id: ids.run(),
            thread: id,
            parent: None,
            agent: "worker".into(),
            request: "work".to_owned(),
            begun: false,
        }),
        at_work: true,
    }
}

/// A commit behind `seq` events that appends one and keeps the lease.
pub(crate) fn step(thread: ThreadId, seq: u64) -> Commit {
    Commit {
        seq,
        events: vec![Event::ChildReported { child: thread, status: format!("event {}", seq + 1) }],
        writes: Vec::new(),
        consumed: Vec::new(),
        buried: Vec::new(),
        burial: None,
        status: ThreadStatus::Running,
        seen: 1,
        wake_at: None,
        usage: Usage { input_tokens: 100, output_tokens: 10, steps: 1 },
        claim: false,
        children_total: 200,
    }
}
