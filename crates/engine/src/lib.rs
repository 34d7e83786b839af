//! The rules of a thread: pure decisions over a journal.
//!
//! `step` turns an input into a decision and applies it to the state; `apply` folds one event into a state.
//! Nothing here awaits, reads a clock or draws a random number: the moment and the seed come in with the cue.

#![warn(clippy::wildcard_enum_match_arm)]

mod act;
mod apply;
mod attachment;
mod context;
mod dialect;
mod doings;
mod hook;
mod limit;
mod offer;
mod state;
mod step;
mod subprompt;
mod variable;

pub use act::{foresee, may_call, permit};
pub use apply::apply;
pub use attachment::looks_at_files;
pub use context::request;
pub use dialect::agentscope::{Seen, id as agent_id, output as task_output, tasks_of as tasks};
pub use dialect::dex::{Bounds, envelope as dex_envelope, fit as dex_fit, profile_id, word as dex_word};
pub use dialect::{Look, definition_folders, startable, summoned};
pub use doings::Doings;
pub use hook::{CallResult, Change, Echo, Occasion, Pause, hears_birth, listeners};
pub use offer::{World, offered, server};
pub use state::{Call, CallState, Child, Delegated, Session, ThreadState};
pub use step::{Cue, Decision, Effect, Input, Letter, Mail, has_room, long_results, step};
pub use subprompt::request as subprompt_request;
pub use variable::for_relative as variables_for_relative;
pub use variable::for_tool as variables_for_tool;
