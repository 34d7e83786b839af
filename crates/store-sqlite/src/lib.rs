//! Threads in a SQLite file: one process, one writer, nothing acknowledged before it is on the disk.
//!
//! `store` is the trait's implementation. A write becomes a `command`, which the `writer` runs together with others in
//! one transaction; a read goes to one of a few connections of its own.

mod body;
mod check;
mod column;
mod command;
mod connection;
mod copy;
mod fault;
mod folder;
mod read;
mod session;
mod store;
mod writer;

pub use folder::DATABASE;
pub use store::{Options, SqliteStore};
