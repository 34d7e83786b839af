//! Registries: honest ones, hostile ones, and those that ask who we are.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test builds its own files and may break")]

mod artifact;

mod attached;
mod doors;
mod lies;
mod silence;
mod transfer;
mod upload;
