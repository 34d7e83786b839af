//! The SQLite store keeps the contract.

use async_trait::async_trait;
use entourage_store::Store;
use entourage_store::contract::{HandClock, Subject};
use entourage_store_sqlite::{Options, SqliteStore};
use std::time::Duration;
use tempfile::TempDir;

struct OnDisk {
    clock: HandClock,
    store: SqliteStore,
    /// Removed with everything in it when the case is over.
    _folder: TempDir,
}

async fn make() -> OnDisk {
    // In memory where there is such a place: the contract is about what is written, `kill` about what stays.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder");
    let clock = HandClock::new();
    let options = Options { clock: clock.clock(), ..Options::default() };
    let store = SqliteStore::open_with(folder.path(), options).expect("a fresh folder");
    OnDisk { clock, store, _folder: folder }
}

#[async_trait]
impl Subject for OnDisk {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

entourage_store::contract!(make);
