//! A store that breaks, and threads that do not.

use crate::stage::{LONG, Stage, is, solo};
use entourage_model::{Limits, Role, RunStatus, ThreadStatus};
use entourage_runtime::RuntimeError;
use entourage_store::MemoryStore;
use entourage_testkit::breaking_store::{BreakingStore, Fault};
use entourage_testkit::cast::{blocking, tool};
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::sync::Arc;

async fn stage(fault: Fault, good: usize) -> (Stage, Arc<BreakingStore>) {
    let store = Arc::new(BreakingStore::new(Arc::new(MemoryStore::new())));
    store.break_commit(good, fault);
    let brain = |request: &Request| {
        if is(request, "worker") {
            return Reply::text("worked");
        }
        if request.assistant_turns() == 0 {
            Reply::call("worker", json!({"message": "job"}))
        } else {
            Reply::text("over")
        }
    };
    let team = vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![tool("find_files")])];
    (Stage::on(store.clone(), team, brain, Limits::default()).await, store)
}

/// Waits past the store's complaint, which whoever waits is told of.
async fn settle(stage: &Stage, thread: entourage_model::ThreadId) -> ThreadStatus {
    while stage.runtime.wait_for_tree(thread, LONG).await.is_err() {}
    stage.store.thread(thread).await.unwrap().unwrap().status
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_at_any_commit_delays_the_work_and_loses_nothing() {
    for good in 0..3 {
        let (stage, store) = stage(Fault::Full, good).await;
        let (thread, run) = stage.create("boss", "go").await;
        assert_eq!(settle(&stage, thread).await, ThreadStatus::Idle, "after {good}");
        assert_eq!(stage.texts(thread, Role::Tool).await, ["worked"], "after {good}");
        assert_eq!(stage.texts(thread, Role::Assistant).await, ["", "over"], "after {good}");
        assert_eq!(stage.kids(thread).await.len(), 1);
        assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Done);
        assert!(store.is_through(), "after {good}");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_that_the_store_refuses() {
    let (stage, _) = stage(Fault::Full, 0).await;
    let (thread, _) = stage.create("boss", "go").await;
    let told = stage.runtime.wait_for_tree(thread, LONG).await;
    assert!(matches!(told, Err(RuntimeError::Store(_))), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_damaged_thread_is_told_whenever_the_wait_begins_and_it_can_be_removed() {
    for good in 0..3 {
        let (stage, store) = stage(Fault::Corrupt, good).await;
        let (thread, _) = stage.create("boss", "go").await;
        let is_damaged = |told: &Result<bool, RuntimeError>| matches!(told, Err(error) if error.damage().is_some());
        for _ in 0..2 {
            let told = stage.runtime.wait_for_tree(thread, LONG).await;
            assert!(is_damaged(&told), "{told:?} after {good}");
        }
        assert!(store.is_through());
        assert_eq!(stage.runtime.threads_in_memory(), 0, "it holds no place");
        let (other, _) = stage.create("worker", "go").await;
        assert!(stage.runtime.wait_for_tree(other, LONG).await.unwrap(), "others are not concerned");
        assert!(stage.runtime.delete(thread).await.unwrap().contains(&thread));
        assert!(stage.store.thread(thread).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_panic_ends_one_thread_and_its_parent_is_told() {
    // The boss's first commit spawns the worker; the next one is the worker's.
    let (stage, store) = stage(Fault::Panic, 1).await;
    let (thread, run) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert!(store.is_through());
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Failed);
    assert!(stage.texts(thread, Role::Tool).await[0].contains("internal error"));
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().result.as_deref(), Some("over"));
}

#[tokio::test]
async fn a_thread_that_somebody_else_holds_is_dropped_from_memory() {
    let (stage, store) = stage(Fault::Fenced, 0).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.runtime.until_parked().await;
    assert!(store.is_through());
    assert_eq!(stage.store.thread(thread).await.unwrap().unwrap().seq, 3, "nothing was written behind its birth");
    assert_eq!(stage.runtime.threads_in_memory(), 0);
}
