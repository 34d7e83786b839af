//! What the tests of this crate share: a database, and the few rows that they need.

use entourage_model::{Dialect, Event, Ids, Item, Message, NewRun, NewThread, NodeId, Posted, Role, Timestamp, Usage};
use entourage_store::contract::sample;
use entourage_store::{Claim, Commit, Store};
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::postgres::Database;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_postgres::{Client, NoTls};

thread_local! {
    /// One for all cases of a test, which has a thread of its own. Removed when that ends.
    static DATABASE: Arc<Database> = Arc::new(Database::new());
}

/// Tables of its own.
pub(crate) struct World {
    pub(crate) database: Arc<Database>,
    pub(crate) schema: String,
    /// The address of the database, up to what is asked of it.
    address: String,
    /// What is added to the address.
    more: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    pub(crate) fn with(more: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let schema = format!("s{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let database = DATABASE.with(Arc::clone);
        Self { address: database.url().to_owned(), database, schema, more: more.to_owned() }
    }

    /// The same database, reached by another way.
    pub(crate) fn through(self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}?schema={}{}", self.address, self.schema, self.more)
    }

    pub(crate) async fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.url(), Options::default()).await.expect("the store can be opened")
    }

    /// A connection of the test's own.
    pub(crate) async fn client(&self) -> Client {
        let (client, connection) =
            tokio_postgres::connect(self.database.url(), NoTls).await.expect("the server answers");
        tokio::spawn(connection);
        let path = format!("SET search_path = {}", self.schema);
        client.batch_execute(&path).await.expect("a path can be set");
        client
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
    let blank = sample::new_thread(id, None, id);
    let run = NewRun {
        id: ids.run(Dialect::Standard),
        thread: id,
        parent: None,
        agent: blank.agent.clone(),
        request: "work".to_owned(),
        begun: false,
    };
    NewThread { items: vec![message(seed, "work")], run: Some(run), ..blank }
}

pub(crate) fn message(seed: u64, text: &str) -> Item {
    let id = Ids::new(Timestamp(2_000_000), seed).message();
    Item::Message(Posted::plain(Message::new(id, Role::User, text, Timestamp(0))))
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
