//! Hooks: code of the team that hears of what happens on a thread, and may change it.
//!
//! Whose hooks run is the prompt's matter where it names any, and else the agent's. They run one after the other in the
//! order of that list, each told what the one before it made of the occasion. What a hook does to the thread counts like
//! what a tool does: all of it or nothing. A hook that fails has not been there, and the log says so.

use super::super::Place;
use super::desk::Desk;
use super::door::{Runner, ThreadDoor};
use crate::runtime::{Inner, Runtime, RuntimeError};
use entourage_engine::ThreadState;
use entourage_model::{Act, Hook, Name, Team, ThreadId};
use entourage_outside::tool::{Heard, Occasion};
use std::sync::Arc;

/// A thread on which something happens.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) team: Arc<Team>,
    pub(crate) state: ThreadState,
}

/// What became of an occasion once every hook had heard of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Aftermath {
    /// As the hooks left it.
    pub occasion: Occasion,
    /// What they did to the thread, in their order. Whoever asked makes it durable.
    pub acts: Vec<Act>,
    /// Why the request must not be sent, if one of them says so.
    pub blocked: Option<String>,
}

impl Runtime {
    /// Lets the hooks of a thread hear of an occasion, as its journal stands. Nothing is made durable.
    pub async fn hear(&self, thread: ThreadId, occasion: Occasion) -> Result<Aftermath, RuntimeError> {
        let state = self.inner.fold(thread).await?.ok_or(RuntimeError::NoThread(thread))?;
        let team = self.inner.teams.load(state.started.bundle).await?;
        let place = Place { root: state.started.root, thread };
        Ok(hear(&self.inner, Ground { place, team, state }, occasion).await)
    }
}

/// Lets the hooks that wait for the occasion hear of it. Without any it comes back as it is, at no cost.
pub(crate) async fn hear(inner: &Arc<Inner>, ground: Ground, occasion: Occasion) -> Aftermath {
    let Ground { place, team, state } = ground;
    let hooks = waiting(inner, &team, &state, occasion.name());
    let mut desk = Desk::new(state, None);
    let (mut occasion, mut blocked) = (occasion, None);
    for (name, hook) in hooks {
        let key = format!("{}/{name}/{:016x}", occasion.name(), fastrand::u64(..));
        let runner = Runner::Hook(name.clone());
        let scene = (place, Arc::clone(&team), runner);
        let door = Arc::new(ThreadDoor::new(Arc::clone(inner), scene, desk.inner(), key, 0));
        let heard = inner.scripts.hear(&hook, occasion.clone(), Arc::clone(&door) as _, &inner.limits).await;
        let heard = match heard {
            Ok(heard) => heard,
            Err(why) => {
                tracing::warn!(thread = %place.thread, hook = %name, why, "a hook failed, and it goes on without it");
                continue;
            }
        };
        let acts = door.desk().take_acts();
        if let Err(why) = desk.absorb(&inner.world(&team, 0), acts) {
            tracing::warn!(thread = %place.thread, hook = %name, why, "what a hook did does not count");
            continue;
        }
        match heard {
            Heard::Same => {}
            Heard::Instead(value) => occasion = occasion.with(value),
            Heard::Blocked(reason) => {
                blocked = Some(reason);
                break;
            }
        }
    }
    Aftermath { occasion, acts: desk.take_acts(), blocked }
}

/// The hooks of the acting side's prompt, or else of the agent, that wait for this. While nobody acts, it is the prompt
/// of the side that everything begins with.
fn waiting(inner: &Inner, team: &Arc<Team>, state: &ThreadState, event: &str) -> Vec<(Name, Arc<Hook>)> {
    let agent = team.agent(&state.agent);
    let acting = inner.world(team, 0).prompt(state).or_else(|| Some(&agent?.side_a.prompt));
    let named = acting.map(|prompt| &prompt.hooks).filter(|hooks| !hooks.is_empty());
    let names = named.or_else(|| Some(&agent?.hooks)).into_iter().flatten();
    let found = names.filter_map(|name| Some((name.clone(), Arc::clone(team.hooks.get(name)?))));
    found.filter(|(_, hook)| hook.event == event).collect()
}
