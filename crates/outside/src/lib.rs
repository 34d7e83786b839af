//! What lies outside a thread: the models it asks and the tools it calls, each behind a small trait; and registries, where
//! artifacts come from.
//!
//! Nothing here decides anything: it does what it is told and says how that went.

pub mod model;
pub mod private_file;
pub mod registry;
pub mod remote;
pub mod sandbox;
pub mod tool;
pub mod workspace;
pub mod workspaces;
