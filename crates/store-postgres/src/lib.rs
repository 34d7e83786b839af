//! Threads in PostgreSQL: many processes, one database, nothing acknowledged before it is on its disk.

mod settings;
mod store;

pub use settings::{Options, place};
pub use store::PostgresStore;
