//! Making a thread: its row, its events, its queue and its run.

use super::{Command, line, run};
use crate::body::{EncodedItem, encode_events, encode_tags};
use crate::column::{digest, signed, thread_code, thread_id};
use crate::session::Session;
use entourage_model::{Digest, Event, Item, NewThread, NodeId, RunId, ThreadId, ThreadStatus};
use entourage_store::{Claim, Lease, QueueLine, RootKey, RootMade, StoreError};
use rusqlite::Row;

/// A new thread ready to be bound.
#[derive(Debug)]
pub(crate) struct EncodedThread {
    new: NewThread,
    tags: String,
    events: Vec<Vec<u8>>,
    items: Vec<EncodedItem>,
}

/// What a new thread begins with.
#[derive(Debug)]
pub(crate) struct Born {
    journal: Vec<Event>,
    items: Vec<Item>,
}

impl EncodedThread {
    /// Events and items stay with the caller, who makes the claim out of them.
    pub(crate) fn new(mut new: NewThread) -> Result<(Self, Born), StoreError> {
        let journal = std::mem::take(&mut new.events);
        let events = encode_events(&journal)?;
        let items = std::mem::take(&mut new.items);
        let encoded = items.iter().map(EncodedItem::new).collect::<Result<_, _>>()?;
        Ok((Self { tags: encode_tags(&new.tags), new, events, items: encoded }, Born { journal, items }))
    }

    /// What whoever takes it up at once holds: nothing of it need be read back.
    pub(crate) fn claim(&self, node: NodeId, born: Born) -> Claim {
        Claim {
            lease: Lease { thread: self.new.id, node, epoch: 1 },
            attempts: 1,
            seq: self.events.len() as u64,
            root: self.new.root,
            bundle: self.new.bundle,
            lines: (1..).zip(born.items).map(|(number, item)| QueueLine { number, item }).collect(),
            journal: Some(born.journal),
        }
    }

    pub(crate) fn id(&self) -> ThreadId {
        self.new.id
    }

    pub(crate) fn insert(&self, session: &mut Session<'_>, claim: Option<NodeId>) -> rusqlite::Result<()> {
        self.insert_row(session, claim)?;
        session.append(self.new.id, (0, 0), &self.events)?;
        for (number, item) in (1..).zip(&self.items) {
            line::insert(session, self.new.id, number, item)?;
        }
        match &self.new.run {
            Some(new) => run::insert(session, new),
            None => Ok(()),
        }
    }

    fn insert_row(&self, session: &Session<'_>, claim: Option<NodeId>) -> rusqlite::Result<()> {
        let new = &self.new;
        let status = match claim {
            Some(_) => ThreadStatus::Running,
            None if new.at_work => ThreadStatus::Ready,
            None => ThreadStatus::Idle,
        };
        let taken = u32::from(claim.is_some());
        session.execute(
            "INSERT INTO threads (id, epoch, owner, seq, last_line, status, attempts, wake_at, terminated_at, root,
                                  input_tokens, output_tokens, steps, below, ready_at, bundle, parent, depth,
                                  created_at, agent, user_id, tags)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2, NULL, NULL, ?7, 0, 0, 0, 0, ?8, ?9, ?10, ?11, ?8, ?12, ?13, ?14)",
            rusqlite::params![
                new.id.as_bytes(),
                taken,
                claim.as_ref().map(NodeId::as_bytes),
                signed(self.events.len() as u64),
                signed(self.items.len() as u64),
                thread_code(status),
                new.root.as_bytes(),
                session.now.0,
                new.bundle.as_bytes(),
                new.parent.as_ref().map(ThreadId::as_bytes),
                new.depth,
                new.agent.as_str(),
                new.user_id,
                self.tags,
            ],
        )?;
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) thread: EncodedThread,
    pub(crate) claim: Option<NodeId>,
}

impl Command for Create {
    type Answer = ();

    /// A thread that exists already breaks the key of its table, so that nothing is written.
    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        self.thread.insert(session, self.claim)
    }
}

/// The same, once for each key.
#[derive(Debug)]
pub(crate) struct CreateOnce {
    pub(crate) thread: EncodedThread,
    pub(crate) key: RootKey,
    pub(crate) claim: Option<NodeId>,
}

/// What a key was used for before.
#[derive(Debug)]
pub(crate) struct First {
    thread: ThreadId,
    request: Digest,
    run: Option<RunId>,
}

impl First {
    /// By the key's name.
    pub(crate) const SQL: &'static str = "SELECT thread, request, run FROM root_keys WHERE key = ?1";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let run = row.get::<_, Option<String>>(2)?.map(|id| RunId::from(id.as_str()));
        Ok(Self { thread: thread_id(row, 0)?, request: digest(row, 1)?, run })
    }

    /// What whoever comes with the key again is told.
    pub(crate) fn made(self, request: Digest) -> RootMade {
        if self.request == request {
            RootMade::Repeated { thread: self.thread, run: self.run }
        } else {
            RootMade::Conflict
        }
    }
}

impl Command for CreateOnce {
    type Answer = Option<First>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Option<First>> {
        let first = session.one(First::SQL, [&self.key.name], First::read)?;
        if first.is_none() {
            self.thread.insert(session, self.claim)?;
            let run = self.thread.new.run.as_ref().map(|run| run.id.as_str());
            session.execute(
                "INSERT INTO root_keys (key, thread, request, run) VALUES (?1, ?2, ?3, ?4)",
                (&self.key.name, self.thread.id().as_bytes(), self.key.request.as_bytes(), run),
            )?;
        }
        Ok(first)
    }
}
