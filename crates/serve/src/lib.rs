//! Threads over HTTP: the API, its event streams, and who may use them.
//!
//! A request travels: `server` (connections, limits) → `framing` (how long a body is) → `guard` (host, origin, token)
//! → `router` → one file per kind of thing. Handlers only translate: what they do is done by the runtime.

mod fault;
mod framing;
mod guard;
mod identity;
mod router;
mod server;
mod service;
mod token;
mod variables;

mod body;
mod cursor;
mod key;
mod label;
mod path;
mod query;
mod schema;
pub mod shape;

pub mod mcp;

mod agents;
mod codes;
mod current;
mod event;
mod events;
mod files;
mod glance;
mod health;
mod messages;
mod meters;
mod openapi;
mod page;
mod runs;
mod tasks;
mod threads;

pub use current::Teams;
pub use identity::Identity;
pub use server::{Drain, ServeError, Server};
pub use service::Service;
pub use token::{Token, Tokens};
