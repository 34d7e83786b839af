//! What the tools look like.

use super::{is_open, profile, profile_id};
use crate::offer::World;
use crate::state::ThreadState;
use entourage_model::{EffectClass, Progress, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const SUBAGENT: &str = "subagent";
pub(super) const ASSIGN: &str = "subagent_assign_task";
pub(super) const CREATE: &str = "task_create";
pub(super) const UPDATE: &str = "task_update";
pub(super) const ITEMS: &str = "task_list_items";
pub(super) const START: &str = "task_start";
pub(super) const DELEGATE: &str = "task_delegate";
pub(super) const JOIN: &str = "task_join";
pub(super) const DELEGATIONS: &str = "task_delegations";

/// All that models are offered. What dex calls `subagent_worker` is the runtime itself, and no tool.
pub(super) const NAMES: [&str; 9] = [SUBAGENT, ASSIGN, CREATE, UPDATE, ITEMS, START, DELEGATE, JOIN, DELEGATIONS];

pub(super) const ACTIONS: [&str; 6] = ["run", "list", "status", "result", "interrupt", "resume"];

pub(crate) fn tools(world: &World<'_>, state: &ThreadState) -> Vec<Arc<ToolSpec>> {
    if !is_open(world, state) {
        return Vec::new();
    }
    let ids: Vec<_> = profile::all(world.team).map(|agent| profile_id(&agent.name)).collect();
    let profile = json!({"type": "string", "enum": ids, "description": "The profile that does the work."});
    NAMES.iter().map(|name| spec(name, &profile)).collect()
}

fn spec(name: &str, profile: &Value) -> Arc<ToolSpec> {
    let task_id = || text("The task's `taskId`.");
    let (description, properties, required) = match name {
        SUBAGENT => (
            "Runs a subagent and looks after its runs. `run` needs `profile` and `task`, `status`, `result`, `interrupt` \
             and `resume` need `runId`. Answers with one JSON document: runId, profile, status, result, events.",
            subagent(profile),
            vec!["action"],
        ),
        ASSIGN => (
            "Gives tasks to a profile: new ones by their texts, or entries of the task list by their ids. With `start` \
             each is worked on in the background at once.",
            json!({
                "profile": profile,
                "start": {"type": "boolean", "default": false},
                "tasks": {"type": "array", "items": {"type": "string"}, "description": "Texts of new tasks."},
                "taskIds": {"type": "array", "items": {"type": "string"}, "description": "Entries of the task list."},
            }),
            vec!["profile"],
        ),
        CREATE => (
            "Adds an entry to the task list. With `assignment.agent` it is a profile's work once it is started.",
            json!({"title": text("What is to be done."), "description": text("More about it."), "assignment": assignment(profile)}),
            vec!["title"],
        ),
        UPDATE => (
            "Changes an entry of the task list.",
            json!({
                "taskId": task_id(),
                "title": text("What is to be done."),
                "description": text("More about it."),
                "status": {"type": "string", "enum": Progress::ALL.map(Progress::word)},
                "assignment": assignment(profile),
            }),
            vec!["taskId"],
        ),
        ITEMS => (
            "Lists the entries of the task list, with what became of their assignments: all of them, or those of `taskIds`.",
            json!({"taskIds": {"type": "array", "items": {"type": "string"}}}),
            vec![],
        ),
        START => (
            "Starts a task. One that is assigned to a profile is worked on in the background.",
            json!({"taskId": task_id()}),
            vec!["taskId"],
        ),
        DELEGATE => (
            "Assigns a task to a profile and starts it in the background.",
            json!({"taskId": task_id(), "profile": profile}),
            vec!["taskId", "profile"],
        ),
        JOIN => (
            "Waits until the runs of these tasks have come to rest, and returns their results. Without `taskIds`, all \
             that were started.",
            json!({"taskIds": {"type": "array", "items": {"type": "string"}}}),
            vec![],
        ),
        _ => ("Lists which task is worked on by which run.", json!({}), vec![]),
    };
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    let description = description.to_owned();
    // Starting and stopping children is part of the decision, and reading changes nothing.
    Arc::new(ToolSpec { name: name.into(), description, parameters: Arc::new(parameters), class: EffectClass::Pure })
}

fn subagent(profile: &Value) -> Value {
    json!({
        "action": {"type": "string", "enum": ACTIONS},
        "profile": profile,
        "task": text("Everything that the subagent needs to know: it sees nothing else."),
        "background": {"type": "boolean", "default": false, "description": "Answer at once; the run goes on."},
        "runId": text("The run that is meant."),
        "message": text("With `resume`: what to say to the subagent."),
        "after": {"type": "integer", "minimum": 0, "description": "Show the events behind the one with this `seq`."},
        "offset": {"type": "integer", "minimum": 0, "description": "Show the text of the result from this byte on."},
    })
}

fn assignment(profile: &Value) -> Value {
    json!({"type": "object", "properties": {"agent": profile}, "required": ["agent"]})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}
