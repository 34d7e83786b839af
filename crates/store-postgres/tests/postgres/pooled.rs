//! Behind a pooler that gives every transaction another session: no session state, no prepared statements, no hints.

use crate::contract::{InDatabase, made};
use crate::world::{World, new_thread, step};
use entourage_store::Store;
use entourage_store::contract::{check, commit, delivery, file, lease, listing, node, queue, race, root, spawn};
use entourage_store::{Table, copy};
use entourage_testkit::postgres::Pooler;
use futures::future::join_all;

thread_local! {
    /// One for all cases of a test. Ends with it.
    static POOLER: Pooler = Pooler::before(World::new().database.url());
}

async fn direct() -> InDatabase {
    made(World::with("&listen=off")).await
}

async fn pooled() -> InDatabase {
    made(behind_pooler("&listen=off")).await
}

fn behind_pooler(more: &str) -> World {
    POOLER.with(|pooler| World::with(more).through(pooler.url()))
}

#[test]
fn the_contract_holds_without_sessions() {
    holds(direct);
}

#[test]
fn the_contract_holds_behind_a_transaction_pooler() {
    holds(pooled);
}

fn holds(make: impl AsyncFn() -> InDatabase + Copy) {
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

/// Whoever copies prepares statements, in a session that another one has next, who may choose the same names.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_behind_a_pooler_leaves_no_statement_in_a_session() {
    let source = World::new().open().await;
    for seed in 0..3 {
        source.create(new_thread(seed), None).await.expect("it can be made");
    }
    let world = behind_pooler("&listen=off");
    let target = world.open().await;
    let copied = copy(&source, &target, |_, _| ()).await.expect("it can be copied");
    assert_eq!(copied.get(&Table::Threads), Some(&3));
    target.close().await;
    let left = POOLER.with(|pooler| pooler.run("SELECT count(*) FROM pg_prepared_statements"));
    assert_eq!(left.trim(), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_did_behind_a_pooler_another_reads() {
    let world = behind_pooler("&listen=off&pool=4");
    let (here, there) = (world.open().await, world.open().await);
    let claim = world.held(&here, 1).await;
    here.commit(claim.lease, step(&claim, 1)).await.expect("the lease is good");
    let journal = there.journal(claim.lease.thread, 0, 10).await.expect("it can be read");
    assert_eq!(journal.len(), 2);
}
