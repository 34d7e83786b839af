//! Putting a line into a queue, and waking the thread it belongs to.

use crate::body::{EncodedItem, RawBody, RawLine};
use crate::column::{digest, node_id_or_none, signed, thread_id, thread_status, time_or_none, unsigned};
use crate::session::Session;
use entourage_model::{Digest, JOURNAL_VERSION, NodeId, ThreadId, ThreadStatus};
use entourage_store::{Claim, Lease, QueueLine, StoreError};

/// A thread as a line finds it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) id: ThreadId,
    pub(crate) last_line: u64,
    pub(crate) terminated: bool,
    pub(crate) holder: Option<NodeId>,
    status: ThreadStatus,
    epoch: u64,
    attempts: u32,
    seq: u64,
    root: ThreadId,
    bundle: Digest,
}

/// A thread that was taken up, with the lines that lay in the file before.
#[derive(Debug)]
pub(crate) struct RawClaim {
    pub(crate) lease: Lease,
    pub(crate) attempts: u32,
    pub(crate) seq: u64,
    pub(crate) root: ThreadId,
    pub(crate) bundle: Digest,
    pub(crate) lines: Vec<RawLine>,
}

impl RawClaim {
    /// `newest` are lines that whoever asks has in memory and that come behind those of the file.
    pub(crate) fn decode(self, newest: impl IntoIterator<Item = QueueLine>) -> Result<Claim, StoreError> {
        let mut lines = self.lines.iter().map(RawLine::decode).collect::<Result<Vec<_>, _>>()?;
        lines.extend(newest);
        let Self { lease, attempts, seq, root, bundle, .. } = self;
        Ok(Claim { lease, attempts, seq, root, bundle, lines, journal: None })
    }
}

/// What a new line did to its thread.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) number: u64,
    /// The thread was parked and is held now.
    pub(crate) claim: Option<RawClaim>,
}

pub(crate) fn find(session: &Session<'_>, id: ThreadId) -> rusqlite::Result<Option<Target>> {
    session.one(
        "SELECT last_line, terminated_at, owner, status, epoch, attempts, seq, root, bundle
         FROM threads WHERE id = ?1",
        [id.as_bytes()],
        |row| {
            Ok(Target {
                id,
                last_line: unsigned(row, 0)?,
                terminated: time_or_none(row, 1)?.is_some(),
                holder: node_id_or_none(row, 2)?,
                status: thread_status(row, 3)?,
                epoch: unsigned(row, 4)?,
                attempts: row.get(5)?,
                seq: unsigned(row, 6)?,
                root: thread_id(row, 7)?,
                bundle: digest(row, 8)?,
            })
        },
    )
}

impl Target {
    fn is_parked(&self) -> bool {
        self.holder.is_none() && self.status != ThreadStatus::Ready
    }

    /// Queues the line. A parked thread is taken up by `claimer`, or made ready where there is none.
    pub(crate) fn put(
        &self,
        session: &Session<'_>,
        item: &EncodedItem,
        claimer: Option<NodeId>,
    ) -> rusqlite::Result<Put> {
        let number = self.last_line + 1;
        let claim = match claimer.filter(|_| self.is_parked()) {
            Some(node) => Some(self.take_up(session, node)?),
            None => {
                self.note_line(session)?;
                None
            }
        };
        insert(session, self.id, number, item)?;
        Ok(Put { number, claim })
    }

    fn take_up(&self, session: &Session<'_>, node: NodeId) -> rusqlite::Result<RawClaim> {
        session.execute(
            "UPDATE threads SET last_line = last_line + 1, status = 2, owner = ?2, epoch = epoch + 1,
                                attempts = attempts + 1
             WHERE id = ?1",
            (self.id.as_bytes(), node.as_bytes()),
        )?;
        Ok(RawClaim {
            lease: Lease { thread: self.id, node, epoch: self.epoch + 1 },
            attempts: self.attempts + 1,
            seq: self.seq,
            root: self.root,
            bundle: self.bundle,
            lines: waiting(session, self.id)?,
        })
    }

    fn note_line(&self, session: &Session<'_>) -> rusqlite::Result<()> {
        if self.is_parked() {
            let sql = "UPDATE threads SET last_line = last_line + 1, status = 1, ready_at = ?2 WHERE id = ?1";
            session.execute(sql, (self.id.as_bytes(), session.now.0))?;
        } else {
            session.execute("UPDATE threads SET last_line = last_line + 1 WHERE id = ?1", [self.id.as_bytes()])?;
        }
        Ok(())
    }
}

pub(crate) fn insert(session: &Session<'_>, thread: ThreadId, number: u64, item: &EncodedItem) -> rusqlite::Result<()> {
    session.execute(
        "INSERT INTO lines (thread, number, message, v, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        (thread.as_bytes(), signed(number), item.message, JOURNAL_VERSION, &item.body),
    )?;
    Ok(())
}

pub(crate) fn waiting(session: &Session<'_>, thread: ThreadId) -> rusqlite::Result<Vec<RawLine>> {
    session.all("SELECT number, v, body FROM lines WHERE thread = ?1 ORDER BY number", [thread.as_bytes()], |row| {
        Ok(RawLine { number: unsigned(row, 0)?, body: RawBody::read(row, 1)? })
    })
}
