//! Whoever follows a tree sees every event once, in order, while many write to it.

use crate::world::{World, step};
use entourage_model::{Ids, Timestamp, Write};
use entourage_store::Store;
use entourage_store::contract::sample;
use entourage_store::{Claim, Commit};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Client;

const CHILDREN: u64 = 12;
const STEPS: u64 = 25;

async fn tree(world: &World, store: &dyn Store) -> Vec<Claim> {
    let root = world.held(store, 1).await;
    let children = (0..CHILDREN).map(|seed| {
        let id = Ids::new(Timestamp(9_000_000), seed + 100).thread();
        Write::Spawn(Box::new(sample::new_thread(id, Some(root.lease.thread), root.root)))
    });
    let commit = Commit { writes: children.collect(), claim: true, ..step(&root, 1) };
    let mut claims = store.commit(root.lease, commit).await.expect("the lease is good").claims;
    claims.push(Claim { seq: 2, ..root });
    claims
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_a_tree_misses_nothing_that_becomes_durable_late() {
    let world = World::new();
    let store = Arc::new(world.open().await);
    let claims = tree(&world, &*store).await;
    let root = claims[0].root;
    let expected = CHILDREN * (STEPS + 1) + STEPS + 2;
    let mut writers = Vec::new();
    for claim in claims {
        // Each over its own pool, as processes do.
        let store = Arc::new(world.open().await);
        writers.push(tokio::spawn(async move {
            for seq in claim.seq..claim.seq + STEPS {
                store.commit(claim.lease, step(&claim, seq)).await.expect("the lease is good");
            }
        }));
    }
    let (mut seen, mut after) = (0, 0);
    while seen < expected {
        let page = store.tree_journal(root, after, 1000).await.expect("it can be read");
        assert!(page.is_sorted_by_key(|event| event.position));
        seen += page.len() as u64;
        after = page.last().map_or(after, |event| event.position);
        if page.is_empty() && writers.iter().all(tokio::task::JoinHandle::is_finished) {
            let last = store.tree_journal(root, after, 1000).await.expect("it can be read").len() as u64;
            assert_eq!(seen + last, expected, "what came late was skipped");
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(store.tree_journal(root, 0, 10_000).await.expect("it can be read").len() as u64, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_under_way_hides_what_comes_behind_it_and_a_strangers_transaction_does_not() {
    let world = World::new();
    let store = world.open().await;
    let claims = tree(&world, &store).await;
    let root = claims[0].root;
    let before = store.tree_journal(root, 0, 1000).await.expect("it can be read").len();
    let stranger = world.client().await;
    let theirs = "CREATE TABLE theirs (a integer); BEGIN; INSERT INTO theirs VALUES (1)";
    stranger.batch_execute(theirs).await.expect("a transaction of somebody else");
    store.commit(claims[0].lease, step(&claims[0], 1)).await.expect("the lease is good");
    let seen = store.tree_journal(root, 0, 1000).await.expect("it can be read").len();
    assert_eq!(seen, before + 1, "a stranger's transaction hides nothing");
    let slow = begun(&world, &claims[1]).await;
    store.commit(claims[2].lease, step(&claims[2], 1)).await.expect("the lease is good");
    let seen = stranger.query_one("SELECT count(*) FROM tree_events($1, 0, 1000)", &[&root.uuid()]).await;
    assert_eq!(seen.expect("it can be read").get::<_, i64>(0), before as i64 + 1, "what lies behind it has to wait");
    slow.batch_execute("ROLLBACK").await.expect("it can be taken back");
    let seen = store.tree_journal(root, 0, 1000).await.expect("it can be read").len();
    assert_eq!(seen, before + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_trees_commit_hides_is_waited_for() {
    let world = World::new();
    let store = world.open().await;
    let (claim, other) = (world.held(&store, 1).await, world.held(&store, 2).await);
    let slow = begun(&world, &other).await;
    let last = store.commit(claim.lease, step(&claim, 1)).await.expect("the lease is good").position;
    // Nobody will be told of this tree again, so whoever looks now has to see all of it.
    let mut read = store.tree_journal(claim.root, 0, 1000);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut read).await;
    assert!(early.is_err(), "it cannot be seen yet: {early:?}");
    slow.batch_execute("ROLLBACK").await.expect("it can be taken back");
    let page = read.await.expect("it can be read");
    assert_eq!(page.last().map(|event| event.position), Some(last));
    let page = store.tree_journal(claim.root, 0, 1).await.expect("it can be read");
    assert_eq!(page.len(), 1, "a full page waits for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_head_of_a_tree_is_its_last_event() {
    let world = World::new();
    let store = world.open().await;
    let (claim, other) = (world.held(&store, 1).await, world.held(&store, 2).await);
    let nobody = Ids::new(Timestamp(0), 9).thread();
    let last = store.commit(claim.lease, step(&claim, 1)).await.expect("the lease is good").position;
    let mut heads = store.heads(&[claim.root, nobody, other.root]).await.expect("they can be read");
    heads.sort_by_key(|(root, _)| *root != claim.root);
    let first = store.journal(other.root, 0, 9).await.expect("it can be read").pop().expect("it was made");
    assert_eq!(heads, [(claim.root, last), (other.root, first.position)]);
    store.delete(claim.root).await.expect("it can be deleted");
    assert_eq!(store.heads(&[claim.root]).await.expect("they can be read"), []);
}

/// A commit that is not at its end.
async fn begun(world: &World, claim: &Claim) -> Client {
    let slow = world.client().await;
    let call = format!(
        "BEGIN; SELECT commit('{}', '{}', 1, 1, '00000000-0000-0000-0000-000000000001', ARRAY['{{}}'], 1, 2::smallint,
                              9, NULL, NULL, ARRAY[1, 1, 1]::bigint[], 0, NULL)",
        claim.lease.thread, claim.lease.node
    );
    slow.batch_execute(&call).await.expect("a commit can be begun");
    slow
}
