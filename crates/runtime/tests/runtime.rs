//! The runtime as a whole: real actors on the memory store, against a fake model on loopback.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on should stop")]

#[path = "runtime/agentscope.rs"]
mod agentscope;
#[path = "runtime/children.rs"]
mod children;
#[path = "runtime/crashes.rs"]
mod crashes;
#[path = "runtime/depths.rs"]
mod depths;
#[path = "runtime/dex.rs"]
mod dex;
#[path = "runtime/dex_files.rs"]
mod dex_files;
#[path = "runtime/endings.rs"]
mod endings;
#[path = "runtime/faults.rs"]
mod faults;
#[path = "runtime/folders.rs"]
mod folders;
#[path = "runtime/hook_requests.rs"]
mod hook_requests;
#[path = "runtime/hooks.rs"]
mod hooks;
#[path = "runtime/nodes.rs"]
mod nodes;
#[path = "runtime/prompts.rs"]
mod prompts;
#[path = "runtime/remotes.rs"]
mod remotes;
#[path = "runtime/script_ends.rs"]
mod script_ends;
#[path = "runtime/script_faults.rs"]
mod script_faults;
#[path = "runtime/scripts.rs"]
mod scripts;
#[path = "runtime/smithy.rs"]
mod smithy;
#[path = "runtime/stage.rs"]
mod stage;
#[path = "runtime/state_methods.rs"]
mod state_methods;
#[path = "runtime/turns.rs"]
mod turns;
#[path = "runtime/wide.rs"]
mod wide;
