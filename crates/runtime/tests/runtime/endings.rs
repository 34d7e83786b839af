//! Cancel, stop and terminate, in every state.

use crate::stage::{LONG, Stage, is, solo};
use entourage_model::{Role, RunStatus, ThreadStatus};
use entourage_outside::model::Script;
use entourage_runtime::{Outgoing, RuntimeError};
use entourage_store::MemoryStore;
use entourage_testkit::breaking_store::{BreakingStore, Fault};
use entourage_testkit::cast::{background, blocking};
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

fn delegate() -> Reply {
    Reply::call("worker", json!({"message": "job"}))
}

/// The boss delegates once; the worker never answers.
fn stuck(request: &Request) -> Reply {
    if is(request, "worker") {
        return Reply::hang();
    }
    if request.assistant_turns() == 0 { delegate() } else { Reply::text("over") }
}

async fn stuck_stage() -> Stage {
    Stage::new(vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])], stuck).await
}

#[tokio::test]
async fn terminating_during_a_model_call_closes_the_connection() {
    let stage = Stage::new(vec![solo("boss", vec![])], Reply::hang()).await;
    let (thread, run) = stage.create("boss", "go").await;
    stage.model.until_requests(1).await;
    stage.runtime.terminate(thread).await.unwrap();
    stage.model.until_aborted(1).await;
    let row = stage.settle(thread).await;
    assert_eq!(row.status, ThreadStatus::Terminated);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
    let refused = stage.runtime.send(thread, Outgoing::user("still there?"), None).await;
    assert!(matches!(refused, Err(RuntimeError::Terminated)));
    stage.runtime.terminate(thread).await.unwrap();
    assert_eq!(stage.settle(thread).await.terminated_at, row.terminated_at);
}

#[tokio::test]
async fn terminating_a_parent_reaches_the_child_inside_its_model_call() {
    let stage = stuck_stage().await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(2).await;
    stage.runtime.terminate(thread).await.unwrap();
    stage.model.until_aborted(1).await;
    stage.settle(thread).await;
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Terminated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_a_thread_reaches_everybody_below_it() {
    let brain = |request: &Request| match request {
        request if is(request, "leaf") => Reply::hang(),
        request if is(request, "worker") => Reply::call("leaf", json!({"message": "dig"})),
        _ => delegate(),
    };
    let agents =
        vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![blocking("leaf")]), solo("leaf", vec![])];
    let stage = Stage::new(agents, brain).await;
    for round in 1..=10 {
        let (thread, _) = stage.create("boss", "go").await;
        stage.model.until_requests(round * 3).await;
        assert_eq!(stage.runtime.delete(thread).await.unwrap().len(), 3);
        stage.model.until_aborted(round).await;
    }
}

#[tokio::test]
async fn terminating_a_child_answers_the_waiting_call_with_an_error() {
    let stage = stuck_stage().await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(2).await;
    let kid = stage.kids(thread).await[0].id;
    stage.runtime.terminate(kid).await.unwrap();
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert!(stage.texts(thread, Role::Tool).await[0].contains("subagent_terminated"));
    assert_eq!(stage.texts(thread, Role::Assistant).await.last().unwrap(), "over");
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Terminated);
}

#[tokio::test]
async fn cancelling_a_root_run_reaches_its_children_and_leaves_the_thread_idle() {
    let stage = stuck_stage().await;
    let (thread, run) = stage.create("boss", "go").await;
    stage.model.until_requests(2).await;
    stage.runtime.cancel(&run).await.unwrap();
    stage.model.until_aborted(1).await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Failed);
    // Once is enough.
    stage.runtime.cancel(&run).await.unwrap();
    assert_eq!(stage.asked("boss").len(), 1);
}

