//! Several nodes on one PostgreSQL, disturbed in every way that a machine or a network can, and checked afterwards.

mod cluster;
mod driver;
mod fault;

pub use driver::{Disturbed, Settings, run};
pub use fault::Fault;
