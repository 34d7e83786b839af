//! A thread is terminated in the middle of everything: there is one terminal state, and nothing is queued behind it.

use crate::stage::Stage;
use async_trait::async_trait;
use entourage_model::{EffectClass, Limits, ToolSpec};
use entourage_outside::tool::{Call, Output, Tool, Toolbox};
use entourage_testkit::cast::{mark, resumable, solo, tool};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Notify;

/// Terminates the thread and looks at what is left of it.
async fn terminate(stage: &Stage, thread: &str) -> Value {
    let answer = stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    assert_eq!((answer.status, &answer.json()["status"]), (202, &json!("terminated")), "{answer:?}");
    over(stage, thread).await;
    answer.json()
}

/// Whatever was in flight: the thread has ended once, takes nothing, and has nothing left to do.
async fn over(stage: &Stage, thread: &str) {
    let row = stage.settle(thread).await;
    assert_eq!(row["status"], "terminated");
    assert!(row["terminated"].as_i64().unwrap() > 0, "{row}");
    let sent = stage.post(&format!("/threads/{thread}/messages"), &json!({ "content": "more" })).await;
    assert_eq!(sent.refused(409), "terminated");
    let id = thread.parse().unwrap();
    assert_eq!(stage.runtime.store().lines(id, 0).await.unwrap(), []);
    let journal = stage.runtime.journal(id, 0, 1000).await.unwrap();
    let ends = journal.iter().filter(|stored| matches!(stored.event, entourage_model::Event::Terminated { .. }));
    assert_eq!(ends.count(), 1);
}

async fn child_of(stage: &Stage, thread: &str) -> String {
    let children = stage.get(&format!("/threads?parent={thread}")).await.json();
    children["threads"][0]["thread_id"].as_str().unwrap().to_owned()
}

async fn messages(stage: &Stage, thread: &str) -> Vec<Value> {
    let messages = stage.get(&format!("/threads/{thread}/messages?include_silent=true")).await.json();
    messages["messages"].as_array().unwrap().clone()
}

/// Never ends by itself, and says when it has begun.
#[derive(Debug)]
struct Forever {
    spec: Arc<ToolSpec>,
    begun: Arc<Notify>,
}

#[async_trait]
impl Tool for Forever {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, _: Call) -> Output {
        self.begun.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn while_a_model_thinks() {
    let stage = Stage::new(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(1).await;
    terminate(&stage, &thread).await;
    assert_eq!((messages(&stage, &thread).await.len(), stage.model.requests().len()), (1, 1));
}

#[tokio::test]
async fn while_a_tool_runs() {
    let begun = Arc::new(Notify::new());
    let parameters = Arc::new(json!({ "type": "object" }));
    let spec = ToolSpec { name: "wait".into(), description: String::new(), parameters, class: EffectClass::AtMostOnce };
    let mut tools = Toolbox::builtin();
    tools.insert(Arc::new(Forever { spec: Arc::new(spec), begun: Arc::clone(&begun) }));
    let agents = vec![solo("boss", vec![tool("wait")])];
    let stage = Stage::with_tools(agents, Reply::call("wait", json!({})), Limits::default(), tools).await;
    let thread = stage.create("boss", Some("go")).await;
    begun.notified().await;
    terminate(&stage, &thread).await;
    let said = messages(&stage, &thread).await;
    assert!(said.iter().all(|message| message["role"] != "tool"), "{said:?}");
    assert_eq!(stage.model.requests().len(), 1);
}

#[tokio::test]
async fn while_it_waits_for_a_child() {
    let stage = with_worker(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(2).await;
    let child = child_of(&stage, &thread).await;
    terminate(&stage, &thread).await;
    over(&stage, &child).await;
    assert_eq!(stage.model.requests().len(), 2, "nobody was asked any more");
}

#[tokio::test]
async fn a_child_whose_parent_waits() {
    let stage = with_worker(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(2).await;
    let child = child_of(&stage, &thread).await;
    terminate(&stage, &child).await;
    assert_eq!(stage.settle(&thread).await["status"], "idle");
    let said = messages(&stage, &thread).await;
    let results: Vec<_> = said.iter().filter(|message| message["role"] == "tool").collect();
    let [result] = results.as_slice() else { panic!("one call has one result: {said:?}") };
    assert!(result["content"].as_str().unwrap().contains("subagent_terminated"), "{result}");
    assert_eq!(result["tool_status"], "error");
}

#[tokio::test]
async fn many_times_at_once() {
    let stage = Stage::new(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(1).await;
    let all = futures::future::join_all((0..8).map(|_| terminate(&stage, &thread))).await;
    assert!(all.iter().all(|answer| *answer == all[0]), "{all:?}");
}

/// The child ends by itself while it is terminated: whichever comes first, its call has one result and it is over.
#[tokio::test]
async fn while_the_child_ends_by_itself() {
    let stage = with_worker(Reply::text("done")).await;
    for _ in 0..20 {
        let asked = stage.model.requests().len();
        let thread = stage.create("boss", Some("go")).await;
        stage.model.until_requests(asked + 2).await;
        let child = child_of(&stage, &thread).await;
        terminate(&stage, &child).await;
        stage.settle(&thread).await;
        let entry = &stage.get(&format!("/threads/{thread}")).await.json()["children"][0];
        assert_eq!(entry["status"], "terminated");
        let said = messages(&stage, &thread).await;
        assert_eq!(said.iter().filter(|message| message["role"] == "tool").count(), 1, "{said:?}");
        assert!(said.iter().all(|message| message["metadata"]["subagent_id"].is_null()), "{said:?}");
        assert_eq!(stage.runtime.store().lines(thread.parse().unwrap(), 0).await.unwrap(), []);
    }
}

/// The boss starts an instance of the worker and waits for it.
async fn with_worker(answer: Reply) -> Stage {
    let agents = vec![solo("boss", vec![resumable("worker")]), solo("worker", Vec::new())];
    let brain = move |request: &Request| match request.system().contains(&mark("boss")) {
        true if request.tool_results().is_empty() => {
            Reply::call("subagent_create", json!({ "agent": "worker", "message": "work", "name": "Ann" }))
        }
        true => Reply::text("I see"),
        false => answer.clone(),
    };
    Stage::with(agents, brain, Limits::default()).await
}
