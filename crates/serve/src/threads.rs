//! `/threads`: agents at work.

use crate::body::{Body, unique};
use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::glance::Glance;
use crate::path::Path;
use crate::query::{Query, flag};
use crate::service::{Admitted, Service};
use crate::shape::{Thread, ThreadWithChildren};
use crate::{key, label, schema};
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use entourage_model::{Name, RunId, ThreadId, ThreadStatus, Timestamp};
use entourage_runtime::{NewRoot, Outgoing, RootKey, ThreadFilter, ThreadRow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// How long a request may wait for a thread.
const WAIT_SECONDS_MAX: f64 = 600.0;
const WAIT_SECONDS: f64 = 30.0;
const TAGS_MAX: usize = 100;
/// Of the UUIDs that threads have.
const ID_VERSION: usize = 7;

/// A thread to be made.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    agent: String,
    /// Without one the thread waits for the first message.
    message: Option<String>,
    /// A new thread has no files yet, so that this is empty.
    #[serde(default)]
    attachments: Vec<String>,
    /// The thread's own variables.
    #[serde(default, deserialize_with = "unique")]
    env: BTreeMap<String, String>,
    #[serde(default)]
    tags: Vec<String>,
    user_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Created {
    #[schema(value_type = String, format = Uuid)]
    thread_id: ThreadId,
    /// Where there was a message.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    #[schema(value_type = schema::ThreadStatus)]
    status: ThreadStatus,
}

/// Makes a root thread. When this is answered, the thread and its message are durable.
#[utoipa::path(post, path = "/threads", tag = "threads", request_body = Wish,
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 256, pattern = "^[ -~]*$",
        description = "The same key and body make one thread")),
    responses(
        (status = 201, description = "It is at work, or waits for a message", body = Created),
        (status = 400, description = "The body does not fit"),
        (status = 404, description = "There is no such agent"),
        (status = 409, description = "The key was used for another request"),
        (status = 413, description = "The message is too large"),
    ),
)]
pub(crate) async fn create(
    Admitted(service): Admitted,
    headers: HeaderMap,
    Body(wish): Body<Wish>,
) -> Result<Response, Fault> {
    if !wish.attachments.is_empty() {
        return Err(Fault::bad_request("a new thread has no files that could be attached"));
    }
    check_labels(&wish)?;
    let wish = Wish { user_id: service.user.as_deref().map(str::to_owned).or(wish.user_id), ..wish };
    let keyed = |name: String| RootKey { name: service.own_name(&name), request: key::digest(&wish) };
    let key = key::given(&headers)?.map(keyed);
    let team = service.team().await;
    let variable = |(name, value): (String, String)| {
        let value = team.variable(&name, value);
        (name, value)
    };
    let variables = wish.env.into_iter().map(variable).collect();
    let root = NewRoot {
        team,
        agent: Name::from(wish.agent.as_str()),
        message: wish.message.map(Outgoing::user),
        user_id: wish.user_id,
        tags: wish.tags,
        files: Vec::new(),
        variables,
    };
    let made = match key {
        Some(key) => service.runtime.create_once(root, key).await,
        None => service.runtime.create(root).await,
    };
    let made = match made {
        Ok(made) => made,
        Err(error) => return Err(service.refusal(error).await),
    };
    service.meters.thread_created();
    // What it is at first, whatever has become of it since: a repetition gets the same answer.
    let status = if made.run.is_some() { ThreadStatus::Running } else { ThreadStatus::Idle };
    let created = Created { thread_id: made.thread, run_id: made.run, status };
    Ok((StatusCode::CREATED, Json(created)).into_response())
}

