//! Behind a pooler that gives every transaction another session: no session state, no prepared statements, no hints.

use crate::contract::{InDatabase, made};
use crate::world::{World, step};
use entourage_store::Store;
use entourage_store::contract::{check, commit, delivery, file, lease, listing, node, queue, race, root, spawn};
use futures::future::join_all;

async fn make() -> InDatabase {
    made(World::with("&listen=off")).await
}

#[test]
fn the_contract_holds_without_sessions() {
    check(make, commit::a_stale_epoch_is_fenced_and_changes_nothing);
    check(make, delivery::two_deliveries_make_one_claim_with_both_lines);
    check(make, spawn::a_claim_holds_lines_delivered_later_in_its_commit);
    check(make, queue::a_repeated_key_gives_the_first_line);
    check(make, root::a_root_key_used_at_once_makes_one_thread);
    check(make, lease::claims_are_made_longest_waiting_first);
    check(make, node::threads_of_a_dead_node_are_swept_once);
    check(make, listing::thread_filters_combine);
    check(make, file::deleting_takes_the_subtree_and_leaves_the_rest);
    check(make, race::concurrent_claims_take_each_thread_once);
    check(make, race::one_of_many_commits_with_the_same_lease_wins);
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
