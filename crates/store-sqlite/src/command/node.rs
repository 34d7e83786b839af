//! Processes: who lives, and what becomes of the threads of those who do not.

use super::Command;
use crate::session::Session;
use entourage_model::NodeId;
use entourage_store::{Lease, NODE_LIFE};

#[derive(Debug)]
pub(crate) struct Register(pub(crate) NodeId);

impl Command for Register {
    type Answer = ();

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        session.execute(
            "INSERT OR REPLACE INTO nodes (id, expires_at, dead) VALUES (?1, ?2, 0)",
            (self.0.as_bytes(), session.now.after(NODE_LIFE).0),
        )?;
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Heartbeat(pub(crate) NodeId);

impl Command for Heartbeat {
    /// Whether the node lives.
    type Answer = bool;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<bool> {
        let sql = "UPDATE nodes SET expires_at = ?2 WHERE id = ?1 AND dead = 0";
        Ok(session.execute(sql, (self.0.as_bytes(), session.now.after(NODE_LIFE).0))? > 0)
    }
}

#[derive(Debug)]
pub(crate) struct Sweep;

impl Command for Sweep {
    /// How many threads are ready again.
    type Answer = usize;

    /// A thread whose owner was never registered is swept as well: nobody could ever notice that owner's death.
    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<usize> {
        session.execute("UPDATE nodes SET dead = 1 WHERE dead = 0 AND expires_at < ?1", [session.now.0])?;
        session.execute(
            "UPDATE threads INDEXED BY threads_owner SET status = 1, epoch = epoch + 1, owner = NULL, ready_at = ?1
             WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM nodes WHERE dead = 0)",
            [session.now.0],
        )
    }
}

#[derive(Debug)]
pub(crate) struct Release(pub(crate) Lease);

impl Command for Release {
    type Answer = ();

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        let Lease { thread, node, epoch } = self.0;
        session.execute(
            "UPDATE threads SET status = 1, owner = NULL, ready_at = ?4, attempts = max(attempts - 1, 0)
             WHERE id = ?1 AND owner = ?2 AND epoch = ?3",
            (thread.as_bytes(), node.as_bytes(), crate::column::signed(epoch), session.now.0),
        )?;
        Ok(())
    }
}
