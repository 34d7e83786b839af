//! The store that a test runs on, if it does not care which: in memory, or the one that a variable names.

use crate::breaking_store::BreakingStore;
use crate::postgres::Schema;
use entourage_store::{MemoryStore, Store};
use entourage_store_postgres::{Options, PostgresStore};
use std::sync::Arc;

/// `postgres` lets tests run on PostgreSQL that run in memory otherwise.
pub const VARIABLE: &str = "ENTOURAGE_TEST_STORE";

/// An empty store of its own.
pub async fn any_store() -> Arc<dyn Store> {
    if !is_postgres() {
        return Arc::new(MemoryStore::new());
    }
    let schema = Schema::new();
    let store = PostgresStore::open(schema.url(), Options::default()).await.expect("a fresh schema is a store");
    Arc::new(BreakingStore::new(Arc::new(store)).keeping(schema))
}

/// Whether tests are to run on PostgreSQL. A word that nobody knows is no reason to pass in memory.
#[expect(clippy::disallowed_methods, reason = "the one variable that tests are told their store by")]
pub fn is_postgres() -> bool {
    match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("" | "memory") => false,
        Ok("postgres") => true,
        Ok(other) => unreachable!("{VARIABLE} is `{other}`; tests know `memory` and `postgres`"),
    }
}
