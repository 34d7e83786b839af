//! Events and items as JSON texts, and how our types lie in columns.

use entourage_model::{
    Body, Digest, Event, Item, JOURNAL_VERSION, NodeId, RunStatus, ThreadId, ThreadStatus, Timestamp,
};
use entourage_store::{QueueLine, StoreError, decode_body, encode_body};
use serde::Deserialize;
use tokio_postgres::Row;
use tokio_postgres::types::FromSqlOwned;
use uuid::Uuid;

/// The version that new bodies are written in.
pub(crate) const V: i32 = JOURNAL_VERSION as i32;

/// A row or an answer as our functions take it.
pub(crate) fn encode(row: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(row)
        .map_err(|fault| StoreError::Unavailable(format!("it cannot be written as JSON: {fault}")))
}

pub(crate) fn encode_events(events: &[Event]) -> Result<Vec<String>, StoreError> {
    events.iter().map(encode_body).collect()
}

/// A line as functions answer it: its number, the version of its body, its body.
#[derive(Debug, Deserialize)]
pub(crate) struct RawLine(pub(crate) u64, u32, String);

impl RawLine {
    pub(crate) fn decode(&self) -> Result<QueueLine, StoreError> {
        Ok(QueueLine { number: self.0, item: self.item()? })
    }

    pub(crate) fn item(&self) -> Result<Item, StoreError> {
        decode_body(self.1, self.2.as_bytes())
    }
}

/// A body of the two columns `v` and `body`, of which `column` is the first.
pub(crate) fn body<T: Body>(row: &Row, column: usize) -> Result<T, StoreError> {
    let (version, body): (i32, &str) = (get(row, column)?, row.try_get(column + 1).map_err(corrupt)?);
    decode_body(u32::try_from(version).unwrap_or(u32::MAX), body.as_bytes())
}

/// What one of our functions answered.
pub(crate) fn answer<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|fault| StoreError::Corrupt(format!("an answer cannot be read: {fault}")))
}

pub(crate) fn get<T: FromSqlOwned>(row: &Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(corrupt)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` asks for")]
fn corrupt(fault: tokio_postgres::Error) -> StoreError {
    StoreError::Corrupt(fault.to_string())
}

/// Counters never reach the sign; what does not fit is as good as endless.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(row: &Row, column: usize) -> Result<u64, StoreError> {
    let number: i64 = get(row, column)?;
    u64::try_from(number).map_err(|_| StoreError::Corrupt(format!("{number} is below zero")))
}

pub(crate) fn small(row: &Row, column: usize) -> Result<u32, StoreError> {
    let number: i32 = get(row, column)?;
    u32::try_from(number).map_err(|_| StoreError::Corrupt(format!("{number} is below zero")))
}

pub(crate) fn thread_id(row: &Row, column: usize) -> Result<ThreadId, StoreError> {
    get::<Uuid>(row, column).map(ThreadId::from_uuid)
}

pub(crate) fn thread_id_or_none(row: &Row, column: usize) -> Result<Option<ThreadId>, StoreError> {
    Ok(get::<Option<Uuid>>(row, column)?.map(ThreadId::from_uuid))
}

pub(crate) fn node(id: Option<NodeId>) -> Option<Uuid> {
    id.map(NodeId::uuid)
}

pub(crate) fn time(row: &Row, column: usize) -> Result<Timestamp, StoreError> {
    get(row, column).map(Timestamp)
}

pub(crate) fn time_or_none(row: &Row, column: usize) -> Result<Option<Timestamp>, StoreError> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp))
}

pub(crate) fn digest(row: &Row, column: usize) -> Result<Digest, StoreError> {
    let bytes: &[u8] = row.try_get(column).map_err(corrupt)?;
    let bytes = bytes.try_into().map_err(|_| StoreError::Corrupt("a digest is not 32 bytes long".to_owned()))?;
    Ok(Digest::from_bytes(bytes))
}

/// Without its `sha256:`, as functions take it.
pub(crate) fn hex(digest: Digest) -> String {
    digest.to_string().split_off("sha256:".len())
}

pub(crate) fn from_hex(hex: &str) -> Result<Digest, StoreError> {
    format!("sha256:{hex}").parse().map_err(|_| StoreError::Corrupt(format!("`{hex}` is no digest")))
}

/// The numbers are part of the schema; the partial indexes spell them out.
pub(crate) fn thread_code(status: ThreadStatus) -> i16 {
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

pub(crate) fn thread_status(row: &Row, column: usize) -> Result<ThreadStatus, StoreError> {
    let code: i16 = get(row, column)?;
    let found = ThreadStatus::ALL.into_iter().find(|status| thread_code(*status) == code);
    found.ok_or_else(|| StoreError::Corrupt(format!("{code} is no status")))
}

pub(crate) fn run_code(status: RunStatus) -> i16 {
    match status {
        RunStatus::Pending => 0,
        RunStatus::Running => 1,
        RunStatus::Done => 2,
        RunStatus::Failed => 3,
        RunStatus::Cancelled => 4,
        RunStatus::Interrupted => 5,
    }
}

pub(crate) fn run_status(row: &Row, column: usize) -> Result<RunStatus, StoreError> {
    let code: i16 = get(row, column)?;
    let found = RunStatus::ALL.into_iter().find(|status| run_code(*status) == code);
    found.ok_or_else(|| StoreError::Corrupt(format!("{code} is no status")))
}
