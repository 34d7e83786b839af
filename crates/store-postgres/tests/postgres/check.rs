//! What `check` finds: each kind of damage by its code.

use crate::world::World;
use entourage_model::Digest;
use entourage_store::contract::sample::BUNDLE;
use entourage_store::{FileRow, Store};
use entourage_store_postgres::PostgresStore;

/// Puts every line aside, as a thread does that breaks over it.
const BURY: &str = "INSERT INTO dead_letters (thread, number, at, reason, v, body)
                    SELECT thread, number, 1, 'it broke', v, body FROM lines";

/// A store in which there is one row of everything.
async fn fill(store: &PostgresStore, world: &World) {
    let claim = world.held(store, 1).await;
    for content in [b"content", BUNDLE] {
        store.put_blob(Digest::of(content), content).await.expect("it can be kept");
    }
    let file = FileRow {
        path: "a\0.txt".to_owned(),
        digest: Digest::of(b"content"),
        size: 7,
        mime_type: "text/plain".to_owned(),
        created_at: store.now(),
    };
    store.put_file(claim.lease.thread, file.clone()).await.expect("it can be put");
    assert_eq!(store.files(claim.lease.thread).await.expect("it can be read"), [file]);
    assert_eq!(store.check().await.expect("it can be checked"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_damage_has_its_code() {
    let cases = [
        ("UPDATE threads SET seq = seq + 1", "S002"),
        ("DELETE FROM events WHERE seq = 1", "S002"),
        ("UPDATE lines SET number = 99", "S003"),
        ("UPDATE threads SET status = 6, owner = NULL", "S004"),
        ("UPDATE files SET thread = '00000000-0000-0000-0000-000000000000'", "S005"),
        ("UPDATE threads SET below = 5", "S006"),
        ("UPDATE events SET body = 'x'", "S007"),
        ("UPDATE lines SET v = 9", "S007"),
        ("UPDATE blobs SET body = 'other'", "S008"),
        ("DELETE FROM blobs WHERE digest IN (SELECT digest FROM files)", "S009"),
        ("DELETE FROM blobs WHERE digest IN (SELECT bundle FROM threads)", "S050"),
        (BURY, "S051"),
    ];
    for (damage, code) in cases {
        let world = World::new();
        let store = world.open().await;
        fill(&store, &world).await;
        world.client().await.batch_execute(damage).await.expect("the test's own statement");
        let reports = store.check().await.expect("it can be checked");
        assert!(reports.iter().all(|report| report.hint.is_some()), "{reports:?}");
        let mut codes: Vec<_> = reports.iter().map(|report| report.code.0).collect();
        codes.dedup();
        assert_eq!(codes, [code], "{damage}");
        store.close().await;
    }
}
