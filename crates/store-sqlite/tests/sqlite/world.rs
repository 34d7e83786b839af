//! What the tests of this crate share: a folder, and the few rows that they need.

use entourage_model::{Dialect, Event, Ids, Item, Message, NewRun, NewThread, NodeId, Posted, Role, Timestamp, Usage};
use entourage_store::contract::sample;
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
    let blank = sample::new_thread(id, None, id);
    let run = NewRun {
        id: ids.run(Dialect::Standard),
        thread: id,
        parent: None,
        agent: blank.agent.clone(),
        request: "work".to_owned(),
        begun: false,
    };
    NewThread { items: vec![Item::Message(Posted::plain(message))], run: Some(run), ..blank }
}

/// A commit behind `seq` events that appends one and keeps the lease.
pub(crate) fn step(claim: &Claim, seq: u64) -> Commit {
    Commit {
        seq,
        events: vec![Event::ChildReported { child: claim.lease.thread, status: format!("event {}", seq + 1) }],
        usage: Usage { input_tokens: 100, output_tokens: 10, steps: 1 },
        ..sample::blank(claim)
    }
}
