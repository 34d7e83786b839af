//! What the cases of the contract share: a store, identifiers, and the few things that they say again and again.

use super::Subject;
use super::sample::BUNDLE;
pub(super) use super::sample::{blank, new_thread};
use crate::row::{Claim, Commit, Committed, NewLine, Page, QueueLine, RunRow, ThreadRow};
use crate::store::{CommitError, Store};
use entourage_model::{
    Dialect, Digest, Event, Ids, Item, Message, NewRun, NewThread, NodeId, Outcome, Posted, Role, RunId, ThreadId,
    ThreadStatus, Timestamp,
};
use std::time::Duration;

/// A fresh store and everything that a case makes up.
pub struct World {
    subject: Box<dyn Subject>,
    ids: Ids,
    /// Moves on with each thread, so that a later thread has a greater id.
    moment: Timestamp,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("store", &self.store()).finish_non_exhaustive()
    }
}

impl World {
    pub(super) fn new(subject: Box<dyn Subject>) -> Self {
        let moment = Timestamp(1_700_000_000_000_000);
        Self { subject, ids: Ids::new(moment, 7), moment }
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.subject.store()
    }

    /// Nothing is damaged.
    pub(super) async fn insist_on_soundness(&self) {
        self.store().put_blob(Digest::of(BUNDLE), BUNDLE).await.expect("it can be kept");
        assert_eq!(self.store().check().await.expect("it can be checked"), []);
    }

    pub(super) async fn advance(&self, by: Duration) {
        self.subject.advance(by).await;
    }

    /// A registered node.
    pub(super) async fn node(&mut self) -> NodeId {
        let node = self.ids.node();
        self.store().register(node).await.expect("a node can be registered");
        node
    }

    pub(super) fn stranger(&mut self) -> NodeId {
        self.ids.node()
    }

    pub(super) fn thread_id(&mut self) -> ThreadId {
        self.moment = self.moment.after(Duration::from_millis(1));
        let seed = u64::try_from(self.moment.0).expect("it lies after 1970");
        Ids::new(self.moment, seed).thread()
    }

    pub(super) fn run_id(&mut self) -> RunId {
        self.ids.run(Dialect::Standard)
    }

    pub(super) fn message(&mut self, text: &str) -> Item {
        let message = Message::new(self.ids.message(), Role::User, text, self.moment);
        Item::Message(Posted::plain(message))
    }

    /// A root thread with its first event.
    pub(super) fn root(&mut self) -> NewThread {
        let id = self.thread_id();
        new_thread(id, None, id)
    }

    pub(super) fn child_of(&mut self, parent: &Claim) -> NewThread {
        let id = self.thread_id();
        new_thread(id, Some(parent.lease.thread), parent.root)
    }

    pub(super) fn new_run(&mut self, thread: ThreadId) -> NewRun {
        NewRun {
            id: self.ids.run(Dialect::Standard),
            thread,
            parent: None,
            agent: "worker".into(),
            request: "work".to_owned(),
            begun: false,
        }
    }

    /// A root thread that `node` holds.
    pub(super) async fn held(&mut self, node: NodeId) -> Claim {
        let thread = self.root();
        self.create(thread, Some(node)).await.expect("a claim was asked for")
    }

    pub(super) async fn create(&self, thread: NewThread, claim: Option<NodeId>) -> Option<Claim> {
        self.store().create(thread, claim).await.expect("a thread can be made")
    }

    /// A root thread that has nothing to do.
    pub(super) async fn parked(&mut self, node: NodeId) -> ThreadId {
        let claim = self.held(node).await;
        assert!(self.commit(&claim, Commit { status: ThreadStatus::Idle, ..blank(&claim) }).await.parked);
        claim.lease.thread
    }

    pub(super) async fn terminated(&mut self, node: NodeId) -> ThreadId {
        let claim = self.held(node).await;
        let events = vec![Event::Terminated { at: self.moment }];
        let commit = Commit { events, status: ThreadStatus::Terminated, ..blank(&claim) };
        assert!(self.commit(&claim, commit).await.parked);
        claim.lease.thread
    }

    pub(super) async fn commit(&self, claim: &Claim, commit: Commit) -> Committed {
        self.store().commit(claim.lease, commit).await.expect("the lease is good")
    }

    pub(super) async fn refused(&self, claim: &Claim, commit: Commit) -> CommitError {
        self.store().commit(claim.lease, commit).await.expect_err("it must be refused")
    }

    pub(super) async fn enqueue(&mut self, to: ThreadId, text: &str) -> u64 {
        let item = self.message(text);
        self.store().enqueue(to, line(item), None).await.expect("the queue takes it").number
    }

    pub(super) async fn claim_all(&self, node: NodeId) -> Vec<Claim> {
        self.store().claim(node, 1000, None).await.expect("a living node may claim")
    }

    pub(super) async fn row(&self, id: ThreadId) -> ThreadRow {
        self.store().thread(id).await.expect("threads can be read").expect("the thread exists")
    }

    pub(super) async fn run(&self, id: &RunId) -> RunRow {
        self.store().run(id).await.expect("runs can be read").expect("the run exists")
    }

    /// What waits in a thread's queue: numbers and texts.
    pub(super) async fn waiting(&self, id: ThreadId) -> Vec<(u64, String)> {
        texts(&self.store().lines(id, 0).await.expect("lines can be read"))
    }

    pub(super) async fn events(&self, id: ThreadId) -> Vec<(u64, Event)> {
        let journal = self.store().journal(id, 0, usize::MAX).await.expect("a journal can be read");
        journal.into_iter().map(|stored| (stored.seq, stored.event)).collect()
    }
}

/// An event that means nothing, told apart by its text.
pub(super) fn event(text: &str) -> Event {
    let child = ThreadId::from_uuid(uuid::Uuid::nil());
    Event::ChildReported { child, status: text.to_owned() }
}

pub(super) fn line(item: Item) -> NewLine {
    NewLine { item, key: None, run: None, messages_max: 1000 }
}

pub(super) fn texts(lines: &[QueueLine]) -> Vec<(u64, String)> {
    lines.iter().map(|line| (line.number, text(&line.item))).collect()
}

pub(super) fn text(item: &Item) -> String {
    match item {
        Item::Message(posted) => posted.message.content.clone(),
        other => format!("{other:?}"),
    }
}

pub(super) fn numbered(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
    lines.iter().map(|&(number, text)| (number, text.to_owned())).collect()
}

pub(super) fn ending(outcome: Outcome, text: &str) -> entourage_model::Ending {
    entourage_model::Ending { outcome, text: text.to_owned(), attachments: Vec::new(), limit: None }
}

pub(super) fn first<T>(limit: usize) -> Page<T> {
    Page { after: None, limit }
}
