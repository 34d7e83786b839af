//! What is added to prompts: the rules for whoever may delegate, and the place of whoever was delegated to.

use super::answer::task;
use super::{cast, is_too_deep, tasks_of};
use crate::offer::World;
use crate::state::{Delegated, ThreadState};
use entourage_model::{RunId, one_line};
use std::fmt::Write as _;
use std::sync::Arc;

/// So many tasks are shown at every step.
const TASKS_SHOWN: usize = 10;

const RULES: &str = include_str!("rules.md");
const CONTEXT: &str = include_str!("context.md");
const LEAF: &str = "- You cannot start subagents: do the whole task yourself.";

/// The rules, the agents and the newest tasks. Nothing for a thread that can start nobody.
pub(crate) fn system(world: &World<'_>, state: &ThreadState) -> Option<Arc<str>> {
    let cast = cast(world);
    if is_too_deep(world, state) || cast.is_empty() {
        return None;
    }
    let mut text = format!("{}\n\n### Available agent ids\n", RULES.trim_end());
    for (id, agent) in cast {
        // A list has one line for each.
        let pitch = one_line(agent.pitch());
        _ = write!(text, "\n- `{id}`: {pitch}");
    }
    summarise(&mut text, state);
    Some(text.into())
}

/// At most ten tasks, the newest: of older ones the number.
fn summarise(text: &mut String, state: &ThreadState) {
    let tasks: Vec<(&RunId, &Delegated)> = tasks_of(state).collect();
    if tasks.is_empty() {
        return;
    }
    let left_out = tasks.len().saturating_sub(TASKS_SHOWN);
    text.push_str("\n\n### Async tasks (current session)\n");
    for (run, delegated) in &tasks[left_out..] {
        let started = delegated.at.to_utc();
        let started = started.get(11..16).unwrap_or_default();
        _ = write!(
            text,
            "\n- task_id: {run}  agent: {}  status: {}  started: {started}Z",
            delegated.agent,
            task::word(delegated.status)
        );
    }
    if left_out > 0 {
        _ = write!(text, "\n({left_out} older tasks are not shown; `task_list` shows all of them)");
    }
    text.push_str("\n\nThis is how they stand now; what earlier messages say of them may be out of date.");
}

/// A subagent's prompt: its own words, then what being one means.
pub(crate) fn prompt(world: &World<'_>, state: &ThreadState, own: &str) -> Arc<str> {
    let mut text = own.trim_end().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(CONTEXT.trim_end());
    if world.agent(state).is_none_or(|agent| agent.dialects.is_empty()) {
        text.push('\n');
        text.push_str(LEAF);
    }
    text.into()
}
