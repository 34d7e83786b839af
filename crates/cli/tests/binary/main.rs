//! The binary from the outside: a command in, an exit code and text out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod project;
mod terminal;

mod declarations;
mod demo;
mod exchange;
mod interrupts;
mod mcp;
mod run;
mod serve;
mod settings;
mod stores;
mod threads;
