//! The servers of a process, as whoever calls their tools sees them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is a failed test")]

mod calls;
mod endless;
mod keep;
mod sly;
mod stage;
