//! The fake model, seen by a client over its socket.

#![expect(clippy::unwrap_used, reason = "in a test, what is not there is a failure")]

mod chat_completions;
mod client;
mod fanout;
mod faults;
mod messages;
mod record;
mod rules;