fn check_labels(wish: &Wish) -> Result<(), Fault> {
    if wish.tags.len() > TAGS_MAX {
        return Err(Fault::bad_request(format!("a thread has at most {TAGS_MAX} tags")));
    }
    let labels = wish.tags.iter().map(|tag| ("a tag", tag));
    let labels = labels.chain(wish.user_id.iter().map(|user| (label::USER, user)));
    let mut labels = labels.chain(wish.env.keys().map(|name| (label::VARIABLE, name)));
    labels.try_for_each(|(what, text)| label::check(what, text))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    agent: Option<String>,
    #[param(value_type = Option<schema::ThreadStatus>)]
    status: Option<String>,
    #[param(format = Uuid)]
    parent: Option<String>,
    tag: Option<String>,
    /// Only threads of the tree below this root, itself included.
    #[param(format = Uuid)]
    root: Option<String>,
    /// Only threads without a parent.
    #[param(value_type = Option<bool>)]
    roots: Option<String>,
    #[param(value_type = Option<u16>, minimum = 1, maximum = 1000)]
    limit: Option<String>,
    /// `next` of the page before.
    #[param(format = Uuid)]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Threads<'r> {
    threads: Vec<Thread<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Threads, newest first.
#[utoipa::path(get, path = "/threads", tag = "threads", params(Wanted), responses(
    (status = 200, description = "A page of them; `next` where there are more", body = Threads),
    (status = 400, description = "A filter, limit or cursor that cannot be"),
))]
pub(crate) async fn list(Admitted(service): Admitted, Query(wanted): Query<Wanted>) -> Result<Response, Fault> {
    // A thread that was deleted since is as good a place to go on from; an id that was never drawn here is none.
    let id = |text: &str| text.parse::<ThreadId>().ok().filter(|id| id.uuid().get_version_num() == ID_VERSION);
    let cursor = Cursor::parse(wanted.limit.as_deref(), wanted.cursor.as_deref(), id)?;
    let parent = wanted.parent.map(|text| text.parse::<ThreadId>()).transpose();
    let root = wanted.root.map(|text| text.parse::<ThreadId>()).transpose();
    let named = |text: &str| ThreadStatus::ALL.into_iter().find(|status| status.word() == text);
    let status = wanted.status.map(|text| named(&text).ok_or(text)).transpose();
    let filter = ThreadFilter {
        agent: wanted.agent.map(|agent| Name::from(agent.as_str())),
        status: status.map_err(|text| Fault::bad_request(format!("`{text}` is no status of a thread")))?,
        // Nobody asks for that from outside: a status has a name there.
        unsettled: false,
        parent: parent.map_err(|_| Fault::bad_request("`parent` is no id of a thread"))?,
        root: root.map_err(|_| Fault::bad_request("`root` is no id of a thread"))?,
        roots: flag("roots", wanted.roots.as_deref())?,
        tag: wanted.tag,
        user_id: service.user.as_deref().map(str::to_owned),
    };
    let mut rows = service.runtime.threads(&filter, cursor.page()).await?;
    let next = cursor.cut(&mut rows, |row| row.id.to_string());
    service.runtime.name_artifacts(&mut rows).await?;
    Ok(Json(Threads { threads: rows.iter().map(Thread::from).collect(), next }).into_response())
}

