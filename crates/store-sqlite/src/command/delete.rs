//! Removing a thread with everything below it.

use super::Command;
use crate::column::{signed, thread_id, thread_id_or_none};
use crate::session::Session;
use entourage_model::ThreadId;
use std::collections::BTreeSet;

const TABLES: [&str; 8] = [
    "DELETE FROM events WHERE thread = ?1",
    "DELETE FROM lines WHERE thread = ?1",
    "DELETE FROM keys WHERE thread = ?1",
    "DELETE FROM root_keys WHERE thread = ?1",
    "DELETE FROM runs WHERE thread = ?1",
    "DELETE FROM files WHERE thread = ?1",
    "DELETE FROM dead_letters WHERE thread = ?1",
    "DELETE FROM threads WHERE id = ?1",
];

#[derive(Debug)]
pub(crate) struct Delete(pub(crate) ThreadId);

impl Command for Delete {
    type Answer = Vec<ThreadId>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Vec<ThreadId>> {
        let root = "SELECT root FROM threads WHERE id = ?1";
        let Some(root) = session.one(root, [self.0.as_bytes()], |row| thread_id(row, 0))? else {
            return Ok(Vec::new());
        };
        let gone = self.subtree(session, root)?;
        for id in &gone {
            for sql in TABLES {
                session.execute(sql, [id.as_bytes()])?;
            }
        }
        session.execute(
            "UPDATE threads SET below = max(below - ?2, 0) WHERE id = ?1",
            (root.as_bytes(), signed(gone.len() as u64)),
        )?;
        // The newest events may be among the deleted ones; their positions must not be given again.
        session
            .execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('position', ?1)", [signed(session.position)])?;
        Ok(gone.into_iter().collect())
    }
}

impl Delete {
    fn subtree(&self, session: &Session<'_>, root: ThreadId) -> rusqlite::Result<BTreeSet<ThreadId>> {
        let tree = session.all("SELECT id, parent FROM threads WHERE root = ?1", [root.as_bytes()], |row| {
            Ok((thread_id(row, 0)?, thread_id_or_none(row, 1)?))
        })?;
        let mut found = BTreeSet::from([self.0]);
        let mut unsearched = vec![self.0];
        while let Some(parent) = unsearched.pop() {
            for &(id, _) in tree.iter().filter(|(_, above)| *above == Some(parent)) {
                if found.insert(id) {
                    unsearched.push(id);
                }
            }
        }
        Ok(found)
    }
}
