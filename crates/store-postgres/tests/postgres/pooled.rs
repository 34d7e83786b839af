//! Behind a pooler that gives every transaction another session: no session state, no prepared statements, no hints.

use crate::contract::{InDatabase, made};
use crate::world::{World, step};
use entourage_store::Store;
use futures::future::join_all;

async fn make() -> InDatabase {
    made(World::with("&listen=off")).await
}

#[test]
fn it_behaves_as_the_memory_store_without_sessions() {
    entourage_store::contract::property::compare(make);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listens() {
    let world = World::with("&listen=off&pool=4");
    let store = world.open().await;
    let mut claims = Vec::new();
    for seed in 0..16 {
        claims.push(world.held(&store, seed).await);
    }
    // At once, so that several share a transaction.
    let commits = claims.iter().map(|claim| store.commit(claim.lease, step(claim, 1)));
    assert!(join_all(commits).await.iter().all(Result::is_ok));
    assert!(store.hints().is_none());
    let client = world.client().await;
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'";
    let listening: i64 = client.query_one(sessions, &[]).await.expect("it can be asked").get(0);
    assert_eq!(listening, 0);
}
