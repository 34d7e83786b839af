//! Hooks: code of the team that hears of what happens on a thread, and may change it.
//!
//! They run one after the other, each told what the one before it made of the occasion. What a hook does to the thread
//! counts like what a tool does: all of it or nothing. A hook that fails has not been there; the journal and the log say
//! so. Nobody hears of what a hook does.

mod decision;
mod inside;
mod request;
mod shape;

pub(crate) use decision::echo;
pub(crate) use request::{advised, is_advised};

use super::super::Place;
use super::desk::Desk;
use super::door::{Runner, ThreadDoor};
use crate::runtime::Inner;
use entourage_engine::{ThreadState, listeners};
use entourage_model::{Act, Hook, Name, Team};
use entourage_outside::tool::{Heard, Occasion};
use shape::{Shape, Subject};
use std::sync::Arc;

/// A thread on which something happens.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) team: Arc<Team>,
    pub(crate) state: ThreadState,
    /// How many of its events are durable.
    pub(crate) durable: u64,
}

/// What became of an occasion once every hook had heard of it.
#[derive(Debug)]
pub(super) struct Aftermath {
    pub(super) shape: Shape,
    /// What they did to the thread, in their order, and what they failed at. Whoever asked makes it durable.
    pub(super) acts: Vec<Act>,
    /// Why it must not go on, if one of them says so.
    pub(super) blocked: Option<String>,
    /// The first that failed, and why.
    pub(super) failure: Option<String>,
}

/// Whether any hook of the thread waits for this.
pub(super) fn is_heard(team: &Team, state: &ThreadState, event: &str) -> bool {
    !listeners(team, state, event).is_empty()
}

/// Lets the hooks that wait for the occasion hear of it.
pub(super) async fn hear(inner: &Arc<Inner>, ground: &Ground, occasion: Occasion, subject: Subject<'_>) -> Aftermath {
    let Ground { place, team, state, durable } = ground;
    let hooks = listeners(team, state, occasion.name());
    let hooks: Vec<(Name, Arc<Hook>)> =
        hooks.into_iter().map(|(name, hook)| (name.clone(), Arc::clone(hook))).collect();
    let mut desk = Desk::at(*durable, state.clone());
    let mut after = Aftermath { shape: Shape::Same, acts: Vec::new(), blocked: None, failure: None };
    let (mut occasion, mut failures) = (occasion, Vec::new());
    for (name, hook) in hooks {
        let key = format!("{}/{name}/{:016x}", occasion.name(), fastrand::u64(..));
        let scene = (*place, Arc::clone(team), Runner::Hook(name.clone()));
        let door = Arc::new(ThreadDoor::new(Arc::clone(inner), scene, desk.inner(), key, 0));
        let heard = inner.scripts.hear(&hook, occasion.clone(), Arc::clone(&door) as _, &inner.limits).await;
        let told = match heard {
            Ok(heard) => take(&door, &occasion, heard, subject).await,
            Err(why) => Err(why),
        };
        let told = told.map_err(|why| door.without_secrets(why));
        // What it did counts only if what it gave does.
        let told = told.and_then(|told| {
            let acts = door.desk().take_acts();
            desk.absorb(&inner.world(team, 0), acts).map(|()| told)
        });
        match told {
            Ok(Told::Same) => {}
            Ok(Told::Instead(next, shape)) => (occasion, after.shape) = (next, shape),
            Ok(Told::Removed) => {
                after.shape = Shape::Removed;
                break;
            }
            Ok(Told::Blocked(reason)) => {
                after.blocked = Some(reason);
                break;
            }
            Err(why) => {
                tracing::warn!(thread = %place.thread, hook = %name, why, "a hook failed, and it goes on without it");
                after.failure.get_or_insert_with(|| format!("the hook `{name}` failed: {why}"));
                failures.push(Act::NoteHookFailure { hook: name, occasion: occasion.name().to_owned(), why });
            }
        }
    }
    after.acts = desk.take_acts();
    after.acts.append(&mut failures);
    after
}

/// What one hook made of the occasion.
enum Told {
    Same,
    Instead(Occasion, Shape),
    Removed,
    Blocked(String),
}

async fn take(door: &ThreadDoor, occasion: &Occasion, heard: Heard, subject: Subject<'_>) -> Result<Told, String> {
    match heard {
        Heard::Same => Ok(Told::Same),
        Heard::Removed => Ok(Told::Removed),
        Heard::Blocked(reason) => Ok(Told::Blocked(door.without_secrets(reason))),
        Heard::Instead(value) => {
            let next = occasion.clone().with(door.value_without_secrets(value));
            let shape = shape::read(door, &next, subject).await?;
            Ok(Told::Instead(next, shape))
        }
    }
}
