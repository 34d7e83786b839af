//! Codex, goose and Docker Agent, which keep agents in data; and targets that are only written.

mod codex;
mod docker_agent;
mod drawn;
mod files;
mod goose;
mod hostile;
mod losses;
mod plain;
mod project;
mod sniff;
mod standard_agents;
mod there_and_back;
