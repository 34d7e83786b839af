//! Opening a store: which servers and tables it takes, and what it says of the others.

use crate::world::World;
use entourage_model::ThreadStatus;
use entourage_store::{Store, StoreError};
use entourage_store_postgres::{Options, PostgresStore};
use std::time::Duration;

pub(crate) fn hasty() -> Options {
    Options { patience: Duration::from_millis(200), ..Options::default() }
}

pub(crate) async fn refusal(url: &str) -> (&'static str, String) {
    match PostgresStore::open(url, hasty()).await.expect_err("it must be refused") {
        StoreError::Refused(report) => (report.code.0, report.what.clone()),
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_way_there_is_said_by_its_code() {
    let world = World::new();
    let url = world.database.url();
    let (address, name) = url.rsplit_once('/').expect("it names a database");
    let cases = [
        ("postgres://127.0.0.1:1/none".to_owned(), "S015"),
        (format!("{address}/there_is_none"), "S017"),
        (url.replace("postgres://", "postgres://nobody_of_that_name:x@").replacen("@postgres@", "@", 1), "S016"),
        (format!("{address}/{name}?sslmode=require"), "S018"),
        (format!("{address}/{name}?sslmode=sometimes"), "S025"),
    ];
    for (url, code) in cases {
        assert_eq!(refusal(&url).await.0, code, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_forget_is_refused_unless_that_is_accepted() {
    let world = World::new();
    let client = world.client().await;
    let name: String = client.query_one("SELECT current_database()", &[]).await.expect("it has a name").get(0);
    let off = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    client.batch_execute(&off).await.expect("it can be set");
    let (code, what) = refusal(&world.url()).await;
    assert_eq!((code, what.contains("synchronous_commit")), ("S020", true));
    let accepted = format!("{}&accept_loss=on", world.url());
    PostgresStore::open(&accepted, hasty()).await.expect("it was accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_refused() {
    let world = World::new();
    world.open().await.close().await;
    world
        .client()
        .await
        .batch_execute("UPDATE meta SET value = '7' WHERE name = 'version'")
        .await
        .expect("it is there");
    let refused = PostgresStore::open(&world.url(), hasty()).await.expect_err("it is newer");
    assert!(matches!(refused, StoreError::Newer { found: 7, known: 1 }), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_somebody_else_is_refused_and_left_alone() {
    let world = World::new();
    let client = world.client().await;
    let theirs = format!("CREATE SCHEMA {0}; CREATE TABLE {0}.theirs (a integer)", world.schema);
    client.batch_execute(&theirs).await.expect("the test's own tables");
    assert_eq!(refusal(&world.url()).await.0, "S024");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()";
    let tables: i64 = client.query_one(tables, &[]).await.expect("it can be counted").get(0);
    assert_eq!(tables, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_rights_is_told_so() {
    let world = World::new();
    let client = world.client().await;
    let user = format!("poor_{}", std::process::id());
    let name: String = client.query_one("SELECT current_database()", &[]).await.expect("it has a name").get(0);
    let make = format!("CREATE ROLE {user} LOGIN; REVOKE CREATE ON DATABASE {name} FROM PUBLIC");
    client.batch_execute(&make).await.expect("a user can be made");
    let (_, host) = world.database.url().rsplit_once('@').unwrap_or(("", &world.database.url()["postgres://".len()..]));
    let refused = refusal(&format!("postgres://{user}@{host}?schema={}", world.schema)).await;
    client.batch_execute(&format!("DROP ROLE {user}")).await.expect("the user owns nothing");
    assert_eq!(refused.0, "S023", "{}", refused.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_open_it_at_once_make_its_tables_once() {
    let world = World::new();
    let url = world.url();
    let opened = futures::future::join_all((0..6).map(|_| PostgresStore::open(&url, Options::default()))).await;
    assert!(opened.iter().all(Result::is_ok), "{opened:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_holds_stays_its_own() {
    let world = World::new();
    let first = world.open().await;
    let held = world.held(&first, 1).await;
    let second = world.open().await;
    let row = second.thread(held.lease.thread).await.expect("it can be read").expect("it exists");
    assert_eq!((row.status, row.epoch), (ThreadStatus::Running, held.lease.epoch));
    first.heartbeat(held.lease.node).await.expect("it lives");
    assert_eq!(second.held(held.lease.node).await.expect("it can be read"), [held.lease]);
    assert_eq!(second.waiting(held.lease.node).await.expect("it can be read"), [(held.lease.thread, 1)]);
    second.retire(held.lease.node).await.expect("it ends well");
    let row = second.thread(held.lease.thread).await.expect("it can be read").expect("it exists");
    assert_eq!((row.status, row.attempts), (ThreadStatus::Ready, 0));
    assert!(matches!(first.heartbeat(held.lease.node).await, Err(StoreError::NodeDead)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_value_is_remembered() {
    let world = World::new();
    let store = world.open().await;
    for (given, kept) in [("one\0", "one\0"), ("two", "one\0")] {
        assert_eq!(store.remember("name", given).await.expect("it can be kept"), kept);
    }
    assert_eq!(store.remember("other", "two").await.expect("it can be kept"), "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn positions_grow_on_in_a_copy_with_small_transaction_numbers() {
    let world = World::new();
    let store = world.open().await;
    let claim = world.held(&store, 1).await;
    store.close().await;
    // As if the rows came from a server that had seen many more transactions.
    let copy =
        "UPDATE events SET position = position + (1::bigint << 50); UPDATE meta SET value = 'x' WHERE name = 'system'";
    world.client().await.batch_execute(copy).await.expect("the test's own change");
    let store = world.open().await;
    let before = store.tree_journal(claim.root, 0, 10).await.expect("it can be read");
    let position = store.commit(claim.lease, crate::world::step(&claim, 1)).await.expect("the lease is good").position;
    assert!(position > before[0].position);
    assert_eq!(store.tree_journal(claim.root, 0, 10).await.expect("it can be read").len(), 2);
}
