//! The `dex` dialect: profiles that are run as subagents, and a task list whose entries can be given to them.
//!
//! Every run is one thread and one conversation, from its request to its result. What a run came to is read from the
//! store when it is asked for, so that no conversation of a child lies in its parent's context.

mod bound;
mod call;
mod envelope;
mod profile;
mod report;
mod task;
mod tools;

pub use bound::{Bounds, fit};
pub use envelope::{envelope, word};
pub use profile::profile_id;
pub(crate) use report::fault as report_fault;
pub(crate) use tools::tools;

use super::{Order, Refusal, Told, Wish};
use crate::offer::World;
use crate::state::{CallState, ThreadState};
use call::Call;
use entourage_model::{ChildLink, Ending, Name, Outcome, RunId, RunStatus, TaskItem, ToolCall, one_line};
use envelope::JUDGE;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// How much of a result lies in a message or in the task list; all of it is read by `subagent`.
const SUMMARY_BYTES_MAX: usize = 4 << 10;

const SKILL: &str = include_str!("dex/skill.md");
const REPORT: &str = include_str!("dex/report.md");
const VALIDATION: &str = include_str!("dex/validation.md");

/// What a call of this dialect changes.
pub(crate) enum Deed {
    /// The run stops until it is resumed.
    Interrupt {
        run: RunId,
    },
    Resume {
        run: RunId,
        message: Option<String>,
        background: bool,
    },
    /// The call waits until none of these runs is at work.
    Join {
        runs: Vec<RunId>,
    },
    /// The task list changes, and the call is answered with this.
    Save {
        item: Box<TaskItem>,
        answer: String,
    },
    /// These tasks are given to profiles, and worked on from now on where there is an order.
    Assign {
        pieces: Vec<Piece>,
        form: Form,
    },
}

/// A task and the run that is to be started for it.
pub(crate) struct Piece {
    pub(crate) item: TaskItem,
    pub(crate) order: Option<Order<'static>>,
}

/// How a call that gives tasks away is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As one task.
    Task,
    /// As a list of assignments.
    Assignments,
}

/// Whether a call of this name may be performed by looking something up.
pub(crate) fn looks(tool: &Name) -> bool {
    [tools::SUBAGENT, tools::JOIN].contains(&tool.as_str())
}

/// What the call wants, where it is one of this dialect.
pub(crate) fn interpret(
    world: &World<'_>,
    state: &ThreadState,
    call: &ToolCall,
) -> Option<Result<Wish<'static>, Refusal>> {
    if !is_open(world, state) || !tools::NAMES.contains(&call.name.as_str()) {
        return None;
    }
    Some(Call { world, state, reading: reading(state, call) }.interpret(call))
}

/// The run that the call waited for, where it has come to rest and is to be read.
fn reading(state: &ThreadState, call: &ToolCall) -> Option<RunId> {
    let session = state.session.as_ref()?;
    let CallState::Reading(child) = session.calls[session.open_call(&call.id)?].state else { return None };
    state.delegated.iter().find(|(_, delegated)| delegated.child == child).map(|(run, _)| run.clone())
}

/// A thread that lies as deep as threads may has nobody to give work to.
pub(crate) fn is_open(world: &World<'_>, state: &ThreadState) -> bool {
    state.started.depth < world.limits.depth
}

/// The skill, and the profiles there are.
pub(crate) fn system(world: &World<'_>, state: &ThreadState) -> Option<Arc<str>> {
    if !is_open(world, state) {
        return None;
    }
    let mut text = format!("{}\n\nProfiles:", SKILL.trim_end());
    for agent in profile::all(world.team) {
        // A list has one line for each.
        _ = write!(text, "\n- `{}`: {}", profile_id(&agent.name), one_line(&agent.description));
    }
    Some(text.into())
}

/// A worker's prompt: its own words, then the shape of its report.
pub(crate) fn prompt(state: &ThreadState, own: &str) -> Arc<str> {
    let judges = profile_id(&state.started.agent) == JUDGE;
    let parts = [own, REPORT, if judges { VALIDATION } else { "" }].map(str::trim_end);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n").into()
}

/// What a call that does not wait is answered with.
pub(crate) fn accepted(told: &Told<'_>) -> String {
    let run = told.run.map(RunId::as_str);
    let profile = profile_id(&told.link.agent);
    let status = word(RunStatus::Running);
    let worker = told.link.thread;
    json!({"runId": run, "profile": profile, "status": status, "result": null, "events": [], "gatewayRunId": worker})
        .to_string()
}

/// What is queued to a parent that did not wait for the run.
pub(crate) fn news(link: &ChildLink, run: &RunId, ending: &Ending) -> String {
    let status = word(ending.outcome.run_status());
    let profile = profile_id(&link.agent);
    format!("Subagent run {run} (profile {profile}) is {status}:\n\n{}", summary(run, ending))
}

/// The result in short, with where the rest is.
pub(crate) fn summary(run: &RunId, ending: &Ending) -> String {
    let told = match ending.outcome {
        Outcome::Done => serde_json::from_str::<Value>(&ending.text).ok(),
        Outcome::Failed | Outcome::Cancelled | Outcome::Unknown => None,
    };
    let told = told.as_ref().and_then(|envelope| envelope["decision"]["summary"].as_str());
    let text = told.unwrap_or(&ending.text);
    if text.len() <= SUMMARY_BYTES_MAX {
        return text.to_owned();
    }
    let shown = text.floor_char_boundary(SUMMARY_BYTES_MAX);
    let how = json!({"action": "result", "runId": run});
    format!("{}\n[cut: {shown} of {} bytes shown; read all of it with `subagent` {how}]", &text[..shown], text.len())
}
