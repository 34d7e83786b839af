//! `/runs`: pieces of work and what came of them.

use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::path::Path;
use crate::query::{Query, flag};
use crate::service::{Admitted, Service};
use crate::shape::Run;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use entourage_model::{RunId, RunStatus, ThreadId};
use entourage_runtime::{Page, RunFilter, RunRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Of a task, with the user whose it is.
const RUN_ID_BYTES_MAX: usize = 320;
const READ_AT_ONCE: usize = 500;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[param(format = Uuid)]
    thread: Option<String>,
    #[param(value_type = Option<crate::schema::RunStatus>)]
    status: Option<String>,
    /// Only runs that ended and whose result nobody was given.
    #[param(value_type = Option<bool>)]
    unread: Option<String>,
    #[param(value_type = Option<u16>, minimum = 1, maximum = 1000)]
    limit: Option<String>,
    /// `next` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Runs<'r> {
    runs: Vec<Run<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Runs, newest first.
#[utoipa::path(get, path = "/runs", tag = "runs", params(Wanted), responses(
    (status = 200, description = "A page of them; `next` where there are more", body = Runs),
    (status = 400, description = "A filter, limit or cursor that cannot be"),
))]
pub(crate) async fn list(Admitted(service): Admitted, Query(wanted): Query<Wanted>) -> Result<Response, Fault> {
    let cursor = Cursor::parse(wanted.limit.as_deref(), wanted.cursor.as_deref(), run_id)?;
    if let Some(after) = cursor.after() {
        // Nothing lies behind a run that does not exist.
        let row = service.runtime.run(after).await?.ok_or_else(|| Fault::bad_request("that is no cursor"))?;
        if !is_shown(&service, &row).await? {
            return Err(Fault::bad_request("that is no cursor"));
        }
    }
    let thread = wanted.thread.map(|text| text.parse::<ThreadId>()).transpose();
    let named = |text: &str| RunStatus::ALL.into_iter().find(|status| status.word() == text);
    let status = wanted.status.map(|text| named(&text).ok_or(text)).transpose();
    let filter = RunFilter {
        thread: thread.map_err(|_| Fault::bad_request("`thread` is no id of a thread"))?,
        parent: None,
        status: status.map_err(|text| Fault::bad_request(format!("`{text}` is no status of a run")))?,
        unread: flag("unread", wanted.unread.as_deref())?,
    };
    let mut rows = match &service.user {
        None => service.runtime.runs(&filter, cursor.page()).await?,
        Some(_) => of_user(&service, &filter, cursor.page()).await?,
    };
    let next = cursor.cut(&mut rows, |row| row.id.to_string());
    Ok(Json(Runs { runs: rows.iter().map(Run::from).collect(), next }).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glance {
    /// Only looks: the result stays unread.
    #[param(value_type = Option<bool>)]
    keep_unread: Option<String>,
}

/// One run. Whoever reads the result of an ended one that no thread asked for has been given it, unless told otherwise or
/// with a token that may only look.
#[utoipa::path(get, path = "/runs/{id}", tag = "runs", params(("id" = String, Path), Glance), responses(
    (status = 200, description = "The run", body = Run),
    (status = 400, description = "That is neither `true` nor `false`"),
    (status = 404, description = "There is no such run"),
))]
pub(crate) async fn show(
    Admitted(service): Admitted,
    Path(id): Path<String>,
    Query(glance): Query<Glance>,
) -> Result<Response, Fault> {
    let mut row = found(&service, &id).await?;
    let is_read = !flag("keep_unread", glance.keep_unread.as_deref())?;
    if is_read && service.read(&row).await? {
        row = found(&service, &id).await?;
    }
    Ok(Json(Run::from(&row)).into_response())
}

/// Ends a run and everything that works for it. An ended run stays as it is.
#[utoipa::path(post, path = "/runs/{id}/cancel", tag = "runs", params(("id" = String, Path)), responses(
    (status = 202, description = "The run as it is now", body = Run),
    (status = 404, description = "There is no such run"),
))]
pub(crate) async fn cancel(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    let row = found(&service, &id).await?;
    service.runtime.cancel(&row.id).await?;
    let row = found(&service, &id).await?;
    Ok((StatusCode::ACCEPTED, Json(Run::from(&row))).into_response())
}

async fn found(service: &Service, id: &str) -> Result<RunRow, Fault> {
    let id = run_id(id).ok_or_else(|| Fault::not_found("run"))?;
    let row = service.runtime.run(&id).await?.ok_or_else(|| Fault::not_found("run"))?;
    if is_shown(service, &row).await? { Ok(row) } else { Err(Fault::not_found("run")) }
}

/// A run is its thread's, and a thread is its user's.
async fn is_shown(service: &Service, row: &RunRow) -> Result<bool, Fault> {
    if service.user.is_none() {
        return Ok(true);
    }
    let thread = service.runtime.thread(row.thread).await?;
    Ok(thread.is_some_and(|thread| service.shows(thread.user_id.as_deref())))
}

/// The page of a user's runs: the store's pages are read until it is full or there are no more.
async fn of_user(service: &Service, filter: &RunFilter, page: Page<RunId>) -> Result<Vec<RunRow>, Fault> {
    let (mut rows, mut after) = (Vec::new(), page.after);
    loop {
        let read = service.runtime.runs(filter, Page { after, limit: READ_AT_ONCE }).await?;
        let is_last = read.len() < READ_AT_ONCE;
        after = read.last().map(|row| row.id.clone());
        for row in read {
            if rows.len() < page.limit && is_shown(service, &row).await? {
                rows.push(row);
            }
        }
        if is_last || rows.len() == page.limit {
            return Ok(rows);
        }
    }
}

/// What can be the id of a run: a short text. Clients of the task protocol choose theirs.
fn run_id(text: &str) -> Option<RunId> {
    let fits = !text.is_empty() && text.len() <= RUN_ID_BYTES_MAX && !text.contains('\0');
    fits.then(|| RunId::from(text))
}
