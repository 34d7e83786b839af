//! Runs.

use super::Conditions;
use crate::column::{limit, run_code, run_status, thread_id, thread_id_or_none, time, time_or_none};
use crate::fault::Fault;
use entourage_model::{Name, RunId};
use entourage_store::{Page, RunFilter, RunRow};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

pub(crate) const COLUMNS: &str = "id, thread, parent, agent, request, status, result, error, created_at, started_at,
    ended_at, delivered_at, cancel_requested";

pub(crate) fn one(connection: &Connection, id: &RunId) -> Result<Option<RunRow>, Fault> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?;
    Ok(query.query_row([id.as_str()], run_row).optional()?)
}

/// Newest first. Nothing lies behind a run that does not exist.
pub(crate) fn list(connection: &Connection, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunRow>, Fault> {
    let mut conditions = Conditions::default();
    conditions.when(
        "(created_at, id) < (SELECT created_at, id FROM runs WHERE id = ?)",
        page.after.as_ref().map(|id| id.as_str().to_owned()),
    );
    conditions.when("thread = ?", filter.thread.map(|id| *id.as_bytes()));
    conditions.when("parent = ?", filter.parent.map(|id| *id.as_bytes()));
    conditions.when("status = ?", filter.status.map(run_code));
    conditions.only("status IN (2, 3, 4) AND delivered_at IS NULL", filter.unread);
    let rows = limit(page.limit);
    let clause = conditions.clause();
    let sql = format!("SELECT {COLUMNS} FROM runs {clause} ORDER BY created_at DESC, id DESC LIMIT {rows}");
    let mut query = connection.prepare(&sql)?;
    let rows = query.query_map(params_from_iter(conditions.values()), run_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: RunId::from(row.get::<_, String>(0)?),
        thread: thread_id(row, 1)?,
        parent: thread_id_or_none(row, 2)?,
        agent: Name::from(row.get::<_, String>(3)?),
        request: row.get(4)?,
        status: run_status(row, 5)?,
        result: row.get(6)?,
        error: row.get(7)?,
        created_at: time(row, 8)?,
        started_at: time_or_none(row, 9)?,
        ended_at: time_or_none(row, 10)?,
        delivered_at: time_or_none(row, 11)?,
        cancel_requested: row.get(12)?,
    })
}
