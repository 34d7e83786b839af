//! Runs.

use crate::body::{get, limit, run_code, run_status, thread_id, thread_id_or_none, time, time_or_none};
use crate::database::Database;
use crate::text::{escape, unescape};
use crate::thread::Conditions;
use entourage_model::{Name, NewRun, RunId, ThreadId};
use entourage_store::{Page, RunFilter, RunRow, StoreError};
use serde::Serialize;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

const COLUMNS: &str = "id, thread, parent, agent, request, status, result, error, created_at, started_at,
    ended_at, delivered_at, cancel_requested";

/// A new run as functions take it.
#[derive(Debug, Serialize)]
pub(crate) struct NewRow {
    id: String,
    thread: ThreadId,
    parent: Option<ThreadId>,
    begun: bool,
    agent: String,
    request: String,
}

impl NewRow {
    pub(crate) fn new(new: &NewRun) -> Self {
        Self {
            id: escape(new.id.as_str()).into_owned(),
            thread: new.thread,
            parent: new.parent,
            begun: new.begun,
            agent: escape(new.agent.as_str()).into_owned(),
            request: escape(&new.request).into_owned(),
        }
    }
}

pub(crate) async fn one(database: &Database, id: &RunId) -> Result<Option<RunRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM @.runs WHERE id = $1");
    let rows = database.rows(&sql, &[(&escape(id.as_str()), Type::TEXT)]).await?;
    rows.first().map(row).transpose()
}

/// Newest first. Nothing lies behind a run that does not exist.
pub(crate) async fn list(
    database: &Database,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunRow>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.when(
        "(created_at, id) < (SELECT created_at, id FROM @.runs WHERE id = ?)",
        page.after.as_ref().map(|id| escape(id.as_str()).into_owned()),
        Type::TEXT,
    );
    conditions.when("thread = ?", filter.thread.map(ThreadId::uuid), Type::UUID);
    conditions.when("parent = ?", filter.parent.map(ThreadId::uuid), Type::UUID);
    conditions.when("status = ?", filter.status.map(run_code), Type::INT2);
    conditions.only("status IN (2, 3, 4) AND delivered_at IS NULL", filter.unread);
    let (clause, rows) = (conditions.clause(), conditions.value(limit(page.limit), Type::INT8));
    let sql = format!("SELECT {COLUMNS} FROM @.runs {clause} ORDER BY created_at DESC, id DESC LIMIT {rows}");
    database.rows(&sql, &conditions.params()).await?.iter().map(row).collect()
}

pub(crate) async fn request_cancel(database: &Database, id: &RunId) -> Result<Option<RunRow>, StoreError> {
    let sql = format!(
        "UPDATE @.runs SET cancel_requested = cancel_requested OR status NOT IN (2, 3, 4) WHERE id = $1
         RETURNING {COLUMNS}"
    );
    let rows = database.rows(&sql, &[(&escape(id.as_str()), Type::TEXT)]).await?;
    rows.first().map(row).transpose()
}

pub(crate) async fn mark_delivered(database: &Database, id: &RunId) -> Result<(), StoreError> {
    let sql = "UPDATE @.runs SET delivered_at = @.micros() WHERE id = $1 AND delivered_at IS NULL";
    database.rows(sql, &[(&escape(id.as_str()), Type::TEXT)]).await.map(drop)
}

fn row(row: &Row) -> Result<RunRow, StoreError> {
    let text = |column: usize| get::<String>(row, column).map(unescape);
    let text_or_none = |column: usize| Ok::<_, StoreError>(get::<Option<String>>(row, column)?.map(unescape));
    Ok(RunRow {
        id: RunId::from(text(0)?),
        thread: thread_id(row, 1)?,
        parent: thread_id_or_none(row, 2)?,
        agent: Name::from(text(3)?),
        request: text(4)?,
        status: run_status(row, 5)?,
        result: text_or_none(6)?,
        error: text_or_none(7)?,
        created_at: time(row, 8)?,
        started_at: time_or_none(row, 9)?,
        ended_at: time_or_none(row, 10)?,
        delivered_at: time_or_none(row, 11)?,
        cancel_requested: get(row, 12)?,
    })
}
