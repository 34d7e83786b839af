//! `/tasks`: work that another runtime hands over, by the task protocol of AgentScope.
//!
//! A task is a run whose id its client has chosen. Clients of both versions of the protocol are served: the older one
//! sends texts only, the newer one a context beside them.

mod context;
pub(crate) mod events;
mod id;
mod told;

use crate::fault::Fault;
use crate::key;
use crate::query::{Query, number};
use crate::service::{Admitted, Service};
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use context::Context;
use entourage_model::{Event, Name, RunId, RunStatus, ThreadId, Timestamp};
use entourage_runtime::{NewRoot, Order, Outgoing, Page, RootKey, RunRow, RuntimeError, ThreadFilter, ThreadRow};
use id::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

const ID_BYTES_MAX: usize = 200;
/// How long `wait` waits unless told, as clients expect it.
const WAIT_SECONDS: u64 = 7200;
/// Who works on a task that names nobody.
const ANYBODY: &str = "lead";
/// The format whose protocol this is.
const OWN_FORMAT: &str = "agentscope";
const REFUSALS_MAX: usize = 1000;
/// How many threads are looked at once for the one that a task belongs to.
const PAGE: usize = 100;

/// Work to be done. Keys beyond these are ignored: versions differ.
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct Submission {
    /// Chosen by the client.
    #[serde(default)]
    #[schema(required, max_length = 200, pattern = "\\S")]
    task_id: String,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    context: Option<Value>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Task {
    task_id: String,
    /// `pending`, `running`, `success`, `error` or `cancelled`
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Why tasks were not taken at all, for as long as anybody may ask. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals(Arc<Mutex<VecDeque<Refused>>>);

/// A task that was not taken.
#[derive(Clone, Debug)]
struct Refused {
    task: RunId,
    why: String,
    at: Timestamp,
}

impl Refusals {
    fn add(&self, refused: Refused) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|earlier| earlier.task != refused.task);
        kept.truncate(REFUSALS_MAX - 1);
        kept.push_front(refused);
    }

    fn find(&self, task: &RunId) -> Option<Refused> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|refused| refused.task == *task).cloned()
    }
}

