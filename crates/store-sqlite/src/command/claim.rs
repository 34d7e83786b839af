//! Taking up what is ready or due, longest waiting first.

use super::Command;
use super::line::{RawClaim, waiting};
use crate::column::{digest, limit, thread_id, time, unsigned};
use crate::session::Session;
use entourage_model::{NodeId, ThreadId};
use entourage_store::{Candidate, Lease, StoreError, leave_one_suspect};

#[derive(Debug)]
pub(crate) struct TakeUp {
    pub(crate) node: NodeId,
    pub(crate) max: usize,
    /// Only of this tree.
    pub(crate) root: Option<ThreadId>,
}

impl Command for TakeUp {
    type Answer = Result<Vec<RawClaim>, StoreError>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Self::Answer> {
        let alive = "SELECT 1 FROM nodes WHERE id = ?1 AND dead = 0";
        if session.one(alive, [self.node.as_bytes()], |_| Ok(()))?.is_none() {
            return Ok(Err(StoreError::NodeDead));
        }
        let claims = self.candidates(session)?.into_iter().map(|next| self.take_up(session, next.thread));
        claims.collect::<rusqlite::Result<_>>().map(Ok)
    }
}

impl TakeUp {
    fn candidates(&self, session: &Session<'_>) -> rusqlite::Result<Vec<Candidate>> {
        let max = limit(self.max);
        let root = self.root.as_ref().map(ThreadId::as_bytes);
        let mut found = session.all(
            "SELECT ready_at, id, attempts FROM threads INDEXED BY threads_ready
             WHERE status = 1 AND (?2 IS NULL OR root = ?2) ORDER BY ready_at, id LIMIT ?1",
            (max, root),
            candidate,
        )?;
        found.extend(session.all(
            "SELECT wake_at, id, attempts FROM threads INDEXED BY threads_wake
             WHERE wake_at IS NOT NULL AND owner IS NULL AND status <> 1 AND wake_at <= ?1
               AND (?3 IS NULL OR root = ?3) ORDER BY wake_at, id LIMIT ?2",
            (session.now.0, max, root),
            candidate,
        )?);
        found.sort_unstable();
        found.truncate(self.max);
        leave_one_suspect(&mut found);
        Ok(found)
    }

    fn take_up(&self, session: &Session<'_>, thread: ThreadId) -> rusqlite::Result<RawClaim> {
        let claim = session.one(
            "UPDATE threads SET status = 2, owner = ?2, epoch = epoch + 1, attempts = attempts + 1 WHERE id = ?1
             RETURNING epoch, attempts, seq, root, bundle",
            (thread.as_bytes(), self.node.as_bytes()),
            |row| {
                Ok(RawClaim {
                    lease: Lease { thread, node: self.node, epoch: unsigned(row, 0)? },
                    attempts: row.get(1)?,
                    seq: unsigned(row, 2)?,
                    root: thread_id(row, 3)?,
                    bundle: digest(row, 4)?,
                    lines: Vec::new(),
                })
            },
        )?;
        let claim = claim.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(RawClaim { lines: waiting(session, thread)?, ..claim })
    }
}

fn candidate(row: &rusqlite::Row<'_>) -> rusqlite::Result<Candidate> {
    Ok(Candidate { since: time(row, 0)?, thread: thread_id(row, 1)?, attempts: row.get(2)? })
}
