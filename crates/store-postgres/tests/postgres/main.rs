//! The store over a real PostgreSQL.

mod blob;
#[cfg(feature = "s3")]
mod bucket;
mod check;
mod connection;
mod contract;
mod folder;
mod hint;
mod lossy;
mod open;
mod order;
mod outcome;
mod plan;
mod pooled;
mod wire;
mod world;
