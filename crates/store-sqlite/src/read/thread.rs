//! Threads.

use super::Conditions;
use crate::column::{
    digest, limit, thread_code, thread_id, thread_id_or_none, thread_status, time, time_or_none, unsigned,
};
use crate::command::create::First;
use crate::fault::Fault;
use entourage_model::{Name, ThreadId, Usage};
use entourage_store::{Page, StoreError, ThreadFilter, ThreadRow};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

const COLUMNS: &str = "id, parent, root, depth, agent, bundle, status, user_id, created_at, terminated_at,
    input_tokens, output_tokens, steps, seq, attempts, epoch, wake_at, tags";

/// Ready, running or waiting.
const UNSETTLED: &str = "status IN (1, 2, 3)";

pub(crate) fn one(connection: &Connection, id: ThreadId) -> Result<Option<ThreadRow>, Fault> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM threads WHERE id = ?1"))?;
    let row = query.query_row([id.as_bytes()], thread_row).optional()?;
    row.map(RawThread::decode).transpose()
}

/// What a key for root threads was used for.
pub(crate) fn first_of(connection: &Connection, key: &str) -> Result<Option<First>, Fault> {
    let mut query = connection.prepare_cached(First::SQL)?;
    Ok(query.query_row([key], First::read).optional()?)
}

/// Newest first: ids begin with the time.
pub(crate) fn list(
    connection: &Connection,
    filter: &ThreadFilter,
    page: Page<ThreadId>,
) -> Result<Vec<ThreadRow>, Fault> {
    let mut conditions = Conditions::default();
    conditions.when("id < ?", page.after.map(|id| *id.as_bytes()));
    // A thread shares its root with its parent, and only the root has an index.
    conditions.when("root = (SELECT root FROM threads WHERE id = ?)", filter.parent.map(|id| *id.as_bytes()));
    conditions.when("parent = ?", filter.parent.map(|id| *id.as_bytes()));
    conditions.when("root = ?", filter.root.map(|id| *id.as_bytes()));
    conditions.when("agent = ?", filter.agent.as_ref().map(|name| name.as_str().to_owned()));
    conditions.when("status = ?", filter.status.map(thread_code));
    conditions.when("user_id = ?", filter.user_id.clone());
    conditions.when("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", filter.tag.clone());
    conditions.only("parent IS NULL", filter.roots);
    conditions.only(UNSETTLED, filter.unsettled);
    let rows = limit(page.limit);
    let sql = format!("SELECT {COLUMNS} FROM threads {} ORDER BY id DESC LIMIT {rows}", conditions.clause());
    let mut query = connection.prepare(&sql)?;
    let rows = query.query_map(params_from_iter(conditions.values()), thread_row)?;
    rows.map(|row| row?.decode()).collect()
}

struct RawThread {
    row: ThreadRow,
    tags: String,
}

impl RawThread {
    fn decode(self) -> Result<ThreadRow, Fault> {
        let tags = serde_json::from_str(&self.tags).map_err(|fault| StoreError::Corrupt(fault.to_string()))?;
        Ok(ThreadRow { tags, ..self.row })
    }
}

fn thread_row(row: &Row<'_>) -> rusqlite::Result<RawThread> {
    let usage =
        Usage { input_tokens: unsigned(row, 10)?, output_tokens: unsigned(row, 11)?, steps: unsigned(row, 12)? };
    let tags = row.get(17)?;
    let row = ThreadRow {
        id: thread_id(row, 0)?,
        parent: thread_id_or_none(row, 1)?,
        root: thread_id(row, 2)?,
        depth: row.get(3)?,
        agent: Name::from(row.get::<_, String>(4)?),
        bundle: digest(row, 5)?,
        status: thread_status(row, 6)?,
        user_id: row.get(7)?,
        tags: Vec::new(),
        created_at: time(row, 8)?,
        terminated_at: time_or_none(row, 9)?,
        usage,
        seq: unsigned(row, 13)?,
        attempts: row.get(14)?,
        epoch: unsigned(row, 15)?,
        wake_at: time_or_none(row, 16)?,
    };
    Ok(RawThread { row, tags })
}
