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

/// The name of the narrower limit of the acting side, and how many steps it allows.
fn steps_max(world: &World<'_>, state: &ThreadState) -> Option<(&'static str, u32)> {
    let session = state.session.as_ref()?;
    let own = world.side(state, session.acting)?.steps_max;
    Some(match own {
        Some(max) if max <= world.limits.steps => ("maxSteps", max),
        _ => ("steps", world.limits.steps),
    })
}

fn steps(state: &ThreadState) -> u32 {
    state.session.as_ref().map_or(0, |session| session.steps[session.acting as usize])
}

/// What is said of the step limit that the acting side has reached; nothing before that.
pub(crate) fn reached(world: &World<'_>, state: &ThreadState) -> Option<String> {
    let (name, max) = steps_max(world, state)?;
    let name = if fails(world, state) { REACHED } else { name };
    (steps(state) >= max).then(|| format!("{name}: the limit of {max} steps is reached"))
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
    let at_limit = |(_, max): (_, u32)| max > 0 && steps(state) == max;
    fails(world, state) && steps_max(world, state).is_some_and(at_limit)
}

/// Whether the closing words were said.
pub(crate) fn is_closed(world: &World<'_>, state: &ThreadState) -> bool {
    fails(world, state) && steps_max(world, state).is_some_and(|(_, max)| steps(state) > max)
}
