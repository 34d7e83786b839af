//! The binary from the outside: a command in, an exit code and text out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod project;
mod terminal;

mod agentscope;
mod attacks;
mod blobs;
mod bundles;
#[cfg(target_os = "linux")]
mod cancels;
mod declarations;
mod demo;
mod dex;
mod exchange;
mod hooks;
mod interrupts;
mod java;
mod materialize;
mod mcp;
mod packages;
mod packing;
mod postgres;
mod python_sdk;
mod registry;
mod run;
mod serve;
mod servers;
mod settings;
mod signatures;
mod stores;
mod tasks;
mod threads;
mod through_server;
#[cfg(target_os = "linux")]
mod toolkit;
mod two_servers;
