//! What tests and benchmarks stand on: a model that answers from a script, a registry that may lie, and the floor no runtime can beat.
//!
//! Test-only: this crate may be a dev-dependency and may not ship.

pub mod breaking_store;
pub mod cast;
pub mod fake_model;
pub mod fake_registry;
pub mod floor;
pub mod real_registry;
pub mod sly_server;

pub use fake_model::{Brain, FakeModel, Fanout, Recording, Reply, Request, Rules};
pub use fake_registry::{Door, FakeRegistry, Lie};
pub use real_registry::{Access, RealRegistry};
