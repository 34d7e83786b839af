//! The canonical result: what the runtime saw, around what the worker said.

use super::profile_id;
use super::report::{self, LISTS};
use crate::state::ThreadState;
use entourage_model::{RunId, RunStatus, Team};
use serde_json::{Map, Value, json};

/// The only profile that may judge.
pub(super) const JUDGE: &str = "goal";

/// What dex calls a run that stands so.
pub fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "pending",
        RunStatus::Running => "running",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Done => "completed",
        RunStatus::Failed | RunStatus::Cancelled => "failed",
    }
}

/// The result of a run of this thread, which ended so: `text` is what the worker said last, or why it failed.
pub fn envelope(team: &Team, state: &ThreadState, (run, status): (&RunId, RunStatus), text: &str) -> Value {
    let agent = &state.started.agent;
    let profile = profile_id(agent);
    let title = team.agent(agent).and_then(|agent| agent.title.as_deref());
    let mut report = if status == RunStatus::Done { report::read(text) } else { None }.unwrap_or_default();
    let mut taken = |key: &str| report.remove(key);
    let said = taken("decision").unwrap_or_else(|| decision(status, text));
    let mut lists: Map<String, Value> =
        LISTS.iter().map(|key| ((*key).to_owned(), taken(key).unwrap_or_else(|| json!([])))).collect();
    let mut list = |key: &str| lists.remove(key).unwrap_or_else(|| json!([]));
    let mut envelope = json!({
        "schemaVersion": 2,
        "run": {"runId": run, "profile": profile, "displayName": title.unwrap_or(profile), "status": word(status)},
        "decision": said,
        "findings": list("findings"),
        "evidence": list("evidence"),
        "changes": state.doings.shown(),
        "decisions": list("decisions"),
        "risks": list("risks"),
        "nextSteps": list("nextSteps"),
    });
    if profile == JUDGE {
        envelope["validation"] = report.remove("validation").unwrap_or_else(|| json!({"status": "unknown"}));
    }
    envelope
}

/// Of a worker that said no more than a text. Whether the task is done is not for it to say.
fn decision(status: RunStatus, text: &str) -> Value {
    let outcome = if status == RunStatus::Done { "reported" } else { word(status) };
    json!({"outcome": outcome, "summary": text, "confidence": "unknown"})
}
