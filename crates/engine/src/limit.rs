//! How many steps a side may take, and the one more that some agents get for their closing words.

use crate::offer::World;
use crate::state::ThreadState;
use entourage_model::{Dialect, Kind};

/// What a model is told that is asked for its closing words.
pub(crate) const CLOSING: &str = "\
All steps of this task are used up, and no tool can be called any more. Say in one last message what you have found and \
done so far, and what is still open.";

/// The word that a failed run has for this limit in AgentScope.
const REACHED: &str = "step_limit_reached";

/// The format whose agents fail at their limit.
const FORMAT: &str = "agentscope";

/// A limit by its name, how many steps it allows, and how many of them are taken.
struct StepLimit {
    name: &'static str,
    max: u32,
    taken: u32,
}

/// The limit of the acting side that is reached first. An agent's own counts from where it took over.
fn step_limit(world: &World<'_>, state: &ThreadState) -> Option<StepLimit> {
    let session = state.session.as_ref()?;
    let side = session.acting as usize;
    let all = StepLimit { name: "steps", max: world.limits.steps, taken: session.steps[side] };
    let own = world.side(state, session.acting)?.steps_max;
    let Some(max) = own.or_else(|| world.mirrored(state)?.steps_max) else { return Some(all) };
    let own = StepLimit { name: "maxSteps", max, taken: session.steps[side] - session.handed_off_at[side] };
    let left = |limit: &StepLimit| i64::from(limit.max) - i64::from(limit.taken);
    Some(if left(&own) <= left(&all) { own } else { all })
}

/// What is said of the step limit that the acting side has reached; nothing before that.
pub(crate) fn reached(world: &World<'_>, state: &ThreadState) -> Option<String> {
    let StepLimit { name, max, taken } = step_limit(world, state)?;
    let name = if fails(world, state) { REACHED } else { name };
    (taken >= max).then(|| format!("{name}: the limit of {max} steps is reached"))
}

/// Whether the thread's run fails at the limit, with what it has to show as a partial result. Others are done then.
pub(crate) fn fails(world: &World<'_>, state: &ThreadState) -> bool {
    let Some(agent) = world.agent(state).filter(|agent| agent.kind == Kind::AiHuman) else { return false };
    match state.started.dialect {
        Some(Dialect::AgentScope) => true,
        Some(Dialect::Standard | Dialect::Dex) => false,
        None => agent.source.format == FORMAT,
    }
}

/// Whether the next model call is the one beyond the limit, which is for closing words alone.
pub(crate) fn is_closing(world: &World<'_>, state: &ThreadState) -> bool {
    let at_limit = |limit: StepLimit| limit.max > 0 && limit.taken == limit.max;
    fails(world, state) && step_limit(world, state).is_some_and(at_limit)
}

/// Whether the closing words were said.
pub(crate) fn is_closed(world: &World<'_>, state: &ThreadState) -> bool {
    fails(world, state) && step_limit(world, state).is_some_and(|limit| limit.taken > limit.max)
}
