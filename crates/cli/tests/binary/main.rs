//! The binary from the outside: a command in, an exit code and text out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod project;
mod terminal;

mod agentscope;
mod bundles;
mod declarations;
mod demo;
mod exchange;
mod interrupts;
mod materialize;
mod mcp;
mod packing;
mod python_sdk;
mod registry;
mod run;
mod serve;
mod servers;
mod settings;
mod signatures;
mod stores;
mod threads;
mod through_server;
#[cfg(target_os = "linux")]
mod toolkit;
