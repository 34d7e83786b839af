//! Threads at work: actors that read, step, commit and perform.
//!
//! `Runtime` is the small API that every dialect, command and protocol uses: create, send, wait, cancel, list.
//! The rules of a thread are in `engine`; here they are only carried out.

mod actor;
mod artifact;
mod cache;
mod dex;
mod drive;
mod hub;
mod mirror;
mod node;
mod perform;
mod poller;
mod query;
mod request;
mod roster;
mod runtime;
mod spawn;
mod team;
mod vault;
mod wait;

pub use artifact::name_artifacts;
pub use drive::Offer;
pub use entourage_store::{FileRow, Page, RootKey, RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow};
pub use hub::{Notice, Watcher};
pub use request::Given;
pub use runtime::{Parts, Runtime, RuntimeError};
pub use spawn::{Created, NewRoot, Order, Outgoing, Sent};
pub use vault::SealedVault;