/// Takes a task. Repeating it while it runs changes nothing.
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = Submission,
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 256, pattern = "^[ -~]*$",
        description = "The same key and body are answered in the same way, also when the task has ended")),
    responses(
        (status = 200, description = "It was taken", body = Task),
        (status = 400, description = "It has no id"),
        (status = 409, description = "A task of that id has ended, or the key was used for another request"),
        (status = 413, description = "The input is too large"),
        (status = 429, description = "The conversation's queue is full"),
    ),
)]
pub(crate) async fn submit(
    Admitted(service): Admitted,
    headers: HeaderMap,
    crate::body::Body(wish): crate::body::Body<Submission>,
) -> Result<Json<Task>, Fault> {
    if wish.task_id.trim().is_empty() || wish.task_id.len() > ID_BYTES_MAX || wish.task_id.contains('\0') {
        let what = format!("`task_id` must be a text of at most {ID_BYTES_MAX} bytes without NUL");
        return Err(Fault::bad_request(what));
    }
    let run = run_id(&service, &wish.task_id);
    let key = key::given(&headers)?.map(|name| RootKey {
        name: format!("task/{}/{name}", service.user.as_deref().unwrap_or_default()),
        request: key::digest(&wish),
    });
    let agent = wish.agent_id.as_deref().map(str::trim).filter(|agent| !agent.is_empty()).unwrap_or(ANYBODY);
    let agent = Name::from(agent);
    let mut context = Context::read(wish.context.as_ref());
    context.check()?;
    let words = context.beside(wish.input.unwrap_or_default());
    let taken = Task { task_id: wish.task_id, status: "pending", result: None, error: None };
    if let Some(key) = &key
        && service.runtime.made_once(key).await?.is_some()
    {
        return Ok(Json(taken));
    }
    if let Some(known) = service.runtime.run(&run).await? {
        return match (&key, known.status.is_terminal()) {
            (Some(key), _) if !is_repeated(&service, &known, (&agent, words), key).await? => {
                Err(RuntimeError::KeyConflict.into())
            }
            (None, true) => Err(Fault::new(StatusCode::CONFLICT, "conflict", "a task of that id has ended")),
            (Some(_), _) | (None, false) => Ok(Json(taken)),
        };
    }
    if let Some(user) = &service.user {
        context.user_id = Some(user.to_string());
    }
    let denied = std::mem::take(&mut context.denied).into_iter().map(|tool| service.runtime.own_name_of(tool));
    let order = Order { run: run.clone(), denied: denied.collect(), key };
    match place(&service, (agent, words), context, order).await {
        Ok(()) => Ok(Json(taken)),
        Err(RuntimeError::NoAgent(agent)) => {
            let why = service.refusal(RuntimeError::NoAgent(agent)).await.into_message();
            service.refusals.add(Refused { task: run, why: why.clone(), at: service.runtime.now() });
            Ok(Json(Task { status: "error", error: Some(why), ..taken }))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a task that is known is what the request asks for. Only the thread of a later task of a conversation knows
/// the key; where nobody does, it is compared with the task itself.
async fn is_repeated(
    service: &Service,
    known: &RunRow,
    (agent, words): (&Name, Outgoing),
    key: &RootKey,
) -> Result<bool, RuntimeError> {
    let is_same = known.agent.plain() == agent.plain() && known.request == words.content;
    let is_asked = service.runtime.asked_once(known.thread, words, (&known.id, key.name.clone())).await?;
    Ok(is_asked || is_same)
}

/// Gives the work to the conversation that it belongs to, or to a new one.
async fn place(
    service: &Service,
    (agent, words): (Name, Outgoing),
    context: Context,
    order: Order,
) -> Result<(), RuntimeError> {
    let team = service.team().await;
    // Where an agent of another format has the plain name, the protocol knows its own.
    let own = Name::from(format!("{OWN_FORMAT}/{agent}"));
    let agent = if team.agent(&own).is_some() { own } else { agent };
    if let Some(known) = conversation(service, &agent, (&context, &order.denied)).await? {
        return service.runtime.ask(known, words, order).await;
    }
    let root = NewRoot {
        team,
        agent,
        message: Some(words),
        user_id: context.user_id.clone(),
        tags: context.session_tag().into_iter().collect(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    };
    service.runtime.submit(root, order).await?;
    service.meters.thread_created();
    Ok(())
}

/// The thread of an earlier task of the same conversation, where the client names one. What a thread and its children may
/// not call is settled when it is made, so that tasks with other rules are another conversation.
async fn conversation(
    service: &Service,
    agent: &Name,
    (context, denied): (&Context, &[Name]),
) -> Result<Option<ThreadId>, RuntimeError> {
    let Some(tag) = context.session_tag() else { return Ok(None) };
    let filter =
        ThreadFilter { tag: Some(tag), roots: true, user_id: context.user_id.clone(), ..ThreadFilter::default() };
    let mut after = None;
    loop {
        let page = service.runtime.threads(&filter, Page { after, limit: PAGE }).await?;
        let is_open = |row: &&ThreadRow| row.terminated_at.is_none() && row.user_id == context.user_id;
        for row in page.iter().filter(is_open) {
            if is_made_for(service, row.id, (agent, denied)).await? {
                return Ok(Some(row.id));
            }
        }
        after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id);
        if after.is_none() {
            return Ok(None);
        }
    }
}

/// Whether the thread was made for that agent, whoever it has been handed to since, and with these rules, in whichever
/// order.
async fn is_made_for(
    service: &Service,
    thread: ThreadId,
    (agent, denied): (&Name, &[Name]),
) -> Result<bool, RuntimeError> {
    let first = service.runtime.journal(thread, 0, 1).await?.into_iter().next();
    let Some(Event::Started(started)) = first.map(|stored| stored.event) else { return Ok(false) };
    let rules = |names: &[Name]| names.iter().cloned().collect::<BTreeSet<_>>();
    Ok(started.agent == *agent && rules(&started.denied) == rules(denied))
}

/// The state of a task. An unknown one is an error, but not of the request.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses(
    (status = 200, description = "The task", body = Task),
))]
pub(crate) async fn show(Admitted(service): Admitted, TaskId(id): TaskId) -> Result<Json<Task>, Fault> {
    let row = service.runtime.run(&run_id(&service, &id)).await?;
    told(&service, id, row).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Patience {
    /// 7,200 unless told; 0 waits for as long as it takes.
    #[param(value_type = Option<u64>)]
    timeout_seconds: Option<String>,
}

/// The task once it has ended.
#[utoipa::path(get, path = "/tasks/{id}/wait", tag = "tasks", params(("id" = String, Path), Patience), responses(
    (status = 200, description = "How it ended, or an error when the time is over", body = Task),
    (status = 400, description = "A time that cannot be"),
))]
pub(crate) async fn wait(
    Admitted(service): Admitted,
    TaskId(id): TaskId,
    Query(patience): Query<Patience>,
) -> Result<Json<Task>, Fault> {
    let whole = |text: &str| number(text).ok_or_else(|| Fault::bad_request("`timeout_seconds` must be a whole number"));
    let seconds = patience.timeout_seconds.as_deref().map(whole).transpose()?.unwrap_or(WAIT_SECONDS);
    let run = run_id(&service, &id);
    if service.runtime.run(&run).await?.is_none() {
        return told(&service, id, None).await;
    }
    let row = loop {
        let time = Duration::from_secs(if seconds == 0 { WAIT_SECONDS } else { seconds });
        let row = tokio::select! {
            row = service.runtime.wait_for_run(&run, time) => row?,
            () = service.runtime.stopping() => {
                let what = "the server is about to end; the task goes on when it is back";
                return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what));
            }
        };
        if row.status.is_terminal() || seconds > 0 {
            break row;
        }
    };
    if !row.status.is_terminal() {
        let error = Some(format!("timeout: the task has not ended within {seconds} seconds"));
        return Ok(Json(Task { task_id: id, status: "error", result: None, error }));
    }
    told(&service, id, Some(row)).await
}

