//! Runs: pending, running, ended once, delivered once.

use super::Command;
use crate::column::run_code;
use crate::read::run::{COLUMNS, run_row};
use crate::session::Session;
use entourage_model::{Ending, NewRun, RunId, ThreadId};
use entourage_store::{RunEnd, RunRow};

/// One that exists already is left alone.
pub(crate) fn insert(session: &Session<'_>, new: &NewRun) -> rusqlite::Result<()> {
    session.execute(
        "INSERT INTO runs (id, thread, parent, status, cancel_requested, created_at, agent, request, started_at)
         VALUES (?1, ?2, ?3, ?7, 0, ?4, ?5, ?6, iif(?7, ?4, NULL)) ON CONFLICT (id) DO NOTHING",
        (
            new.id.as_str(),
            new.thread.as_bytes(),
            new.parent.as_ref().map(ThreadId::as_bytes),
            session.now.0,
            new.agent.as_str(),
            &new.request,
            new.begun,
        ),
    )?;
    Ok(())
}

pub(crate) fn start(session: &Session<'_>, run: &RunId) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET status = 1, started_at = ifnull(started_at, ?2) WHERE id = ?1 AND status IN (0, 5)";
    session.execute(sql, (run.as_str(), session.now.0))?;
    Ok(())
}

pub(crate) fn interrupt(session: &Session<'_>, run: &RunId) -> rusqlite::Result<()> {
    session.execute("UPDATE runs SET status = 5 WHERE id = ?1 AND status = 1", [run.as_str()])?;
    Ok(())
}

pub(crate) fn end(session: &Session<'_>, run: &RunId, ending: &Ending) -> rusqlite::Result<()> {
    let end = RunEnd::from(ending);
    session.execute(
        "UPDATE runs SET status = ?2, result = ?3, error = ?4, ended_at = ?5
         WHERE id = ?1 AND status NOT IN (2, 3, 4)",
        (run.as_str(), run_code(end.status), end.result, end.error, session.now.0),
    )?;
    Ok(())
}

pub(crate) fn deliver(session: &Session<'_>, run: &RunId) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET delivered_at = ?2 WHERE id = ?1 AND delivered_at IS NULL";
    session.execute(sql, (run.as_str(), session.now.0))?;
    Ok(())
}

pub(crate) fn request_cancel(session: &Session<'_>, run: &RunId) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET cancel_requested = 1 WHERE id = ?1 AND status NOT IN (2, 3, 4)";
    session.execute(sql, [run.as_str()])?;
    Ok(())
}

#[derive(Debug)]
pub(crate) struct RequestCancel(pub(crate) RunId);

impl Command for RequestCancel {
    type Answer = Option<RunRow>;

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<Option<RunRow>> {
        let id = self.0.as_str();
        request_cancel(session, &self.0)?;
        session.one(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"), [id], run_row)
    }
}

#[derive(Debug)]
pub(crate) struct MarkDelivered(pub(crate) RunId);

impl Command for MarkDelivered {
    type Answer = ();

    fn run(&self, session: &mut Session<'_>) -> rusqlite::Result<()> {
        deliver(session, &self.0)
    }
}
