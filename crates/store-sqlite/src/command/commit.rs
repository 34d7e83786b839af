//! One decision made durable: guard, append, take lines, write, settle.

mod encode;

pub(crate) use encode::{assemble, encode};

use super::create::EncodedThread;
use super::line::{self, RawClaim};
use super::{Command, file, run};
use crate::body::EncodedItem;
use crate::column::{node_id_or_none, signed, thread_code, thread_id, time_or_none, unsigned};
use crate::session::Session;
use entourage_model::{Ending, FileRow, Name, NewRun, NodeId, RunId, ThreadId, ThreadStatus, Timestamp, Usage};
use entourage_store::{CommitError, Lease, StoreError};

/// A commit ready to be bound.
#[derive(Debug)]
pub(crate) struct Append {
    lease: Lease,
    seq: u64,
    events: Vec<Vec<u8>>,
    /// What a `Terminated` among the events says.
    terminated_at: Option<Timestamp>,
    writes: Vec<EncodedWrite>,
    consumed: Vec<u64>,
    buried: Vec<u64>,
    burial: String,
    status: ThreadStatus,
    seen: u64,
    wake_at: Option<Timestamp>,
    usage: Usage,
    claim: bool,
    children_total: u32,
}

#[derive(Debug)]
pub(crate) enum EncodedWrite {
    Spawn(Box<EncodedThread>),
    Deliver { to: ThreadId, item: EncodedItem },
    NewRun(NewRun),
    StartRun(RunId),
    InterruptRun(RunId),
    EndRun(RunId, Ending),
    CancelRun(RunId),
    DeliveredRun(RunId),
    PutFile(ThreadId, FileRow),
    RemoveFile(ThreadId, String),
    SetAgent(ThreadId, Name),
}

/// What the caller cannot know by itself.
#[derive(Debug)]
pub(crate) struct Appended {
    /// 0 if there was no event.
    pub(crate) position: u64,
    pub(crate) parked: bool,
    /// One per write, in order.
    pub(crate) effects: Vec<Effect>,
}

/// What one write did, beyond what it says.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Nobody is to be told.
    Nothing,
    /// The spawned thread is held by this node.
    SpawnedHeld,
    /// A line lies in the queue of a thread that this node held before.
    Notified,
    /// A line lies in the queue of a thread that an earlier write of this commit took up.
    Joined { number: u64 },
    /// A line woke its thread, which this node now holds.
    Woke { number: u64, claim: RawClaim },
}

/// The committing thread's row, as far as it matters.
struct Own {
    root: ThreadId,
    last_line: u64,
    wake_at: Option<Timestamp>,
}

impl Command for Append {
    type Answer = Result<Appended, CommitError>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Self::Answer> {
        let Some(mut own) = self.guard(session)? else { return Ok(Err(CommitError::Fenced)) };
        if let Err(missing) = self.find_blobs(session)? {
            return Ok(Err(missing.into()));
        }
        if let Some(left) = self.make_room(session, &own)? {
            return Ok(Err(CommitError::TreeFull { left }));
        }
        let before = session.position;
        session.append(self.lease.thread, (self.seq, self.lease.epoch), &self.events)?;
        self.take_lines(session)?;
        let mut effects = Vec::with_capacity(self.writes.len());
        let mut held = Vec::new();
        for write in &self.writes {
            effects.push(self.write(session, write, &mut own, &mut held)?);
        }
        let parked = self.settle(session, &own)?;
        let position = if session.position > before { session.position } else { 0 };
        Ok(Ok(Appended { position, parked, effects }))
    }
}

