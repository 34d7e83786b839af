//! What happened, by thread and by tree, and what waits to happen.

use crate::body::{body, get, limit, signed, thread_id, time, unsigned};
use crate::database::Database;
use crate::text::unescape;
use entourage_model::ThreadId;
use entourage_store::{DeadLetter, QueueLine, StoreError, StoredEvent};
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

/// How long a transaction that does not end may hide what is durable; then it is left to the next look.
const HIDDEN_MAX: Duration = Duration::from_secs(5);
/// How long the first pause between two looks is; each is twice as long as the one before, up to the last.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(20);

pub(crate) async fn lines(database: &Database, thread: ThreadId, after: u64) -> Result<Vec<QueueLine>, StoreError> {
    let sql = "SELECT number, v, body FROM @.lines WHERE thread = $1 AND number > $2 ORDER BY number";
    let rows = database.rows(sql, &[(&thread.uuid(), Type::UUID), (&signed(after), Type::INT8)]).await?;
    rows.iter().map(|row| Ok(QueueLine { number: unsigned(row, 0)?, item: body(row, 1)? })).collect()
}

pub(crate) async fn of_thread(
    database: &Database,
    thread: ThreadId,
    after: u64,
    rows: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = "SELECT thread, seq, position, epoch, v, body FROM @.events
               WHERE thread = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    events(database, sql, thread, (after, rows)).await
}

/// Everything that was durable when it was asked for. What lies behind a transaction that is still open is waited for:
/// whoever follows a tree is told of its own tree's commits only, and those of another may be what hides an event.
pub(crate) async fn of_tree(
    database: &Database,
    root: ThreadId,
    after: u64,
    rows: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    // The function looks with snapshots of its own, each newer than the one that the last row is found with.
    let sql = "SELECT thread, seq, position, epoch, v, body FROM @.tree_events($1, $2, $3)
               UNION ALL
               SELECT NULL, NULL, coalesce(max(position), 0), NULL, NULL, NULL FROM @.events
               WHERE root = $1 AND position > $2";
    let params: [crate::database::Param<'_>; 3] =
        [(&root.uuid(), Type::UUID), (&signed(after), Type::INT8), (&limit(rows), Type::INT8)];
    let (begin, mut pause, mut wanted) = (Instant::now(), PAUSE, None);
    loop {
        let found = database.rows(sql, &params).await?;
        let (last, shown) = found.split_last().ok_or_else(|| StoreError::Corrupt("a tree has no end".to_owned()))?;
        let durable = *wanted.get_or_insert(unsigned(last, 2)?);
        let events: Vec<StoredEvent> = shown.iter().map(event).collect::<Result<_, _>>()?;
        let reached = events.last().map_or(after, |event| event.position);
        if events.len() >= rows || reached >= durable || begin.elapsed() >= HIDDEN_MAX {
            return Ok(events);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// The last position of each tree that has one.
pub(crate) async fn heads(database: &Database, roots: &[ThreadId]) -> Result<Vec<(ThreadId, u64)>, StoreError> {
    let sql = "SELECT r.root, l.position FROM unnest($1) AS r(root) CROSS JOIN LATERAL
                 (SELECT position FROM @.events WHERE root = r.root ORDER BY position DESC LIMIT 1) l";
    let roots: Vec<Uuid> = roots.iter().map(|root| root.uuid()).collect();
    let rows = database.rows(sql, &[(&roots, Type::UUID_ARRAY)]).await?;
    rows.iter().map(|row| Ok((thread_id(row, 0)?, unsigned(row, 1)?))).collect()
}

async fn events(
    database: &Database,
    sql: &str,
    of: ThreadId,
    (after, rows): (u64, usize),
) -> Result<Vec<StoredEvent>, StoreError> {
    let params: [crate::database::Param<'_>; 3] =
        [(&of.uuid(), Type::UUID), (&signed(after), Type::INT8), (&limit(rows), Type::INT8)];
    database.rows(sql, &params).await?.iter().map(event).collect()
}

fn event(row: &Row) -> Result<StoredEvent, StoreError> {
    Ok(StoredEvent {
        thread: thread_id(row, 0)?,
        seq: unsigned(row, 1)?,
        position: unsigned(row, 2)?,
        epoch: unsigned(row, 3)?,
        event: body(row, 4)?,
    })
}

/// In the order of their burial.
pub(crate) async fn dead_letters(database: &Database, thread: Option<ThreadId>) -> Result<Vec<DeadLetter>, StoreError> {
    let sql = "SELECT thread, number, at, reason, v, body FROM @.dead_letters
               WHERE $1::uuid IS NULL OR thread = $1 ORDER BY id";
    let rows = database.rows(sql, &[(&thread.map(ThreadId::uuid), Type::UUID)]).await?;
    let letter = |row: &Row| {
        Ok(DeadLetter {
            thread: thread_id(row, 0)?,
            number: unsigned(row, 1)?,
            at: time(row, 2)?,
            reason: unescape(get(row, 3)?),
            item: body(row, 4)?,
        })
    };
    rows.iter().map(letter).collect()
}
