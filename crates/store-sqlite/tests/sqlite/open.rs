//! Opening a store: whose folder it is, which files it takes, and what an earlier process left.

use crate::world::World;
use entourage_model::ThreadStatus;
use entourage_store::{Store, StoreError};
use entourage_store_sqlite::SqliteStore;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

fn change(folder: &Path, sql: &str) {
    let file = Connection::open(folder.join("entourage.db")).expect("the file exists");
    file.execute_batch(sql).expect("the test's own statement");
}

#[tokio::test]
async fn a_folder_in_use_is_locked_until_the_store_is_closed() {
    let world = World::new();
    let store = world.open();
    assert!(matches!(SqliteStore::open(world.folder()), Err(StoreError::Locked)));
    store.close().await;
    world.open();
}

#[cfg(unix)]
#[test]
fn a_new_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let folder = world.folder().join("deep/data");
    SqliteStore::open(&folder).expect("the folder can be made");
    let mode = fs::metadata(&folder).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let world = World::new();
    world.open().close().await;
    change(world.folder(), "PRAGMA user_version = 7");
    let refused = SqliteStore::open(world.folder()).expect_err("it is newer");
    assert!(matches!(refused, StoreError::Newer { found: 7, known: 1 }), "{refused:?}");
}

#[tokio::test]
async fn a_file_of_another_program_is_refused() {
    let world = World::new();
    change(world.folder(), "CREATE TABLE theirs (a)");
    let refused = SqliteStore::open(world.folder()).expect_err("it is not ours");
    assert!(matches!(refused, StoreError::Corrupt(_)), "{refused:?}");
}

#[tokio::test]
async fn garbage_is_refused_and_left_alone() {
    for garbage in [&b"not a database"[..], &[0x5a; 20_000], b""] {
        let world = World::new();
        let file = world.folder().join("entourage.db");
        fs::write(&file, garbage).expect("it can be written");
        let refused = SqliteStore::open(world.folder()).expect_err("it is garbage");
        assert!(matches!(refused, StoreError::Corrupt(_)), "{refused:?}");
        assert_eq!(fs::read(&file).expect("it is there"), garbage);
    }
}

#[tokio::test]
async fn a_half_made_file_is_made_again() {
    let world = World::new();
    fs::write(world.folder().join("entourage.db.new"), b"half").expect("it can be written");
    let store = world.open();
    assert_eq!(store.check().await.expect("it can be checked"), []);
}

#[tokio::test]
async fn an_event_of_a_newer_form_is_refused() {
    let world = World::new();
    let store = world.open();
    let claim = world.held(&store, 1).await;
    store.close().await;
    change(world.folder(), "UPDATE events SET v = 9");
    let store = world.open();
    let refused = store.journal(claim.lease.thread, 0, 10).await.expect_err("it is newer");
    assert!(matches!(refused, StoreError::Newer { found: 9, known: 1 }), "{refused:?}");
}

#[tokio::test]
async fn what_an_earlier_process_held_is_ready_at_once() {
    let world = World::new();
    let store = world.open();
    let held = world.held(&store, 1).await;
    store.close().await;
    let store = world.open();
    let row = store.thread(held.lease.thread).await.expect("it can be read").expect("it exists");
    assert_eq!((row.status, row.epoch, row.attempts), (ThreadStatus::Ready, held.lease.epoch + 1, 1));
    assert!(matches!(store.heartbeat(held.lease.node).await, Err(StoreError::NodeDead)), "nodes are never used again");
    assert_eq!(store.sweep().await.expect("it can be swept"), 0);
    let node = world.node(&store, 2).await;
    let claims = store.claim(node, 10, None).await.expect("a living node may claim");
    assert_eq!((claims[0].attempts, &claims[0].lines), (2, &held.lines));
}

#[tokio::test]
async fn positions_are_not_given_again_after_a_restart() {
    let world = World::new();
    let store = world.open();
    let claim = world.held(&store, 1).await;
    let last = store.journal(claim.lease.thread, 0, 10).await.expect("it can be read").remove(0).position;
    store.delete(claim.lease.thread).await.expect("it can be deleted");
    store.close().await;
    let store = world.open();
    let claim = world.held(&store, 2).await;
    let next = store.journal(claim.lease.thread, 0, 10).await.expect("it can be read").remove(0).position;
    assert!(next > last);
}
