//! What happened, by thread and by tree, and what waits to happen.

use crate::body::{RawBody, RawLine};
use crate::column::{limit, signed, thread_id, time, unsigned};
use crate::fault::Fault;
use entourage_model::ThreadId;
use entourage_store::{DeadLetter, QueueLine, StoredEvent};
use rusqlite::{Connection, Row, Statement, params};

/// How many events of all threads are looked through for those of one tree, rather than the tree's own index.
const SCAN_MAX: i64 = 4096;

pub(crate) fn lines(connection: &Connection, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, Fault> {
    let mut query = connection
        .prepare_cached("SELECT number, v, body FROM lines WHERE thread = ?1 AND number > ?2 ORDER BY number")?;
    let line = |row: &Row<'_>| Ok(RawLine { number: unsigned(row, 0)?, body: RawBody::read(row, 1)? });
    let lines = query.query_map((thread.as_bytes(), signed(after)), line)?;
    lines.map(|line| Ok(line?.decode()?)).collect()
}

pub(crate) fn of_thread(
    connection: &Connection,
    thread: ThreadId,
    after: u64,
    rows: usize,
) -> Result<Vec<StoredEvent>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT thread, seq, position, epoch, v, body FROM events WHERE thread = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    events(&mut query, params![thread.as_bytes(), signed(after), limit(rows)])
}

/// A reader who keeps up finds the newest events at the end of the journal; one who starts late, or whose tree has
/// been quiet, is better served by the index of each of the tree's threads.
pub(crate) fn of_tree(
    connection: &Connection,
    root: ThreadId,
    after: u64,
    rows: usize,
) -> Result<Vec<StoredEvent>, Fault> {
    let mut last = connection.prepare_cached("SELECT ifnull(max(position), 0) FROM events")?;
    let behind = last.query_row([], |row| row.get::<_, i64>(0))?.saturating_sub(signed(after));
    let mut query = connection.prepare_cached(if behind <= SCAN_MAX {
        "SELECT thread, seq, position, epoch, v, body FROM events NOT INDEXED
         WHERE position > ?2 AND thread IN (SELECT id FROM threads WHERE root = ?1) ORDER BY position LIMIT ?3"
    } else {
        "SELECT thread, seq, position, epoch, v, body FROM events WHERE position IN (
           SELECT e.position FROM threads t CROSS JOIN events e INDEXED BY events_thread ON e.thread = t.id
           WHERE t.root = ?1 AND e.position > ?2 ORDER BY e.position LIMIT ?3)
         ORDER BY position"
    })?;
    events(&mut query, params![root.as_bytes(), signed(after), limit(rows)])
}

fn events(query: &mut Statement<'_>, params: impl rusqlite::Params) -> Result<Vec<StoredEvent>, Fault> {
    let mut rows = query.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (thread, seq, position) = (thread_id(row, 0)?, unsigned(row, 1)?, unsigned(row, 2)?);
        let (epoch, event) = (unsigned(row, 3)?, RawBody::read(row, 4)?.event()?);
        found.push(StoredEvent { thread, seq, position, epoch, event });
    }
    Ok(found)
}

/// In the order of their burial.
pub(crate) fn dead_letters(connection: &Connection, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, Fault> {
    let mut query = connection.prepare_cached(
        "SELECT thread, number, at, reason, v, body FROM dead_letters WHERE ?1 IS NULL OR thread = ?1 ORDER BY id",
    )?;
    let mut rows = query.query([thread.as_ref().map(ThreadId::as_bytes)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(DeadLetter {
            thread: thread_id(row, 0)?,
            number: unsigned(row, 1)?,
            at: time(row, 2)?,
            reason: row.get(3)?,
            item: RawBody::read(row, 4)?.item()?,
        });
    }
    Ok(found)
}
