//! The API from the outside: a request in, an answer out, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod client;
mod stage;

mod attacks;
mod bodies;
mod document;
mod doors;
mod events;
mod files;
mod framing;
mod keys;
mod mcp;
mod mcp_clients;
mod nodes;
mod page;
mod relations;
mod runs;
mod tasks;
mod terminations;
mod threads;
mod users;
mod visible;
