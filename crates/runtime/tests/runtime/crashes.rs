//! A process that ends at the wrong moment, and the one that takes over.

use crate::stage::{Stage, is, solo};
use entourage_model::{Limits, Role, ThreadStatus, Timestamp};
use entourage_store::{Clock, MemoryStore};
use entourage_testkit::cast::blocking;
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// A store whose clock is moved by hand.
fn hand_clock() -> (Arc<MemoryStore>, Arc<AtomicI64>) {
    let now = Arc::new(AtomicI64::new(1_000_000_000));
    let hand = Arc::clone(&now);
    let clock = Clock::new(move || Timestamp(hand.fetch_add(1, Ordering::Relaxed)));
    (Arc::new(MemoryStore::with_clock(clock)), now)
}

#[tokio::test]
async fn a_graceful_end_leaves_the_thread_ready_and_the_next_runtime_finishes_it() {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&calls);
    let brain = move |_: &Request| {
        if seen.fetch_add(1, Ordering::Relaxed) == 0 { Reply::hang() } else { Reply::text("at last") }
    };
    let mut stage = Stage::new(vec![solo("boss", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(1).await;
    stage.runtime.shutdown().await;
    assert_eq!(stage.store.thread(thread).await.unwrap().unwrap().status, ThreadStatus::Ready);
    stage.restart().await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["at last"]);
    assert_eq!(stage.texts(thread, Role::User).await, ["go"]);
}

#[test]
fn a_node_that_vanishes_is_swept_and_its_tree_ends_once() {
    let (store, now) = hand_clock();
    let first = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let second = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let team = || vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])];
    let stuck = |request: &Request| {
        if is(request, "worker") { Reply::hang() } else { Reply::call("worker", json!({"message": "job"})) }
    };
    let (thread, held) = first.block_on(async {
        let stage = Stage::on(store.clone(), team(), stuck, Limits::default()).await;
        let (thread, _) = stage.create("boss", "go").await;
        stage.model.until_requests(2).await;
        (thread, stage)
    });
    // Everything of the first process is gone at once, nothing is given back.
    first.shutdown_background();
    drop(held);
    now.fetch_add(60_000_000, Ordering::Relaxed);
    let brain = |request: &Request| {
        if is(request, "worker") { Reply::text("worked") } else { Reply::text("all done") }
    };
    second.block_on(async {
        let stage = Stage::on(store, team(), brain, Limits::default()).await;
        stage.runtime.resume(None);
        assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
        assert_eq!(stage.texts(thread, Role::Tool).await, ["worked"]);
        assert_eq!(stage.texts(thread, Role::Assistant).await, ["", "all done"]);
        assert_eq!(stage.kids(thread).await.len(), 1);
    });
}
