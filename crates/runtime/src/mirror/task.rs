//! The tasks of one thread as AgentScope keeps them: `agents/<agent>/tasks/<session>.json` in the project.

use super::{Folder, PAGE, blocking};
use crate::runtime::{Inner, RuntimeError};
use entourage_engine::{ThreadState, agent_id, tasks};
use entourage_model::{Digest, Event, Name, Remote, RunId, RunStatus, ThreadId, Timestamp};
use entourage_store::{Page, RunFilter, RunRow};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// How tasks of other servers are spoken of.
const TRANSPORT: &str = "agent-protocol";

/// The list of one thread's tasks.
#[derive(Debug)]
pub(super) struct TaskList {
    thread: ThreadId,
    agent: Name,
    session: String,
    bundle: Digest,
    runs: Vec<RunId>,
}

impl TaskList {
    /// Nothing for a thread without tasks.
    pub(super) fn of(state: &ThreadState) -> Option<Self> {
        let runs: Vec<RunId> = tasks(state).map(|(run, _)| run.clone()).collect();
        let (agent, bundle) = (state.agent.clone(), state.started.bundle);
        (!runs.is_empty()).then_some(Self { thread: state.id(), agent, session: session_of(state), bundle, runs })
    }
}

fn session_of(state: &ThreadState) -> String {
    let id = state.id();
    if state.started.parent.is_some() { format!("sub-{id}") } else { id.to_string() }
}

fn file(agent: &Name, session: &str) -> String {
    format!("agents/{}/tasks/{session}.json", agent_id(agent))
}

/// Where the tasks of a thread may be shown: it may have been handed over.
pub(super) fn files_of(state: &ThreadState) -> [String; 2] {
    [&state.started.agent, &state.agent].map(|agent| file(agent, &session_of(state)))
}

/// Whether an event changes what is known of tasks.
pub(super) fn is_told(event: &Event) -> bool {
    match event {
        Event::ChildStarted(_)
        | Event::ChildAsked { .. }
        | Event::ChildReleased { .. }
        | Event::ChildEnded { .. }
        | Event::ChildCancelled { .. }
        | Event::ChildTerminated { .. }
        | Event::RunDismissed { .. }
        | Event::RunRead { .. } => true,
        Event::Posted(posted) => posted.delivers.is_some(),
        _ => false,
    }
}

/// Puts the file in place, unless it says all that already. Whoever deletes a thread takes its file away afterwards; a
/// file that comes behind that is taken away here.
pub(super) async fn write(inner: &Inner, folder: Folder, list: TaskList) -> Result<(), RuntimeError> {
    let rows = rows(inner, list.thread).await?;
    let records = list.runs.iter().filter_map(|run| rows.get(run));
    let team = inner.teams.load(list.bundle).await?;
    let remote = |row: &RunRow| team.agent(&row.agent).and_then(|agent| agent.remote.as_ref());
    let records = records.map(|row| (row.id.to_string(), record(&list, row, remote(row))));
    let records: Map<String, Value> = records.collect();
    let bytes = serde_json::to_vec_pretty(&records).map_err(|fault| RuntimeError::Broken(fault.to_string()))?;
    let file = file(&list.agent, &list.session);
    let (place, shown) = (folder.clone(), file.clone());
    let written =
        blocking(
            move || {
                if place.read(&shown)?.as_ref() == Some(&bytes) { Ok(()) } else { place.replace(&shown, &bytes) }
            },
        );
    written.await.map_err(|fault| RuntimeError::Broken(fault.to_string()))?;
    if inner.store.thread(list.thread).await?.is_none() {
        let removed = blocking(move || folder.remove_file(&file));
        removed.await.map_err(|fault| RuntimeError::Broken(fault.to_string()))?;
    }
    Ok(())
}

/// Every run that the thread asked for.
async fn rows(inner: &Inner, thread: ThreadId) -> Result<HashMap<RunId, RunRow>, RuntimeError> {
    let filter = RunFilter { parent: Some(thread), ..RunFilter::default() };
    let mut rows = HashMap::new();
    let mut after = None;
    loop {
        let page = inner.store.runs(&filter, Page { after, limit: PAGE }).await?;
        after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id.clone());
        rows.extend(page.into_iter().map(|row| (row.id.clone(), row)));
        if after.is_none() {
            return Ok(rows);
        }
    }
}

/// Of another server only the address is told: what is sent with a request is nobody's business.
fn record(list: &TaskList, row: &RunRow, remote: Option<&Remote>) -> Value {
    let moments = [Some(row.created_at), row.started_at, row.ended_at, row.delivered_at];
    let mut record = json!({
        "taskId": row.id,
        "subAgentId": agent_id(&row.agent),
        "parentAgentId": agent_id(&list.agent),
        "parentSessionId": list.session,
        "subSessionId": format!("sub-{}", row.thread),
        "status": word(row.status),
        "result": row.result,
        "errorMessage": row.error,
        "cancelRequested": row.cancel_requested,
        "createdAt": row.created_at.to_utc(),
        "lastUpdatedAt": moments.into_iter().flatten().max().map(Timestamp::to_utc),
        "deliveredAt": row.delivered_at.map(Timestamp::to_utc),
        "transportType": remote.map(|_| TRANSPORT),
        "remoteBaseUrl": remote.map(Remote::shown_url),
    });
    if let Value::Object(fields) = &mut record {
        fields.retain(|_, value| !value.is_null());
    }
    record
}

fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "PENDING",
        RunStatus::Running | RunStatus::Interrupted => "RUNNING",
        RunStatus::Done => "COMPLETED",
        RunStatus::Failed => "FAILED",
        RunStatus::Cancelled => "CANCELLED",
    }
}
