//! Processes: who lives, what they hold, and what becomes of it.

use crate::body::{get, signed, thread_id, unsigned};
use crate::clock::DatabaseClock;
use crate::database::Database;
use entourage_model::{NodeId, ThreadId};
use entourage_store::{Lease, StoreError};
use std::time::Duration;
use tokio_postgres::types::Type;

pub(crate) async fn register(
    database: &Database,
    clock: &DatabaseClock,
    node: NodeId,
    life: Duration,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO @.nodes (id, expires_at, dead) VALUES ($1, @.micros() + $2, false)
               ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, dead = false
               RETURNING @.micros()";
    clock.set(database.value(sql, &[(&node.uuid(), Type::UUID), (&micros(life), Type::INT8)]).await?);
    Ok(())
}

pub(crate) async fn heartbeat(
    database: &Database,
    clock: &DatabaseClock,
    node: NodeId,
    life: Duration,
) -> Result<(), StoreError> {
    let sql = "UPDATE @.nodes SET expires_at = @.micros() + $2 WHERE id = $1 AND NOT dead RETURNING @.micros()";
    let rows = database.rows(sql, &[(&node.uuid(), Type::UUID), (&micros(life), Type::INT8)]).await?;
    clock.set(get(rows.first().ok_or(StoreError::NodeDead)?, 0)?);
    Ok(())
}

/// How many threads are ready again.
pub(crate) async fn sweep(database: &Database) -> Result<usize, StoreError> {
    let swept: i64 = database.value("SELECT @.sweep()", &[]).await?;
    Ok(usize::try_from(swept).unwrap_or_default())
}

/// How many threads it gave back.
pub(crate) async fn retire(database: &Database, node: NodeId) -> Result<i64, StoreError> {
    database.value("SELECT @.retire($1)", &[(&node.uuid(), Type::UUID)]).await
}

pub(crate) async fn held(database: &Database, node: NodeId) -> Result<Vec<Lease>, StoreError> {
    let sql = "SELECT id, epoch FROM @.threads WHERE owner = $1";
    let rows = database.rows(sql, &[(&node.uuid(), Type::UUID)]).await?;
    rows.iter().map(|row| Ok(Lease { thread: thread_id(row, 0)?, node, epoch: unsigned(row, 1)? })).collect()
}

pub(crate) async fn waiting(database: &Database, node: NodeId) -> Result<Vec<(ThreadId, u64)>, StoreError> {
    let sql = "SELECT t.id, l.number FROM @.threads t CROSS JOIN LATERAL
                 (SELECT number FROM @.lines WHERE thread = t.id ORDER BY number DESC LIMIT 1) l
               WHERE t.owner = $1";
    let rows = database.rows(sql, &[(&node.uuid(), Type::UUID)]).await?;
    rows.iter().map(|row| Ok((thread_id(row, 0)?, unsigned(row, 1)?))).collect()
}

fn micros(duration: Duration) -> i64 {
    signed(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}