/// One thread, with its children as it knows them.
#[utoipa::path(get, path = "/threads/{id}", tag = "threads", params(("id" = String, Path)), responses(
    (status = 200, description = "The thread", body = ThreadWithChildren),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn show(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    let row = found(&service, &id).await?;
    shown(&service, &row).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patience {
    /// 30 unless told, at most 600.
    #[param(value_type = Option<f64>, minimum = 0)]
    timeout_seconds: Option<String>,
}

/// The thread once it is neither at work nor waits for a child, or as it is when the time is over.
#[utoipa::path(get, path = "/threads/{id}/wait", tag = "threads", params(("id" = String, Path), Patience), responses(
    (status = 200, description = "The thread", body = ThreadWithChildren),
    (status = 400, description = "A time that cannot be"),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn wait(
    Admitted(service): Admitted,
    Path(id): Path<String>,
    Query(patience): Query<Patience>,
) -> Result<Response, Fault> {
    let row = found(&service, &id).await?;
    let seconds = match patience.timeout_seconds.as_deref() {
        None => WAIT_SECONDS,
        Some(text) => text
            .parse()
            .ok()
            .filter(|seconds: &f64| *seconds >= 0.0)
            .ok_or_else(|| Fault::bad_request("`timeout_seconds` must be a number that is not negative"))?,
    };
    let time_max = Duration::from_secs_f64(seconds.min(WAIT_SECONDS_MAX));
    let settled = tokio::select! {
        settled = service.runtime.wait(row.id, time_max) => settled?,
        // A server that drains answers with what there is.
        () = service.runtime.stopping() => row,
    };
    shown(&service, &settled).await
}

/// Ends a thread with everything below it, and removes all that is known of them.
#[utoipa::path(delete, path = "/threads/{id}", tag = "threads", params(("id" = String, Path)), responses(
    (status = 204, description = "It is gone"),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn delete(Admitted(service): Admitted, Path(id): Path<String>) -> Result<StatusCode, Fault> {
    let row = found(&service, &id).await?;
    service.runtime.delete(row.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A thread that was told to end something.
#[derive(Serialize, ToSchema)]
pub(crate) struct Told {
    #[schema(value_type = String, format = Uuid)]
    thread_id: ThreadId,
    #[schema(value_type = schema::ThreadStatus)]
    status: ThreadStatus,
    #[schema(value_type = Option<i64>)]
    terminated: Option<Timestamp>,
}

/// Ends the current turn; children in the background go on. Where there is no turn, nothing happens.
#[utoipa::path(post, path = "/threads/{id}/stop", tag = "threads", params(("id" = String, Path)), responses(
    (status = 202, description = "The thread as it is now", body = Told),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn stop(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    let row = found(&service, &id).await?;
    service.runtime.stop(row.id).await?;
    told(&service, &id).await
}

/// Ends the thread and everything below it, for good. Repeating it changes nothing.
#[utoipa::path(post, path = "/threads/{id}/terminate", tag = "threads", params(("id" = String, Path)), responses(
    (status = 202, description = "The thread as it is now", body = Told),
    (status = 404, description = "There is no such thread"),
))]
pub(crate) async fn terminate(Admitted(service): Admitted, Path(id): Path<String>) -> Result<Response, Fault> {
    let row = found(&service, &id).await?;
    service.runtime.terminate(row.id).await?;
    told(&service, &id).await
}

async fn told(service: &Service, id: &str) -> Result<Response, Fault> {
    let row = found(service, id).await?;
    let told = Told { thread_id: row.id, status: row.status, terminated: row.terminated_at };
    Ok((StatusCode::ACCEPTED, Json(told)).into_response())
}

/// The thread that a path names. What cannot be an id is as unknown as one that nobody has, and as somebody else's.
pub(crate) async fn found(service: &Service, id: &str) -> Result<ThreadRow, Fault> {
    let id = id.parse::<ThreadId>().map_err(|_| Fault::not_found("thread"))?;
    let row = service.runtime.thread(id).await?.filter(|row| service.shows(row.user_id.as_deref()));
    row.ok_or_else(|| Fault::not_found("thread"))
}

async fn shown(service: &Service, row: &ThreadRow) -> Result<Response, Fault> {
    let glance = match service.glances.find(row.id, row.seq) {
        Some(glance) => glance,
        None => {
            let state = service.runtime.state(row.id).await?.ok_or_else(|| Fault::not_found("thread"))?;
            let glance = Glance { seq: state.seq, children: state.registry().collect(), agent: state.agent.clone() };
            service.glances.keep(row.id, &glance);
            glance
        }
    };
    let mut row = [row.clone()];
    service.runtime.name_artifacts(&mut row).await?;
    Ok(Json(ThreadWithChildren::new(&row[0], &glance.agent, &glance.children)).into_response())
}