impl Append {
    fn guard(&self, session: &Session<'_>) -> rusqlite::Result<Option<Own>> {
        let Lease { thread, node, epoch } = self.lease;
        let found = session.one(
            "SELECT epoch, owner, seq, last_line, wake_at, root FROM threads WHERE id = ?1",
            [thread.as_bytes()],
            |row| {
                let good = unsigned(row, 0)? == epoch
                    && node_id_or_none(row, 1)? == Some(node)
                    && unsigned(row, 2)? == self.seq;
                let (last_line, wake_at) = (unsigned(row, 3)?, time_or_none(row, 4)?);
                Ok((good, Own { root: thread_id(row, 5)?, last_line, wake_at }))
            },
        )?;
        Ok(found.and_then(|(good, own)| good.then_some(own)))
    }

    /// Whether every file that is written has its content.
    fn find_blobs(&self, session: &Session<'_>) -> rusqlite::Result<Result<(), StoreError>> {
        for write in &self.writes {
            if let EncodedWrite::PutFile(_, file) = write
                && let Err(missing) = file::find_blob(session, file)?
            {
                return Ok(Err(missing));
            }
        }
        Ok(Ok(()))
    }

    /// Counts the spawned threads in at the root. Returns how many would have fitted, if these do not.
    fn make_room(&self, session: &Session<'_>, own: &Own) -> rusqlite::Result<Option<u32>> {
        let spawned = self.writes.iter().filter(|write| matches!(write, EncodedWrite::Spawn(_))).count();
        if spawned == 0 {
            return Ok(None);
        }
        let root = own.root.as_bytes();
        let below: Option<u32> = session.one("SELECT below FROM threads WHERE id = ?1", [root], |row| row.get(0))?;
        let left = self.children_total.saturating_sub(below.unwrap_or(0));
        if spawned > left as usize {
            return Ok(Some(left));
        }
        let sql = "UPDATE threads SET below = below + ?2 WHERE id = ?1";
        session.execute(sql, (root, signed(spawned as u64)))?;
        Ok(None)
    }

    fn take_lines(&self, session: &Session<'_>) -> rusqlite::Result<()> {
        let thread = self.lease.thread.as_bytes();
        let delete = |number: u64| {
            session.execute("DELETE FROM lines WHERE thread = ?1 AND number = ?2", (thread, signed(number)))
        };
        for &number in &self.consumed {
            delete(number)?;
        }
        for &number in &self.buried {
            session.execute(
                "INSERT INTO dead_letters (thread, number, at, reason, v, body)
                 SELECT thread, number, ?3, ?4, v, body FROM lines WHERE thread = ?1 AND number = ?2",
                (thread, signed(number), session.now.0, &self.burial),
            )?;
            delete(number)?;
        }
        Ok(())
    }

    fn write(
        &self,
        session: &mut Session<'_>,
        write: &EncodedWrite,
        own: &mut Own,
        held: &mut Vec<ThreadId>,
    ) -> rusqlite::Result<Effect> {
        match write {
            EncodedWrite::Spawn(child) => return self.spawn(session, child, held),
            EncodedWrite::Deliver { to, item } => return self.deliver(session, (*to, item), own, held),
            EncodedWrite::NewRun(new) => run::insert(session, new)?,
            EncodedWrite::StartRun(id) => run::start(session, id)?,
            EncodedWrite::InterruptRun(id) => run::interrupt(session, id)?,
            EncodedWrite::EndRun(id, ending) => run::end(session, id, ending)?,
            EncodedWrite::CancelRun(id) => run::request_cancel(session, id)?,
            EncodedWrite::DeliveredRun(id) => run::deliver(session, id)?,
            EncodedWrite::PutFile(thread, file) => _ = file::put(session, *thread, file)?,
            EncodedWrite::RemoveFile(thread, path) => _ = file::remove(session, *thread, path)?,
            EncodedWrite::SetAgent(thread, agent) => {
                let sql = "UPDATE threads SET agent = ?2 WHERE id = ?1";
                session.execute(sql, (thread.as_bytes(), agent.as_str()))?;
            }
        }
        Ok(Effect::Nothing)
    }

    fn claimer(&self) -> Option<NodeId> {
        self.claim.then_some(self.lease.node)
    }

