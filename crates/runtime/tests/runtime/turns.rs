//! One thread: turns, tools, the queue.

use crate::stage::{LONG, Stage, by_turn, solo};
use entourage_model::{Limits, Role, RunStatus, ThreadStatus};
use entourage_runtime::{Outgoing, RuntimeError};
use entourage_testkit::cast::pair;
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_message_gets_one_answer_and_the_thread_rests() {
    let stage = Stage::new(vec![solo("boss", vec![])], Reply::text("hello there")).await;
    let (thread, run) = stage.create("boss", "good morning").await;
    let row = stage.settle(thread).await;
    assert_eq!(row.status, ThreadStatus::Idle);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["hello there"]);
    let run = stage.store.run(&run).await.unwrap().unwrap();
    assert_eq!((run.status, run.result.as_deref()), (RunStatus::Done, Some("hello there")));
    assert_eq!((row.usage.steps, row.seq), (1, 6));
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_is_shown() {
    let brain =
        by_turn(vec![("boss", vec![Reply::call("read_file", json!({"path": "note.txt"})), Reply::text("read")])]);
    let stage = Stage::new(vec![solo("boss", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "read it").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["the note"]);
    let results = stage.model.requests()[1].tool_results();
    assert_eq!(results.iter().map(|result| result.text.as_str()).collect::<Vec<_>>(), ["the note"]);
}

#[tokio::test]
async fn messages_that_come_while_the_model_thinks_are_answered_in_order() {
    let brain = |request: &Request| {
        // Long enough for both messages on every store.
        let thinks = if request.assistant_turns() == 0 { 2_000 } else { 0 };
        Reply::text(format!("heard {}", request.texts("user").join("+"))).after(Duration::from_millis(thinks))
    };
    let stage = Stage::new(vec![solo("boss", vec![])], brain).await;
    let (thread, _) = stage.create("boss", "one").await;
    stage.model.until_requests(1).await;
    stage.runtime.send(thread, Outgoing::user("two"), None).await.unwrap();
    stage.runtime.send(thread, Outgoing::user("three"), None).await.unwrap();
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["heard one", "heard one+two+three"]);
    assert_eq!(stage.texts(thread, Role::User).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn the_same_key_sends_a_message_once() {
    let stage = Stage::new(vec![solo("boss", vec![])], Reply::text("yes")).await;
    let (thread, _) = stage.create("boss", "one").await;
    let first = stage.runtime.send(thread, Outgoing::user("two"), Some("k".to_owned())).await.unwrap();
    let second = stage.runtime.send(thread, Outgoing::user("two"), Some("k".to_owned())).await.unwrap();
    assert_eq!((first.message, second.repeated), (second.message, true));
    let other = stage.runtime.send(thread, Outgoing::user("three"), Some("k".to_owned())).await;
    assert!(matches!(other, Err(RuntimeError::KeyConflict)));
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::User).await, ["one", "two"]);
}

#[tokio::test]
async fn two_sides_talk_until_one_calls_the_binding() {
    let brain = by_turn(vec![
        ("worker_a", vec![Reply::text("a1"), Reply::call("read_file", json!({"path": "note.txt"}))]),
        ("worker_b", vec![Reply::text("b1")]),
    ]);
    let stage = Stage::new(vec![pair("worker")], brain).await;
    let (thread, run) = stage.create("worker", "start").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Done);
    let run = stage.store.run(&run).await.unwrap().unwrap();
    assert_eq!(run.result.as_deref(), Some("note.txt"));
    assert_eq!(stage.asked("worker_b")[0].texts("user"), ["start", "a1"]);
    assert_eq!(stage.asked("worker_a")[1].texts("assistant"), ["a1"]);
}

#[tokio::test]
async fn a_model_that_fails_for_good_fails_the_run_and_the_thread_takes_a_new_message() {
    let brain = |request: &Request| {
        if request.last_text() == "again" { Reply::text("fine") } else { Reply::fail(401, "no") }
    };
    let stage = Stage::new(vec![solo("boss", vec![])], brain).await;
    let (thread, run) = stage.create("boss", "one").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Failed);
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().status, RunStatus::Failed);
    stage.runtime.send(thread, Outgoing::user("again"), None).await.unwrap();
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Idle);
    assert_eq!(stage.texts(thread, Role::Assistant).await, ["fine"]);
}

#[tokio::test]
async fn a_run_is_over_when_its_time_is() {
    let limits = Limits { run_seconds: 0, ..Limits::default() };
    let stage = Stage::with_limits(vec![solo("boss", vec![])], Reply::hang(), limits).await;
    let (thread, run) = stage.create("boss", "one").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Failed);
    let run = stage.runtime.wait_for_run(&run, LONG).await.unwrap();
    assert!(run.error.unwrap().contains("run_seconds"));
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_and_changes_nothing() {
    let limits = Limits { message_bytes: 4, ..Limits::default() };
    let stage = Stage::with_limits(vec![solo("boss", vec![])], Reply::text("ok"), limits).await;
    let (thread, _) = stage.create("boss", "one").await;
    let refused = stage.runtime.send(thread, Outgoing::user("12345"), None).await;
    assert!(matches!(refused, Err(RuntimeError::MessageTooLarge { found: 5, max: 4 })));
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::User).await, ["one"]);
}
