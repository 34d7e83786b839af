//! Codex, goose and Docker Agent, in and out; and targets that are only written.
#![expect(clippy::panic, reason = "a test may")]

mod codex;
mod docker_agent;
mod drawn;
mod files;
mod goose;
mod hostile;
mod kit;
mod losses;
mod plain;
mod project;
mod sniff;
mod standard_agents;
mod there_and_back;