    fn spawn(
        &self,
        session: &mut Session<'_>,
        child: &EncodedThread,
        held: &mut Vec<ThreadId>,
    ) -> rusqlite::Result<Effect> {
        child.insert(session, self.claimer())?;
        if !self.claim {
            return Ok(Effect::Nothing);
        }
        held.push(child.id());
        Ok(Effect::SpawnedHeld)
    }

    fn deliver(
        &self,
        session: &Session<'_>,
        (to, item): (ThreadId, &EncodedItem),
        own: &mut Own,
        held: &mut Vec<ThreadId>,
    ) -> rusqlite::Result<Effect> {
        let to_itself = to == self.lease.thread;
        let target = line::find(session, to)?.filter(|target| !target.terminated);
        let Some(target) = target.filter(|_| !(to_itself && self.terminated_at.is_some())) else {
            return Ok(Effect::Nothing);
        };
        let put = target.put(session, item, self.claimer())?;
        if to_itself {
            own.last_line = put.number;
        }
        Ok(match put.claim {
            Some(claim) => {
                held.push(to);
                Effect::Woke { number: put.number, claim }
            }
            None if held.contains(&to) => Effect::Joined { number: put.number },
            None if target.holder == Some(self.lease.node) => Effect::Notified,
            None => Effect::Nothing,
        })
    }

    /// Whether a line waits that the decision did not know of.
    fn overlooks_a_line(&self, session: &Session<'_>, own: &Own) -> rusqlite::Result<bool> {
        if own.last_line <= self.seen {
            return Ok(false);
        }
        let sql = "SELECT 1 FROM lines WHERE thread = ?1 AND number > ?2 LIMIT 1";
        let line = session.one(sql, (self.lease.thread.as_bytes(), signed(self.seen)), |_| Ok(()))?;
        Ok(line.is_some())
    }

    /// Returns whether the lease was given back. A thread that goes on as it was touches no index.
    fn settle(&self, session: &Session<'_>, own: &Own) -> rusqlite::Result<bool> {
        let parked = self.status != ThreadStatus::Running && !self.overlooks_a_line(session, own)?;
        let terminates = self.status == ThreadStatus::Terminated;
        let terminated_at = self.terminated_at.or(terminates.then_some(session.now)).map(|at| at.0);
        let wake_at = self.wake_at.filter(|_| !terminates);
        let thread = self.lease.thread.as_bytes();
        let seq = signed(self.seq + self.events.len() as u64);
        let usage = (signed(self.usage.input_tokens), signed(self.usage.output_tokens), signed(self.usage.steps));
        if parked {
            session.execute(
                "UPDATE threads SET seq = ?2, attempts = 0, input_tokens = input_tokens + ?3,
                        output_tokens = output_tokens + ?4, steps = steps + ?5, wake_at = ?6,
                        terminated_at = ifnull(?7, terminated_at), owner = NULL, status = ?8, ready_at = ?9
                 WHERE id = ?1",
                rusqlite::params![
                    thread,
                    seq,
                    usage.0,
                    usage.1,
                    usage.2,
                    wake_at.map(|at| at.0),
                    terminated_at,
                    thread_code(self.status),
                    session.now.0,
                ],
            )?;
        } else if wake_at != own.wake_at || terminated_at.is_some() {
            session.execute(
                "UPDATE threads SET seq = ?2, attempts = 0, input_tokens = input_tokens + ?3,
                        output_tokens = output_tokens + ?4, steps = steps + ?5, wake_at = ?6,
                        terminated_at = ifnull(?7, terminated_at)
                 WHERE id = ?1",
                (thread, seq, usage.0, usage.1, usage.2, wake_at.map(|at| at.0), terminated_at),
            )?;
        } else {
            session.execute(
                "UPDATE threads SET seq = ?2, attempts = 0, input_tokens = input_tokens + ?3,
                        output_tokens = output_tokens + ?4, steps = steps + ?5
                 WHERE id = ?1",
                (thread, seq, usage.0, usage.1, usage.2),
            )?;
        }
        Ok(parked)
    }
}
