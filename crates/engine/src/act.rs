//! What a tool may do to its thread, and what its acts leave on the thread's own journal.
//!
//! The same rules hold twice: while the tool runs, so that it is told at once what it may not do and reads what it has
//! written; and when its call has ended, where its acts become part of the decision.

use crate::apply::apply;
use crate::dialect::standard::{is_enabled, is_for_code};
use crate::offer::{World, toolkit};
use crate::state::{Session, ThreadState};
use entourage_model::{Act, Event, Message, MessageId, Name, Role, ThreadId, ToolCall, ToolEntry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Variables and values that a thread may hold, of each kind.
const ENTRIES_MAX: usize = 1000;
/// What each of them may take up: a thread's state is kept in memory. Files are for more.
const ENTRY_BYTES_MAX: usize = 64 << 10;
const NAME_BYTES_MAX: usize = 1024;
/// Calls that one answer may come to when tools add to them.
const CALLS_MAX: usize = 256;

/// Whether a tool of this thread may do this now; otherwise what it is told.
pub fn permit(world: &World<'_>, state: &ThreadState, act: &Act) -> Result<(), String> {
    let max = world.limits.message_bytes;
    match act {
        Act::SetValue { key, value } => {
            check_name("the key of a value", key)?;
            check_room("value", key, &state.values)?;
            check_size(ENTRY_BYTES_MAX, "the value", json_size(value))
        }
        Act::SetVariable { name, value } => {
            check_name("the name of a variable", name)?;
            check_room("variable", name, &state.variables)?;
            check_size(ENTRY_BYTES_MAX, "the value", value.reveal().len())
        }
        Act::InjectMessage(message) => check_message(max, message),
        Act::ReplaceMessage(message) => {
            find(state, message.id)?;
            check_message(max, message)
        }
        Act::DeleteMessage { id } => may_delete(state, *id),
        Act::QueueMessage { to, message, .. } => {
            may_reach(state, *to)?;
            check_message(max, message)
        }
        Act::NotifyParent { text } | Act::SetStatus { status: text } => {
            if text.trim().is_empty() {
                return Err("the text for the parent is empty".to_owned());
            }
            check_size(max, "the text for the parent", text.len())
        }
        Act::QueueTool { name, arguments } => {
            may_queue(world, state, name)?;
            check_size(max, "the text of the arguments", arguments.len())?;
            let session = session(state)?;
            if session.open == 0 {
                return Err("no call is open behind which another could be made".to_owned());
            }
            let calls = session.calls.len();
            if calls < CALLS_MAX { Ok(()) } else { Err(format!("one answer may come to at most {CALLS_MAX} calls")) }
        }
        Act::Emit { name, data } => {
            check_name("the name of an event", name)?;
            check_size(max, "the data of an event", json_size(data))
        }
        Act::StopSession(stop) => {
            session(state)?;
            check_size(max, "the result", stop.ending.text.len())
        }
        Act::Terminate { thread } if *thread == state.id() => Ok(()),
        Act::Terminate { thread } => {
            let child = state.children.get(thread);
            child.map(drop).ok_or_else(|| format!("`{thread}` is neither this thread nor a child of it"))
        }
        // Paths are checked where they are made.
        Act::PutFile(_) | Act::RemoveFile { .. } | Act::AskPrompt { .. } => Ok(()),
        // Whose run it is was looked at where it was read; what failed has failed.
        Act::ReadRun { .. } | Act::NoteHookFailure { .. } => Ok(()),
    }
}

/// Whether code of this thread may call the tool: what the acting side may call, and every tool that the team brings.
///
/// The team's own tools can do no more than the one that calls them; a tool of the process can.
pub fn may_call(world: &World<'_>, state: &ThreadState, tool: &Name) -> Result<(), String> {
    let is_own = world.team.tools.contains_key(tool);
    let is_listed = || {
        let mut listed = world.prompt(state).into_iter().flat_map(|prompt| toolkit(world, state, prompt));
        listed.any(|spec| spec.name == *tool)
    };
    if is_own || is_listed() {
        return Ok(());
    }
    if can_be_queued(world, state, tool) {
        return Err(format!("`{tool}` is no tool: it can be queued, and not be waited for"));
    }
    Err(format!("there is no tool `{tool}` that could be called here"))
}

/// Whether code of this thread may make the call behind the others: a tool that it may call, or whoever else the acting
/// prompt lists, also one that its model is not shown.
fn may_queue(world: &World<'_>, state: &ThreadState, name: &Name) -> Result<(), String> {
    if can_be_queued(world, state, name) { Ok(()) } else { may_call(world, state, name) }
}

/// Whether the name is that of an agent or prompt which the acting prompt lists, or drives its agents.
fn can_be_queued(world: &World<'_>, state: &ThreadState, name: &Name) -> bool {
    let Some(prompt) = world.prompt(state) else { return false };
    let is_prompt = |entry: &ToolEntry| match entry {
        ToolEntry::Prompt(entry) => {
            entry.prompt == *name && is_enabled(world, state, prompt, entry.optional.as_deref())
        }
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => false,
    };
    is_for_code(prompt, name) || prompt.tools.iter().any(is_prompt)
}

/// Takes an act in, as far as it changes what the thread itself holds.
pub fn foresee(state: &mut ThreadState, act: &Act) {
    if let Act::Terminate { thread } = act
        && let Some(child) = state.children.get_mut(thread)
    {
        child.terminated = true;
        "terminated".clone_into(&mut child.status);
    }
    if let Some(event) = trace(state, act) {
        apply(state, &event);
    }
}

/// The event that an act leaves on the thread's own journal, where it leaves one.
pub(crate) fn trace(state: &ThreadState, act: &Act) -> Option<Event> {
    Some(match act {
        Act::SetValue { key, value } => Event::ValueSet { key: key.clone(), value: value.clone() },
        Act::SetVariable { name, value } => {
            Event::VariablesSet { variables: BTreeMap::from([(name.clone(), value.clone())]) }
        }
        Act::InjectMessage(message) => Event::Injected { message: message.clone() },
        Act::ReplaceMessage(message) => Event::MessageReplaced { message: message.clone() },
        Act::DeleteMessage { id } => Event::MessageDeleted { id: *id },
        Act::PutFile(file) => Event::FilePut(file.clone()),
        Act::RemoveFile { path } => Event::FileRemoved { path: path.clone() },
        Act::QueueTool { name, arguments } => {
            let call = ToolCall { id: queued_id(state)?, name: name.clone(), arguments: arguments.clone() };
            Event::CallQueued { call }
        }
        Act::AskPrompt { prompt, answer, usage } => {
            Event::PromptAnswered { prompt: prompt.clone(), answer: Arc::clone(answer), usage: *usage }
        }
        Act::Emit { name, data } => Event::Emitted { name: name.clone(), data: data.clone() },
        Act::ReadRun { run } => Event::RunRead { run: run.clone() },
        Act::NoteHookFailure { hook, occasion, why } => {
            Event::HookFailed { hook: hook.clone(), occasion: occasion.clone(), why: why.clone() }
        }
        Act::QueueMessage { .. }
        | Act::NotifyParent { .. }
        | Act::SetStatus { .. }
        | Act::StopSession(_)
        | Act::Terminate { .. } => return None,
    })
}

/// An id that no other call of the thread has.
fn queued_id(state: &ThreadState) -> Option<entourage_model::CallId> {
    let session = state.session.as_ref()?;
    let ids = (session.calls.len()..).map(|place| format!("queued_{}_{place}", state.usage.steps).into());
    ids.into_iter().find(|id| !session.places.contains_key(id))
}

fn session(state: &ThreadState) -> Result<&Session, String> {
    state.session.as_ref().ok_or_else(|| "the thread is at rest".to_owned())
}

fn find(state: &ThreadState, id: MessageId) -> Result<&Message, String> {
    let found = state.transcript.iter().find(|message| message.id == id);
    found.map(|message| &**message).ok_or_else(|| format!("there is no message `{id}`"))
}

/// A result stays as long as the call that it belongs to, because no model accepts one without the other.
fn may_delete(state: &ThreadState, id: MessageId) -> Result<(), String> {
    let message = find(state, id)?;
    let answer = state.session.as_ref().and_then(|session| session.answer.as_ref());
    if answer.is_some_and(|answer| answer.id == id) {
        return Err(format!("message `{id}` made the calls that are running and cannot be deleted"));
    }
    if message.role == Role::Tool && message.tool_call_id.is_some() {
        return Err(format!("message `{id}` is the result of a call; delete the message that made the call"));
    }
    Ok(())
}

/// Only this thread itself, its parent and its own children can be written to.
fn may_reach(state: &ThreadState, to: ThreadId) -> Result<(), String> {
    if to == state.id() || state.started.parent == Some(to) {
        return Ok(());
    }
    match state.children.get(&to) {
        Some(child) if child.terminated => Err(format!("the thread `{to}` is terminated")),
        Some(_) => Ok(()),
        None => Err(format!("`{to}` is neither the parent of this thread nor a child of it that can be written to")),
    }
}

fn check_name(what: &str, name: &str) -> Result<(), String> {
    match name.len() {
        0 => Err(format!("{what} is empty")),
        1..=NAME_BYTES_MAX => Ok(()),
        _ => Err(format!("{what} is longer than {NAME_BYTES_MAX} bytes")),
    }
}

fn check_room<T>(what: &str, name: &str, held: &BTreeMap<String, T>) -> Result<(), String> {
    let fits = held.len() < ENTRIES_MAX || held.contains_key(name);
    if fits { Ok(()) } else { Err(format!("a thread may hold at most {ENTRIES_MAX} {what}s")) }
}

fn check_message(max: usize, message: &Message) -> Result<(), String> {
    let metadata: usize = message.metadata.values().map(json_size).sum();
    check_size(max, "the message", message.content.len() + metadata)
}

fn check_size(max: usize, what: &str, found: usize) -> Result<(), String> {
    if found <= max { Ok(()) } else { Err(format!("{what} has {found} bytes; at most {max} are allowed")) }
}

fn json_size(value: &Value) -> usize {
    value.to_string().len()
}
