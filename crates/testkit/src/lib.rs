//! What tests and benchmarks stand on: a model that answers from a script, and the floor no runtime can beat.
//!
//! Test-only: this crate may be a dev-dependency and may not ship.

pub mod breaking_store;
pub mod cast;
pub mod fake_model;
pub mod floor;

pub use fake_model::{Brain, FakeModel, Fanout, Recording, Reply, Request, Rules};
