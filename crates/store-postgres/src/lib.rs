//! Threads in PostgreSQL: many processes, one database, nothing acknowledged before it is on its disk.
//!
//! `store` is the trait's implementation. A write is one call of a function that lies in the database (`schema/`), so
//! that it is one round trip and one transaction; each can be sent again when its outcome is unknown, because it brings
//! a token by which it finds itself. `database` does that; `lane` puts commits that come at once into one transaction.

mod blob;
mod body;
mod check;
mod claim;
mod clock;
mod commit;
mod copy;
mod create;
mod database;
mod enqueue;
mod fault;
mod file;
mod herald;
mod journal;
mod lane;
mod migration;
mod node;
mod place;
mod refusal;
mod run;
mod settings;
mod store;
mod text;
mod thread;
mod tls;

pub use blob::BlobPlace;
pub use place::Variables;
pub use settings::{Options, place};
pub use store::PostgresStore;
