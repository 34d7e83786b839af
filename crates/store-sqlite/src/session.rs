//! What a command works with: the open transaction, the time, and the end of the journal.

use crate::column::signed;
use entourage_model::{JOURNAL_VERSION, ThreadId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Params, Row};

#[derive(Debug)]
pub(crate) struct Session<'w> {
    connection: &'w Connection,
    pub(crate) now: Timestamp,
    /// Of the last event that was ever appended.
    pub(crate) position: u64,
}

impl<'w> Session<'w> {
    pub(crate) fn new(connection: &'w Connection, now: Timestamp, position: u64) -> Self {
        Self { connection, now, position }
    }

    /// Returns how many rows were changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute(params)
    }

    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_row(params, read).optional()
    }

    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare_cached(sql)?.query_map(params, read)?.collect()
    }

    /// Appends events behind the first `seq` of a thread, written under `epoch`.
    pub(crate) fn append(
        &mut self,
        thread: ThreadId,
        (seq, epoch): (u64, u64),
        events: &[Vec<u8>],
    ) -> rusqlite::Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO events (position, thread, seq, epoch, v, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut insert = self.connection.prepare_cached(sql)?;
        let epoch = signed(epoch);
        for (seq, event) in (seq + 1..).zip(events) {
            self.position += 1;
            insert.execute((signed(self.position), thread.as_bytes(), signed(seq), epoch, JOURNAL_VERSION, event))?;
        }
        Ok(())
    }
}
