//! A conversation with an MCP server, as its client has it.
//!
//! The protocol's library is generic from top to bottom, and an asynchronous function is compiled by whoever awaits it: each
//! crate that talked to servers by itself would compile the whole protocol once more. It is compiled here, behind futures
//! in boxes, and nowhere else.

mod bounded;
mod client;
mod conversation;

pub use conversation::{Conversation, innermost};
