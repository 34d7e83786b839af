//! What tests and benchmarks stand on: a model that answers from a script, a registry that may lie, a database for each test, buckets, and the floor no runtime can beat.
//!
//! Test-only: this crate may be a dev-dependency and may not ship.

pub mod any_store;
pub mod breaking_store;
pub mod bucket_server;
pub mod cast;
pub mod dying_store;
pub mod fake_model;
pub mod fake_registry;
pub mod floor;
pub mod postgres;
pub mod real_registry;
pub mod sly_server;

pub use any_store::any_store;
pub use bucket_server::BucketServer;
pub use fake_model::{Brain, FakeModel, Fanout, Recording, Reply, Request, Rules};
pub use fake_registry::{Door, FakeRegistry, Lie};
pub use real_registry::{Access, RealRegistry};
