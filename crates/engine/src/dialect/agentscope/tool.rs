//! The six tools as a model is offered them.

use super::{CANCEL, LIST, OUTPUT, SEND, SPAWN, TASKS, cast, is_too_deep};
use crate::offer::World;
use crate::state::ThreadState;
use entourage_model::{EffectClass, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

/// None for a thread that may start nobody and has started nobody.
pub(crate) fn tools(world: &World<'_>, state: &ThreadState) -> Vec<Arc<ToolSpec>> {
    // Whoever drives a thread is always offered the same tools: what they are good for may be declared later.
    if is_too_deep(world, state) || cast(world).is_empty() && !world.is_driven(state) {
        return Vec::new();
    }
    let timeout = "How many seconds to wait for the answer: 30 unless given, at most 600. 0 starts a background task.";
    vec![
        spec(
            SPAWN,
            "Create a subagent, and give it its first task if there is one.",
            &[
                ("agent_id", "string", "One of the available agent ids."),
                ("task", "string", "What it is to do, with everything that it needs to know."),
                ("label", "string", "A name of your own for it, by which it can be written to later."),
                ("timeout_seconds", "integer", timeout),
            ],
            &["agent_id"],
        ),
        spec(
            SEND,
            "Send a follow-up message to a subagent that was created before. Give its agent_key or its label.",
            &[
                ("agent_key", "string", "The whole agent_key that agent_spawn answered."),
                ("label", "string", "The label that it was given."),
                ("message", "string", "What to tell it."),
                ("timeout_seconds", "integer", timeout),
            ],
            &["message"],
        ),
        spec(LIST, "List the active subagents.", &[], &[]),
        spec(
            OUTPUT,
            "Read a task's result, or wait for it.",
            &[
                ("task_id", "string", "The task."),
                ("block", "boolean", "Whether to wait for the end of the task: true unless given."),
                ("timeout", "integer", "How many milliseconds to wait: 30000 unless given, at most 600000."),
                ("offset", "integer", "From which byte on to show a long result: 0 unless given."),
            ],
            &["task_id"],
        ),
        spec(CANCEL, "Cancel a task that is running.", &[("task_id", "string", "The task.")], &["task_id"]),
        spec(
            TASKS,
            "List the background tasks of this session.",
            &[("status_filter", "string", "pending, running, completed, failed, cancelled or all.")],
            &[],
        ),
    ]
}

fn spec(name: &str, description: &str, parameters: &[(&str, &str, &str)], required: &[&str]) -> Arc<ToolSpec> {
    let property =
        |(name, kind, text): &(&str, &str, &str)| ((*name).to_owned(), json!({"type": kind, "description": text}));
    let properties: Value = Value::Object(parameters.iter().map(property).collect());
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    Arc::new(ToolSpec {
        name: name.into(),
        description: description.to_owned(),
        parameters: Arc::new(parameters),
        class: EffectClass::Pure,
    })
}
