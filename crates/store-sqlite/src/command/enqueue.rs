//! A line from outside.

use super::line::{self, RawClaim};
use super::{Command, run};
use crate::body::{EncodedItem, RawBody};
use crate::column::{signed, unsigned};
use crate::session::Session;
use entourage_model::{JOURNAL_VERSION, NewRun, NodeId, ThreadId};
use entourage_store::EnqueueError;

#[derive(Debug)]
pub(crate) struct Enqueue {
    pub(crate) to: ThreadId,
    pub(crate) item: EncodedItem,
    pub(crate) key: Option<String>,
    pub(crate) run: Option<NewRun>,
    pub(crate) messages_max: u32,
    pub(crate) claim: Option<NodeId>,
}

#[derive(Debug)]
pub(crate) enum Enqueued {
    New {
        number: u64,
        claim: Option<RawClaim>,
        holder: Option<NodeId>,
    },
    /// The key was there already. Whether the item is the same is for the caller to say.
    Known {
        number: u64,
        first: RawBody,
    },
}

impl Command for Enqueue {
    type Answer = Result<Enqueued, EnqueueError>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Self::Answer> {
        let Some(target) = line::find(session, self.to)? else { return Ok(Err(EnqueueError::NoThread)) };
        // A repetition gets the first answer, whatever has become of the thread since.
        if let Some(known) = self.known(session)? {
            return Ok(Ok(known));
        }
        if target.terminated {
            return Ok(Err(EnqueueError::Terminated));
        }
        if self.item.message && self.is_full(session, target.last_line)? {
            return Ok(Err(EnqueueError::QueueFull));
        }
        let put = target.put(session, &self.item, self.claim)?;
        self.remember(session, put.number)?;
        if let Some(new) = &self.run {
            run::insert(session, new)?;
        }
        Ok(Ok(Enqueued::New { number: put.number, claim: put.claim, holder: target.holder }))
    }
}

impl Enqueue {
    fn known(&self, session: &Session<'_>) -> rusqlite::Result<Option<Enqueued>> {
        let Some(key) = &self.key else { return Ok(None) };
        session.one(
            "SELECT number, v, body FROM keys WHERE thread = ?1 AND key = ?2",
            (self.to.as_bytes(), key),
            |row| Ok(Enqueued::Known { number: unsigned(row, 0)?, first: RawBody::read(row, 1)? }),
        )
    }

    /// Counts only where the queue is long enough to matter.
    fn is_full(&self, session: &Session<'_>, last_line: u64) -> rusqlite::Result<bool> {
        let oldest = "SELECT number FROM lines WHERE thread = ?1 ORDER BY number LIMIT 1";
        let oldest = session.one(oldest, [self.to.as_bytes()], |row| unsigned(row, 0))?;
        let lines_at_most = oldest.map_or(0, |oldest| last_line + 1 - oldest);
        if lines_at_most < u64::from(self.messages_max) {
            return Ok(false);
        }
        let count = "SELECT count(*) FROM lines WHERE thread = ?1 AND message = 1";
        let messages = session.one(count, [self.to.as_bytes()], |row| unsigned(row, 0))?;
        Ok(messages.unwrap_or(0) >= u64::from(self.messages_max))
    }

    fn remember(&self, session: &Session<'_>, number: u64) -> rusqlite::Result<()> {
        if let Some(key) = &self.key {
            session.execute(
                "INSERT INTO keys (thread, key, number, v, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                (self.to.as_bytes(), key, signed(number), JOURNAL_VERSION, &self.item.body),
            )?;
        }
        Ok(())
    }
}
