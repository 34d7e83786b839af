//! The store over a real PostgreSQL.

mod blob;
mod check;
mod contract;
mod hint;
mod lossy;
mod open;
mod order;
mod outcome;
mod plan;
mod pooled;
mod world;
