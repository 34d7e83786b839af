//! Runs as tasks of the protocol: whoever has an id reads what became of it, after any restart.

use super::root;
use crate::service::Service;
use entourage_model::{RunId, RunStatus};
use entourage_runtime::{RunRow, RuntimeError};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task,
    TaskPayload, TaskStatus,
};
use serde_json::{Value, json};

/// How often a client is advised to look.
const POLL_MILLISECONDS: u64 = 1_000;
/// The tool that reads a result, so that nobody is told of it again.
const OUTPUT: &str = "task_output";

/// The run as it was begun.
fn shown(run: &RunRow) -> Task {
    let status = match run.status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => TaskStatus::Working,
        RunStatus::Done | RunStatus::Failed => TaskStatus::Completed,
        RunStatus::Cancelled => TaskStatus::Cancelled,
    };
    let changed = run.ended_at.or(run.started_at).unwrap_or(run.created_at);
    let task = Task::new(run.id.to_string(), status, run.created_at.to_utc(), changed.to_utc());
    task.with_status_message(format!("agent {}", run.agent)).with_poll_interval_ms(POLL_MILLISECONDS)
}

/// The run in the place of a result.
pub(super) fn begun(run: &RunRow) -> CallToolResponse {
    CallToolResponse::Task(CreateTaskResult::new(shown(run)))
}

/// The run of that id, if it belongs to clients of this user.
pub(super) async fn find(service: &Service, id: &str) -> Result<RunRow, ErrorData> {
    let run = service.runtime.run(&RunId::from(id)).await.map_err(broken)?;
    let arguments = JsonObject::from_iter([("task_id".to_owned(), json!(id))]);
    let home = root::home(service, &arguments).await.map_err(broken)?;
    run.filter(|_| home.is_some()).ok_or_else(|| ErrorData::invalid_params(format!("there is no task `{id}`"), None))
}

pub(super) async fn get(service: &Service, id: &str) -> Result<GetTaskResult, ErrorData> {
    let run = find(service, id).await?;
    let payload = match run.status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => TaskPayload::Working,
        RunStatus::Cancelled => TaskPayload::Cancelled,
        RunStatus::Done | RunStatus::Failed => {
            let result = result(service, &run).await.map_err(broken)?;
            let result = serde_json::to_value(result).ok().and_then(|value| value.as_object().cloned());
            TaskPayload::Completed { result: result.unwrap_or_default() }
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(shown(&run), payload)))
}

pub(super) async fn cancel(service: &Service, id: &str) -> Result<(), ErrorData> {
    let run = find(service, id).await?;
    service.runtime.cancel(&run.id).await.map_err(broken)
}

/// What a run that has ended came to, as the result of a call.
pub(super) async fn result(service: &Service, run: &RunRow) -> Result<CallToolResult, RuntimeError> {
    let content = vec![ContentBlock::text(text(service, run).await?)];
    let is_success = run.status == RunStatus::Done;
    Ok(if is_success { CallToolResult::success(content) } else { CallToolResult::error(content) })
}

/// What it came to. A subagent's is read as a client without tasks would read it.
async fn text(service: &Service, run: &RunRow) -> Result<String, RuntimeError> {
    let plain = run.result.clone().or_else(|| run.error.clone()).unwrap_or_default();
    let Some(parent) = run.parent.filter(|_| run.delivered_at.is_none()) else { return Ok(plain) };
    let arguments: Value = json!({ "task_id": run.id, "block": false });
    service.runtime.call(parent, OUTPUT.into(), arguments.to_string()).await?;
    Ok(plain)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn broken(error: RuntimeError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