/// Ends a task. One that is unknown or has ended stays as it is.
#[utoipa::path(post, path = "/tasks/{id}/cancel", tag = "tasks", params(("id" = String, Path)), responses(
    (status = 200, description = "It is told to end"),
))]
pub(crate) async fn cancel(Admitted(service): Admitted, TaskId(id): TaskId) -> Result<StatusCode, Fault> {
    match service.runtime.cancel(&run_id(&service, &id)).await {
        Ok(()) | Err(RuntimeError::NoRun(_)) => Ok(StatusCode::OK),
        Err(error) => Err(error.into()),
    }
}

/// Goes on with a task that waits for decisions. Tools here never ask, so that no task waits for any.
#[utoipa::path(post, path = "/tasks/{id}/resume", tag = "tasks", params(("id" = String, Path)), responses(
    (status = 409, description = "It does not wait for a decision"),
))]
pub(crate) async fn resume(TaskId(_): TaskId) -> Response {
    Fault::new(StatusCode::CONFLICT, "conflict", "the task does not wait for a decision").into_response()
}

/// Whoever is told a result has been given it.
async fn told(service: &Service, task_id: String, row: Option<RunRow>) -> Result<Json<Task>, Fault> {
    let Some(row) = row else {
        let refused = service.refusals.find(&run_id(service, &task_id));
        let error = refused.map_or_else(|| "task not found".to_owned(), |refused| refused.why);
        return Ok(Json(Task { task_id, status: "error", result: None, error: Some(error) }));
    };
    service.read(&row).await?;
    let result = row.result.filter(|_| row.status == RunStatus::Done);
    let error = row.error.filter(|_| row.status == RunStatus::Failed);
    Ok(Json(Task { task_id, status: word(row.status), result, error }))
}

fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "pending",
        RunStatus::Running | RunStatus::Interrupted => "running",
        RunStatus::Done => "success",
        RunStatus::Failed => "error",
        RunStatus::Cancelled => "cancelled",
    }
}

/// Apart from the ids that runs are given here, and from those of other users' tasks.
fn run_id(service: &Service, task: &str) -> RunId {
    format!("remote_{}", service.own_name(task)).into()
}
