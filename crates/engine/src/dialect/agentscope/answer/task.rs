//! Tasks as texts.

use super::super::asked_of;
use super::{Seen, agent_id, cut, with_files};
use crate::state::{Delegated, ThreadState};
use entourage_model::{ChildLink, Ending, Outcome, RunId, RunStatus, Timestamp};
use std::fmt::Write as _;

/// How much of what went wrong stands in the line of the status.
const LINE_BYTES_MAX: usize = 300;

/// A status in this dialect's words.
pub(in crate::dialect::agentscope) fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "pending",
        RunStatus::Running | RunStatus::Interrupted => "running",
        RunStatus::Done => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}

fn capitalised(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "Pending",
        RunStatus::Running | RunStatus::Interrupted => "Running",
        RunStatus::Done => "Completed",
        RunStatus::Failed => "Failed",
        RunStatus::Cancelled => "Cancelled",
    }
}

/// Whoever drives the thread may have lost the call that waited, and finds what it came to here.
pub(in crate::dialect::agentscope) fn listed(
    state: &ThreadState,
    wanted: Option<RunStatus>,
    is_driven: bool,
) -> String {
    let is_listed =
        |task: &Delegated| (task.background || is_driven) && wanted.is_none_or(|wanted| task.status == wanted);
    let tasks: Vec<_> = asked_of(state).filter(|(_, task)| is_listed(task)).collect();
    if tasks.is_empty() {
        let of = wanted.map(|status| format!(" with status {}", word(status))).unwrap_or_default();
        return format!("No tasks{of} are tracked in this session.");
    }
    let mut text = format!("{} tracked task(s):", tasks.len());
    for (run, task) in tasks {
        let (status, created) = (word(task.status), task.at.to_utc());
        _ = write!(text, "\n- task_id: {run}  agent: {}  status: {status}  created: {created}", task.agent);
    }
    text
}

pub(in crate::dialect::agentscope) fn cannot_cancel(run: &RunId, status: RunStatus) -> String {
    format!("task_id: {run}\nstatus: {}\nnote: it has ended already and cannot be cancelled", word(status))
}

pub(in crate::dialect::agentscope) fn cancelled(run: &RunId) -> String {
    format!("task_id: {run}\nstatus: cancelled\n\nThe task was told to stop, and its result will not be reported.")
}

/// A task whose ending is not here yet. Nobody brings it to whoever drives the thread.
pub(in crate::dialect::agentscope) fn live(run: &RunId, task: &Delegated, is_driven: bool) -> String {
    let head = head(run.as_str(), task.agent.as_str(), capitalised(task.status), task.at);
    match task.status {
        RunStatus::Cancelled => format!("{head}The task was cancelled; it has no result."),
        RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted | RunStatus::Done | RunStatus::Failed => {
            let later = if is_driven { "Look again later." } else { "Its result will be brought to you." };
            format!("{head}{} {later}", how(task.status))
        }
    }
}

/// A task whose ending has just come.
pub(super) fn told(link: &ChildLink, (run, at): (&RunId, Timestamp), ending: &Ending) -> String {
    let text = with_files(&ending.text, &ending.attachments);
    let done = ending.outcome == Outcome::Done;
    let seen = Seen {
        run,
        agent: agent_id(link),
        status: ending.outcome.run_status(),
        result: if done { Some(text.as_str()) } else { ending.partial() },
        error: (!done).then(|| ending.fault()),
        created_at: at,
    };
    ended(&seen, 0)
}

pub(super) fn ended(seen: &Seen<'_>, from: usize) -> String {
    let run = seen.run.as_str();
    let status = match (seen.status, seen.error) {
        // One line, and no long one: what went wrong follows.
        (RunStatus::Failed, Some(error)) => format!("Failed: {}", beginning(error)),
        (status, _) => capitalised(status).to_owned(),
    };
    let mut text = head(run, seen.agent, &status, seen.created_at);
    match (seen.status, seen.result, seen.error) {
        (RunStatus::Done, Some(result), _) => _ = write!(text, "Result:\n{}", cut(result, from, run)),
        (RunStatus::Failed, None, error) => {
            _ = write!(text, "Error:\n{}", cut(error.unwrap_or_default(), from, run));
        }
        (RunStatus::Failed, Some(partial), error) => {
            let partial = cut(partial, from, run);
            _ = write!(text, "Error:\n{}\n\nPartial result:\n{partial}", beginning(error.unwrap_or_default()));
        }
        (RunStatus::Cancelled, ..) => text.push_str("The task was cancelled; it has no result."),
        (RunStatus::Done, None, _) => text.push_str("The task has no result."),
        (RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted, ..) => text.push_str(how(seen.status)),
    }
    text
}

/// How a task stands that has not ended.
fn how(status: RunStatus) -> &'static str {
    if status == RunStatus::Pending { "The task waits for its turn." } else { "The task is still running." }
}

/// As much of the first line as a line may have.
fn beginning(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let shown = &line[..line.floor_char_boundary(LINE_BYTES_MAX)];
    if shown.len() < line.len() { format!("{shown}…") } else { shown.to_owned() }
}

fn head(run: &str, agent: &str, status: &str, at: Timestamp) -> String {
    format!("task_id: {run}\nagent_id: {agent}\nstatus: {status}\ncreated_at: {}\n\n", at.to_utc())
}
