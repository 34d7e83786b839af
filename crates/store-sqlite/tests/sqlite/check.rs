//! What `check` finds: each kind of damage by its code.

use crate::world::World;
use entourage_model::Digest;
use entourage_store::contract::sample::BUNDLE;
use entourage_store::{FileRow, Store};
use rusqlite::Connection;
use std::fs;

/// Puts every line aside, as a thread does that breaks over it.
const BURY: &str = "INSERT INTO dead_letters (thread, number, at, reason, v, body)
                    SELECT thread, number, 1, 'it broke', v, body FROM lines";

/// A store in which there is one row of everything.
async fn fill(world: &World) {
    let store = world.open();
    let claim = world.held(&store, 1).await;
    for content in [b"content", BUNDLE] {
        store.put_blob(Digest::of(content), content).await.expect("it can be kept");
    }
    let file = FileRow {
        path: "a.txt".to_owned(),
        digest: Digest::of(b"content"),
        size: 7,
        mime_type: "text/plain".to_owned(),
        created_at: store.now(),
    };
    store.put_file(claim.lease.thread, file).await.expect("it can be put");
    assert_eq!(store.check().await.expect("it can be checked"), []);
    store.close().await;
}

async fn codes(world: &World) -> Vec<&'static str> {
    let reports = world.open().check().await.expect("it can be checked");
    assert!(reports.iter().all(|report| report.hint.is_some()), "{reports:?}");
    let mut codes: Vec<_> = reports.iter().map(|report| report.code.0).collect();
    codes.dedup();
    codes
}

#[tokio::test]
async fn each_kind_of_damage_has_its_code() {
    let cases = [
        ("UPDATE threads SET seq = seq + 1", "S002"),
        ("DELETE FROM events WHERE seq = 1", "S002"),
        ("UPDATE lines SET number = 99", "S003"),
        ("UPDATE threads SET status = 6, owner = NULL", "S004"),
        ("UPDATE files SET thread = zeroblob(16)", "S005"),
        ("UPDATE threads SET below = 5", "S006"),
        ("UPDATE events SET body = 'x'", "S007"),
        ("UPDATE lines SET v = 9", "S007"),
        ("UPDATE blobs SET body = CAST('other' AS BLOB)", "S008"),
        ("DELETE FROM blobs WHERE digest IN (SELECT digest FROM files)", "S009"),
        ("DELETE FROM blobs WHERE digest IN (SELECT bundle FROM threads)", "S050"),
        (BURY, "S051"),
    ];
    for (damage, code) in cases {
        let world = World::new();
        fill(&world).await;
        let file = Connection::open(world.folder().join("entourage.db")).expect("the file exists");
        file.execute_batch(&damage.replace("'x'", "CAST('x' AS BLOB)")).expect("the test's own statement");
        drop(file);
        assert_eq!(codes(&world).await, [code], "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_page_is_found() {
    let world = World::new();
    fill(&world).await;
    let path = world.folder().join("entourage.db");
    let page: u32 = {
        let file = Connection::open(&path).expect("the file exists");
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'files'";
        file.query_row(root, [], |row| row.get(0)).expect("the table exists")
    };
    let mut bytes = fs::read(&path).expect("it can be read");
    let end = page as usize * 4096;
    bytes[end - 4096..end].fill(0xff);
    fs::write(&path, bytes).expect("it can be written");
    assert_eq!(codes(&world).await, ["S001"]);
}
