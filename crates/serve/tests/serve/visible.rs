//! What a model was told is what everybody else can read, at the very moment that the model is asked.

use crate::stage::Stage;
use entourage_model::Limits;
use entourage_testkit::cast::{background, blocking, mark, solo};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};
use std::time::Duration;

const LATE: Duration = Duration::from_secs(60);

/// Makes one call, then thinks for longer than anybody waits.
fn ponders(request: &Request, call: Reply) -> Reply {
    if request.tool_results().is_empty() { call } else { Reply::text("late").after(LATE) }
}

async fn results(stage: &Stage, thread: &str) -> Vec<Value> {
    let messages = stage.get(&format!("/threads/{thread}/messages")).await.json();
    let messages = messages["messages"].as_array().unwrap().clone();
    messages.into_iter().filter(|message| message["role"] == "tool").collect()
}

#[tokio::test]
async fn a_refused_call_is_there_when_the_model_hears_of_it() {
    let stage = Stage::new(|request: &Request| ponders(request, Reply::call("nothing", json!({})))).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(2).await;
    let results = results(&stage, &thread).await;
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["tool_status"], "error");
}

#[tokio::test]
async fn the_result_of_a_child_is_there_when_the_model_hears_of_it() {
    let agents = vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])];
    let brain = |request: &Request| match request.system().contains(&mark("boss")) {
        true => ponders(request, Reply::call("worker", json!({ "message": "work" }))),
        false => Reply::text("worked"),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(3).await;
    let results = results(&stage, &thread).await;
    assert_eq!(results.iter().map(|result| &result["content"]).collect::<Vec<_>>(), ["worked"]);
    let runs = stage.get("/runs").await.json();
    let delivered = runs["runs"].as_array().unwrap().iter().find(|run| run["agent"] == "worker").unwrap();
    assert!(delivered["delivered_at"].is_i64(), "{delivered}");
}

#[tokio::test]
async fn looking_at_the_run_of_a_child_leaves_it_unread() {
    let agents = vec![solo("boss", vec![background("worker")]), solo("worker", vec![])];
    let brain = |request: &Request| match request.system().contains(&mark("boss")) {
        true => ponders(request, Reply::call("worker", json!({ "message": "work" }))),
        false => Reply::text("worked"),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    stage.create("boss", Some("go")).await;
    let run = loop {
        let runs = stage.get("/runs?status=done").await.json();
        if let Some(run) = runs["runs"].as_array().unwrap().first() {
            break run["run_id"].as_str().unwrap().to_owned();
        }
        tokio::task::yield_now().await;
    };
    let read = stage.get(&format!("/runs/{run}")).await.json();
    assert_eq!((&read["result"], &read["delivered_at"]), (&json!("worked"), &Value::Null));
}

#[tokio::test]
async fn stopping_a_thread_at_rest_changes_nothing() {
    let stage = Stage::new(|_: &Request| Reply::text("done")).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.settle(&thread).await;
    let before = stage.get(&format!("/threads/{thread}")).await.json();
    let told = stage.post(&format!("/threads/{thread}/stop"), &json!({})).await;
    assert_eq!((told.status, &told.json()["status"]), (202, &json!("idle")));
    assert_eq!(stage.get(&format!("/threads/{thread}")).await.json(), before);
}

#[tokio::test]
async fn whoever_waits_for_a_stopped_thread_finds_it_at_rest_for_good() {
    let agents = vec![solo("boss", vec![blocking("worker")]), solo("worker", vec![])];
    let brain = |request: &Request| match request.system().contains(&mark("boss")) {
        true => Reply::call("worker", json!({ "message": "work" })),
        false => Reply::text("late").after(LATE),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    for round in 1..=20 {
        let thread = stage.create("boss", Some("go")).await;
        stage.model.until_requests(2 * round).await;
        stage.post(&format!("/threads/{thread}/stop"), &json!({})).await;
        assert_eq!(stage.settle(&thread).await["status"], "idle");
        assert_eq!(stage.get(&format!("/threads/{thread}")).await.json()["status"], "idle");
    }
}
