//! Whether there is room for another child.

use crate::dialect::Refusal;
use crate::offer::World;
use crate::state::{Child, ThreadState};
use entourage_model::{ChildEntry, Limits};
use serde_json::{Value, json};

/// Whether the thread itself may start such a child now; whether its tree has room is known to the store.
pub(super) fn has_room(world: &World<'_>, state: &ThreadState, entry: &ChildEntry) -> Result<(), Refusal> {
    if world.team.agent(&entry.agent).is_none() {
        return Err(Refusal::invalid(format!("there is no agent `{}`", entry.agent)));
    }
    let limits = world.limits;
    if state.started.depth >= limits.depth {
        let text = format!("subagents may lie at most {} levels deep; do this work yourself", limits.depth);
        return Err(Refusal::new("depth_limit_reached", text).with("max", json!(limits.depth)));
    }
    if state.children_live >= limits.children_live {
        return Err(full(state, "children_live", limits.children_live, "wait for one of them to end"));
    }
    let instances_max = entry.resumable.as_ref().and_then(|resumable| resumable.instances_max);
    if let Some(max) = instances_max {
        let counts = |child: &&Child| {
            let same = child.link.agent == entry.agent && child.link.alias == entry.alias;
            child.link.resumable && same && !child.terminated
        };
        let instances = || state.children.values().filter(counts);
        if instances().count() as u64 >= u64::from(max) {
            let advice = "write to one of them with `subagent_message` instead";
            return Err(refusal(instances(), ("maxInstances", max), advice));
        }
    }
    Ok(())
}

/// Whether what is said to a child is short enough.
pub(super) fn fits(world: &World<'_>, said: &str) -> Result<(), Refusal> {
    let (found, max) = (said.len(), world.limits.message_bytes);
    if found <= max {
        return Ok(());
    }
    let text = format!(
        "the message has {found} bytes, and the limit `message_bytes` allows {max}; hand the long part over as a file"
    );
    Err(Refusal::new("message_too_large", text).with("max", json!(max)))
}

/// Whether the child can be asked for more. How many of its runs it has begun is not known here, so that all of them
/// count.
pub(super) fn has_queue(limits: &Limits, child: &Child) -> Result<(), Refusal> {
    let (waiting, max) = (child.runs.chunk_by(|one, next| one.0 == next.0).count(), limits.queue_messages);
    if waiting < max as usize {
        return Ok(());
    }
    let text = format!(
        "subagent `{}` has {waiting} requests that have not ended, as many as the limit `queue_messages` allows; wait for \
         some of them",
        child.link.thread
    );
    Err(Refusal::new("queue_full", text).with("max", json!(max)))
}

pub(super) fn full(state: &ThreadState, cap: &str, max: u32, advice: &str) -> Refusal {
    let live = state.children.values().filter(|child| !child.terminated);
    refusal(live, (cap, max), advice)
}

/// Names the children that take up the room.
fn refusal<'c>(live: impl Iterator<Item = &'c Child>, (cap, max): (&str, u32), advice: &str) -> Refusal {
    let references: Vec<Value> = live.take(50).map(|child| json!(child.link.thread)).collect();
    let text = format!("the limit `{cap}` of {max} subagents is reached; {advice}");
    Refusal::new("subagent_limit_reached", text)
        .with("cap", json!(cap))
        .with("max", json!(max))
        .with("references", Value::Array(references))
}
