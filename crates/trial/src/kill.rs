//! Killing a node at random instants under load, and checking the whole history afterwards.

pub(crate) mod brain;
mod driver;

pub use driver::{Killed, Settings, run};