#[tokio::test]
async fn stopping_cancels_blocking_children_and_spares_background_ones() {
    let brain = |request: &Request| {
        if is(request, "worker") || is(request, "runner") {
            return Reply::hang();
        }
        Reply::calls([("runner", json!({"message": "b"})), ("worker", json!({"message": "a"}))])
    };
    let team = vec![
        solo("boss", vec![background("runner"), blocking("worker")]),
        solo("worker", vec![]),
        solo("runner", vec![]),
    ];
    let stage = Stage::new(team, brain).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.model.until_requests(3).await;
    stage.runtime.stop(thread).await.unwrap();
    stage.model.until_aborted(1).await;
    let row = stage.runtime.wait(thread, LONG).await.unwrap();
    assert_eq!(row.status, ThreadStatus::Idle);
    let mut kids: Vec<_> = stage.kids(thread).await.into_iter().map(|kid| (kid.agent.to_string(), kid.id)).collect();
    kids.sort();
    let status = async |id| stage.store.thread(id).await.unwrap().unwrap().status;
    assert_eq!(status(kids[0].1).await, ThreadStatus::Running, "the runner goes on");
    stage.runtime.wait(kids[1].1, LONG).await.unwrap();
    assert_eq!(status(kids[1].1).await, ThreadStatus::Failed, "the worker was cancelled");
}

#[tokio::test]
async fn an_answer_that_lands_together_with_a_cancel_answers_nothing() {
    let script = json!({ "rules": [
        { "agent": "runner", "reply": { "text": "never said", "delay_ms": 60_000 } },
        { "contains": "next", "reply": { "text": "to the second question" } },
        { "step": 0, "reply": { "calls": [{ "tool": "runner", "arguments": { "message": "job" } }] } },
        { "reply": { "text": "to the first question" } },
    ] });
    let team = vec![solo("boss", vec![background("runner")]), solo("runner", vec![])];
    let store = Arc::new(BreakingStore::new(Arc::new(MemoryStore::new())));
    let script = Script::parse(&script.to_string()).unwrap();
    let stage = Stage::scripted(store.clone(), team, script).await;
    // While the runner is being made durable, the boss is asked again, and its answer comes before the store's.
    store.break_commit(0, Fault::Late);
    let (thread, run) = stage.create("boss", "go").await;
    store.until_late().await;
    let runtime = stage.runtime.clone();
    let cancelled = run.clone();
    let cancelling = tokio::spawn(async move { runtime.cancel(&cancelled).await });
    while stage.store.lines(thread, 0).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    stage.runtime.send(thread, Outgoing::user("next"), None).await.unwrap();
    store.let_late_go_on();
    cancelling.await.unwrap().unwrap();
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelled);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["", "to the second question"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_run_is_told_of_its_end_though_its_thread_goes_on() {
    let script = json!({ "rules": [
        { "contains": "next", "reply": { "text": "never said", "delay_ms": 60_000 } },
        { "reply": { "text": "to the first question" } },
    ] });
    let store = Arc::new(BreakingStore::new(Arc::new(MemoryStore::new())));
    let script = Script::parse(&script.to_string()).unwrap();
    let stage = Stage::scripted(store.clone(), vec![solo("boss", vec![])], script).await;
    store.break_commit(0, Fault::Late);
    let (thread, run) = stage.create("boss", "go").await;
    store.until_late().await;
    // It arrives while the thread is about to park.
    stage.runtime.send(thread, Outgoing::user("next"), None).await.unwrap();
    let begin = Instant::now();
    let (ended, ()) = tokio::join!(stage.runtime.wait_for_run(&run, LONG), async { store.let_late_go_on() });
    assert_eq!(ended.unwrap().status, RunStatus::Done);
    assert!(begin.elapsed() < Duration::from_millis(500), "it was only found by looking again");
    assert_eq!(stage.store.thread(thread).await.unwrap().unwrap().status, ThreadStatus::Running);
}

#[tokio::test]
async fn an_unknown_run_or_thread_is_an_error() {
    let stage = stuck_stage().await;
    let nobody = "00000000-0000-4000-8000-000000000000".parse().unwrap();
    assert!(matches!(stage.runtime.terminate(nobody).await, Err(RuntimeError::NoThread(_))));
    assert!(matches!(stage.runtime.cancel(&"nothing".into()).await, Err(RuntimeError::NoRun(_))));
}
