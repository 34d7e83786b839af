//! A process that ends at the wrong moment, and the one that takes over.

use crate::stage::{Stage, is, solo};
use entourage_model::{Ids, Item, Limits, Message, Posted, Role, ThreadStatus, Timestamp};
use entourage_store::{Clock, MemoryStore, NewLine};
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
    // Everything of the first process is gone at once, nothing is given back. Days without anybody are not the runs' time.
    first.shutdown_background();
    drop(held);
    now.fetch_add(2 * 86_400_000_000, Ordering::Relaxed);
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

#[tokio::test]
async fn a_machine_that_sleeps_takes_no_time_from_its_runs() {
    let (store, now) = hand_clock();
    let brain = move |request: &Request| {
        if request.assistant_turns() == 0 {
            now.fetch_add(2 * 86_400_000_000, Ordering::Relaxed);
            return Reply::call("list_files", json!({"path": "."}));
        }
        Reply::text("good morning")
    };
    let stage = Stage::on(store, vec![solo("boss", vec![])], brain, Limits::default()).await;
    let (thread, _) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["", "good morning"]);
}

#[test]
fn a_process_that_dies_again_and_again_does_not_take_its_threads_for_the_cause() {
    let (store, now) = hand_clock();
    let team = || vec![solo("boss", vec![])];
    let life = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let first = life();
    let thread = first.block_on(async {
        let stage = Stage::on(store.clone(), team(), Reply::text("hello"), Limits::default()).await;
        let (thread, _) = stage.create("boss", "hi").await;
        stage.settle(thread).await;
        stage.runtime.shutdown().await;
        let message = Message::new(Ids::new(Timestamp(1), 1).message(), Role::User, "are you there?", Timestamp(1));
        let item = Item::Message(Posted::plain(message));
        let line = NewLine { item, key: None, run: None, messages_max: 10 };
        stage.store.enqueue(thread, line, None).await.unwrap();
        thread
    });
    for _ in 0..8 {
        let next = life();
        let held = next.block_on(async {
            let stage = Stage::on(store.clone(), team(), Reply::hang(), Limits::default()).await;
            stage.runtime.resume(None);
            stage.model.until_requests(1).await;
            stage
        });
        next.shutdown_background();
        drop(held);
        now.fetch_add(60_000_000, Ordering::Relaxed);
    }
    life().block_on(async {
        let stage = Stage::on(store, team(), Reply::text("still here"), Limits::default()).await;
        stage.runtime.resume(None);
        assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
        assert_eq!(stage.texts(thread, Role::User).await, ["hi", "are you there?"]);
        assert_eq!(stage.texts(thread, Role::Assistant).await, ["hello", "still here"]);
    });
}
