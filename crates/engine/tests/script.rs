//! The engine's door: a script in, events and effects out. `script/read.rs` and `script/player.rs` have the language.

#[path = "script/act.rs"]
mod act;
#[path = "script/actor.rs"]
mod actor;
#[path = "script/entry.rs"]
mod entry;
#[path = "script/hook.rs"]
mod hook;
#[path = "script/laws.rs"]
mod laws;
#[path = "script/names.rs"]
mod names;
#[path = "script/player.rs"]
mod player;
#[path = "script/read.rs"]
mod read;
#[path = "script/render.rs"]
mod render;
#[path = "script/team.rs"]
mod team;

#[path = "script/activations.rs"]
mod activations;
#[path = "script/acts.rs"]
mod acts;
#[path = "script/agentscope.rs"]
mod agentscope;
#[path = "script/agentscope_system.rs"]
mod agentscope_system;
#[path = "script/agentscope_tasks.rs"]
mod agentscope_tasks;
#[path = "script/attachments.rs"]
mod attachments;
#[path = "script/bindings.rs"]
mod bindings;
#[path = "script/breakages.rs"]
mod breakages;
#[path = "script/calls.rs"]
mod calls;
#[path = "script/cancels.rs"]
mod cancels;
#[path = "script/children.rs"]
mod children;
#[path = "script/contexts.rs"]
mod contexts;
#[path = "script/crashes.rs"]
mod crashes;
#[path = "script/dex.rs"]
mod dex;
#[path = "script/handoffs.rs"]
mod handoffs;
#[path = "script/hooks.rs"]
mod hooks;
#[path = "script/immediates.rs"]
mod immediates;
#[path = "script/limits.rs"]
mod limits;
#[path = "script/messages.rs"]
mod messages;
#[path = "script/optionals.rs"]
mod optionals;
#[path = "script/remotes.rs"]
mod remotes;
#[path = "script/requests.rs"]
mod requests;
#[path = "script/resumable.rs"]
mod resumable;
#[path = "script/schemas.rs"]
mod schemas;
#[path = "script/sides.rs"]
mod sides;
#[path = "script/stops.rs"]
mod stops;
#[path = "script/terminations.rs"]
mod terminations;
#[path = "script/times.rs"]
mod times;
#[path = "script/turns.rs"]
mod turns;
#[path = "script/variables.rs"]
mod variables;

/// Plays the script against a new thread of that team. Whatever the script looks at, the laws hold after every line.
#[track_caller]
fn check(team: &str, script: &str) {
    let actual = player::Player::new(team::Setup::read(team)).play(script);
    let expected: Vec<_> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(expected.join("\n") == actual, "this is what happened:\n{actual}\n");
}
