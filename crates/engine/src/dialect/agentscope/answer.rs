//! What calls are answered with, and how a background ending is told.

pub(super) mod task;

use super::super::Told;
use super::{OUTPUT, SEND};
use crate::dialect::standard::attach;
use entourage_model::{Attachment, ChildLink, Ending, Outcome, RunId, RunStatus, Timestamp};
use std::fmt::Write as _;

/// How much of a result is shown at once: a parent with many children must not be flooded. The rest is read on demand.
const RESULT_BYTES: usize = 10_000;

const BACKGROUND: &str = "\
The task runs in the background, and its result will be brought to you. Do not poll right away: go on with other work or \
answer the user. Later, task_output with block=false shows how it stands, task_cancel stops it, and task_list shows all \
tasks.";

const BACKGROUND_DRIVEN: &str = "\
The task runs in the background and outlives this connection. Ask for its result with task_output; task_cancel stops \
it, and task_list shows all tasks.";

const PROMOTED: &str = "\
The subagent is still at work: its task goes on in the background, nothing is lost, and the result will be brought to \
you. Do not start it again.";

const PROMOTED_DRIVEN: &str = "\
The subagent is still at work: its task goes on in the background and nothing is lost. Do not start it again: ask for \
its result with task_output.";

/// A run as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub run: &'a RunId,
    pub agent: &'a str,
    pub status: RunStatus,
    pub result: Option<&'a str>,
    pub error: Option<&'a str>,
    pub created_at: Timestamp,
}

/// What `task_output` answers about a run that has ended, from this byte of its result on.
pub fn output(seen: &Seen<'_>, from: usize) -> String {
    task::ended(seen, from)
}

pub(crate) fn agent_id(link: &ChildLink) -> &str {
    link.alias.as_ref().unwrap_or(&link.agent).as_str()
}

pub(crate) fn agent_key(link: &ChildLink) -> String {
    format!("agent:{}:{}", agent_id(link), link.thread)
}

/// The lines that a call's answer begins with.
fn header(told: &Told<'_>) -> String {
    let key = agent_key(told.link);
    if told.call.name.as_str() == SEND {
        return format!("agent_key: {key}\n");
    }
    format!("agent_key: {key}\nagent_id: {}\nsession_id: sub-{}\n", agent_id(told.link), told.link.thread)
}

pub(crate) fn accepted(told: &Told<'_>) -> String {
    let header = header(told);
    match told.run {
        None => format!("{header}status: accepted"),
        Some(run) => {
            let note = if told.is_driven { BACKGROUND_DRIVEN } else { BACKGROUND };
            format!("{header}status: accepted\ntask_id: {run}\n\n{note}")
        }
    }
}

pub(crate) fn released(told: &Told<'_>) -> String {
    let run = told.run.map(|run| run.as_str()).unwrap_or_default();
    if told.call.name.as_str() == OUTPUT {
        let status = task::word(told.status);
        return format!(
            "task_id: {run}\nstatus: {status}\nnote: it has not ended yet; look again later with block=false"
        );
    }
    // What another server does was a task from the start.
    let word = if told.is_remote { "timeout" } else { "timeout_promoted" };
    let note = if told.is_driven { PROMOTED_DRIVEN } else { PROMOTED };
    format!("{}status: {word}\ntask_id: {run}\n\n{note}", header(told))
}

pub(crate) fn answer(told: &Told<'_>, ending: &Ending) -> String {
    let run = told.run.map(|run| run.as_str()).unwrap_or_default();
    if let Some(run) = told.run.filter(|_| told.call.name.as_str() == OUTPUT) {
        return task::told(told.link, (run, told.at), ending);
    }
    let header = header(told);
    match ending.outcome {
        Outcome::Done => {
            let reply = cut(&with_files(&ending.text, &ending.attachments), 0, run);
            let note = told.note.map(|note| format!("note: {note}\n")).unwrap_or_default();
            format!("{header}status: ok\n{note}reply:\n{reply}")
        }
        // What another server does was a task from the start.
        Outcome::Cancelled if told.is_remote => format!("{header}status: cancelled\ntask_id: {run}"),
        Outcome::Cancelled => format!("{header}status: cancelled\nerror: {}", ending.fault()),
        Outcome::Failed | Outcome::Unknown => {
            let mut text = format!("{header}status: error\nerror: {}", cut(ending.fault(), 0, run));
            if let Some(partial) = ending.partial() {
                _ = write!(text, "\npartial_result:\n{}", cut(partial, 0, run));
            }
            text
        }
    }
}

pub(crate) fn news(link: &ChildLink, (run, at): (&RunId, Timestamp), ending: &Ending) -> String {
    format!("A background task has ended.\n\n{}", task::told(link, (run, at), ending))
}

fn with_files(text: &str, files: &[Attachment]) -> String {
    let mut text = text.to_owned();
    attach(&mut text, files);
    text
}

/// A part of a text, and how to get at the rest.
fn cut(text: &str, from: usize, run: &str) -> String {
    let from = text.ceil_char_boundary(from);
    let rest = &text[from..];
    if rest.len() <= RESULT_BYTES {
        return rest.to_owned();
    }
    let shown = &rest[..rest.floor_char_boundary(RESULT_BYTES)];
    let next = from + shown.len();
    format!(
        "{shown}\n[cut: {} of {} bytes are not shown; read on with task_output {{\"task_id\": \"{run}\", \"offset\": {next}}}]",
        text.len() - next,
        text.len()
    )
}
