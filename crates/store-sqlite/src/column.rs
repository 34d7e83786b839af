//! How our types lie in columns.

use entourage_model::{Digest, NodeId, RunStatus, ThreadId, ThreadStatus, Timestamp};
use rusqlite::{Error, Row, types::Type};

/// Counters never reach the sign; what does not fit is as good as endless.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| Error::IntegralValueOutOfRange(column, number))
}

pub(crate) fn thread_id(row: &Row<'_>, column: usize) -> rusqlite::Result<ThreadId> {
    row.get(column).map(thread_of)
}

pub(crate) fn thread_id_or_none(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ThreadId>> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(thread_of))
}

pub(crate) fn node_id_or_none(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<NodeId>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(|bytes| NodeId::from_uuid(uuid::Uuid::from_bytes(bytes))))
}

fn thread_of(bytes: [u8; 16]) -> ThreadId {
    ThreadId::from_uuid(uuid::Uuid::from_bytes(bytes))
}

pub(crate) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get(column).map(Digest::from_bytes)
}

pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp)
}

pub(crate) fn time_or_none(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}

/// The numbers are part of the schema; `schema.sql` and the partial indexes spell them out.
pub(crate) fn thread_code(status: ThreadStatus) -> i64 {
    match status {
        ThreadStatus::Idle => 0,
        ThreadStatus::Ready => 1,
        ThreadStatus::Running => 2,
        ThreadStatus::Waiting => 3,
        ThreadStatus::Done => 4,
        ThreadStatus::Failed => 5,
        ThreadStatus::Terminated => 6,
    }
}

pub(crate) fn thread_status(row: &Row<'_>, column: usize) -> rusqlite::Result<ThreadStatus> {
    let code: i64 = row.get(column)?;
    ThreadStatus::ALL.into_iter().find(|status| thread_code(*status) == code).ok_or_else(|| strange(column, code))
}

/// The states between pending and the ends came later than the numbers of those: `interrupted` has the last one.
pub(crate) fn run_code(status: RunStatus) -> i64 {
    match status {
        RunStatus::Pending => 0,
        RunStatus::Running => 1,
        RunStatus::Done => 2,
        RunStatus::Failed => 3,
        RunStatus::Cancelled => 4,
        RunStatus::Interrupted => 5,
    }
}

pub(crate) fn run_status(row: &Row<'_>, column: usize) -> rusqlite::Result<RunStatus> {
    let code: i64 = row.get(column)?;
    RunStatus::ALL.into_iter().find(|status| run_code(*status) == code).ok_or_else(|| strange(column, code))
}

fn strange(column: usize, code: i64) -> Error {
    Error::FromSqlConversionFailure(column, Type::Integer, format!("{code} is no status").into())
}
