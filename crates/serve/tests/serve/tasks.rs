//! The task protocol, from both ends.

use crate::client::Events;
use crate::stage::{Stage, TOKEN};
use entourage_model::{Agent, HandoffEntry, Limits, Remote, ToolEntry};
use entourage_testkit::Reply;
use entourage_testkit::cast::{mark, resumable, solo};
use entourage_testkit::fake_model::Request;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

async fn submit(stage: &Stage, id: &str, context: Option<Value>) -> Value {
    let mut body = json!({ "task_id": id, "agent_id": "boss", "input": "dig" });
    if let Some(context) = context {
        body["context"] = context;
    }
    let answer = stage.post("/tasks", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[tokio::test]
async fn a_task_is_submitted_looked_at_and_waited_for() {
    let stage = Stage::new(Reply::text("found it")).await;
    assert_eq!(submit(&stage, "my id/1", None).await, json!({ "task_id": "my id/1", "status": "pending" }));
    let ended = json!({ "task_id": "my id/1", "status": "success", "result": "found it" });
    for path in [
        "/tasks/my%20id%2F1/wait?timeout_seconds=20",
        "/tasks/my%20id%2F1",
        "/api/tasks/my%20id%2F1/wait?timeout_seconds=0",
    ] {
        assert_eq!(stage.get(path).await.json(), ended, "{path}");
    }
    let again = stage.post("/tasks", &json!({ "task_id": "my id/1", "agent_id": "boss", "input": "dig" })).await;
    assert_eq!((again.status, again.json()), (409, json!({ "error": "a task of that id has ended" })));
    assert_eq!(stage.model.requests().len(), 1, "nothing was done twice");
}

#[tokio::test]
async fn what_cannot_be_is_said_in_the_protocols_own_way() {
    let stage = Stage::new(Reply::text("yes")).await;
    let blank = stage.post("/tasks", &json!({ "task_id": " ", "input": "dig" })).await;
    assert_eq!(blank.status, 400);
    assert!(blank.json()["error"].is_string(), "{blank:?}");
    let unknown = stage.get("/tasks/nobody").await;
    let not_found = json!({ "task_id": "nobody", "status": "error", "error": "task not found" });
    assert_eq!((unknown.status, unknown.json()), (200, not_found));
    let refused = stage.post("/tasks", &json!({ "task_id": "t", "agent_id": "stranger", "input": "dig" })).await;
    assert_eq!((refused.status, refused.json()["status"].as_str()), (200, Some("error")));
    assert_eq!(stage.get("/tasks/t").await.json()["error"], "there is no agent `stranger`");
    assert_eq!(stage.post_text("/tasks/nobody/cancel", "").await.status, 200);
    let resumed = stage.post("/tasks/nobody/resume", &json!({ "decisions": [] })).await;
    assert_eq!(resumed.status, 409);
    let unauthorised = stage.request("GET", "/tasks/t").header("authorization", "Bearer wrong");
    let unauthorised = stage.send(unauthorised.body(http_body_util::Full::default()).unwrap()).await;
    assert!(unauthorised.json()["error"].is_string(), "{unauthorised:?}");
}

#[tokio::test]
async fn of_two_agents_of_one_id_the_protocol_means_its_own() {
    let mut profile = solo("boss", Vec::new());
    "dex".clone_into(&mut profile.source.format);
    let own = "agentscope/boss";
    let stage = Stage::with(vec![profile, solo(own, Vec::new())], Reply::text("yes"), Limits::default()).await;
    for id in ["one", "two"] {
        submit(&stage, id, Some(json!({ "session_id": "s" }))).await;
        assert_eq!(stage.get(&format!("/tasks/{id}/wait?timeout_seconds=20")).await.json()["result"], "yes");
    }
    let asked = stage.model.requests();
    assert!(asked.iter().all(|request| request.system().contains(&mark(own))), "{asked:?}");
    assert_eq!(asked[1].assistant_turns(), 1, "one conversation");
}

#[tokio::test]
async fn a_task_is_cancelled_inside_a_model_call() {
    let stage = Stage::new(Reply::hang()).await;
    submit(&stage, "t", None).await;
    stage.model.until_requests(1).await;
    assert_eq!(submit(&stage, "t", None).await["status"], "pending", "it is taken once");
    assert_eq!(stage.post_text("/tasks/t/cancel", "").await.status, 200);
    assert_eq!(stage.get("/tasks/t/wait?timeout_seconds=20").await.json()["status"], "cancelled");
    stage.model.until_aborted(1).await;
    assert_eq!(stage.model.requests().len(), 1);
}

async fn told(events: &mut Events) -> Vec<Value> {
    events.rest().await.iter().map(crate::client::Event::json).collect()
}

#[tokio::test]
async fn events_are_held_open_for_a_task_to_come_and_replayed_for_one_that_has_ended() {
    let brain = |request: &Request| {
        if request.tool_results().is_empty() {
            Reply::call("list_files", json!({ "path": "." }))
        } else {
            Reply::text("done")
        }
    };
    let agents = vec![solo("boss", vec![ToolEntry::Tool("list_files".into())])];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let mut early = stage.stream("/tasks/t/events", None).await;
    submit(&stage, "t", Some(json!({ "detail": "full" }))).await;
    let live = told(&mut early).await;
    let kinds: Vec<_> = live.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    let expected =
        ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_END", "TOOL_RESULT", "TEXT_DELTA", "RUN_FINISHED", "STATUS"];
    assert_eq!(kinds, expected);
    assert_eq!(
        live.iter().map(|event| event["seq"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=7).collect::<Vec<_>>()
    );
    let late = told(&mut stage.stream("/tasks/t/events?from_seq=5", None).await).await;
    assert_eq!(late, live[5..]);
    let late = told(&mut stage.stream("/tasks/t/events", Some(6)).await).await;
    assert_eq!(late, live[6..]);
}

/// The events of a task whose client wants this much.
async fn told_in(detail: &str) -> Vec<Value> {
    let stage = Stage::new(Reply::text("done")).await;
    submit(&stage, "t", Some(json!({ "detail": detail }))).await;
    let live = told(&mut stage.stream("/tasks/t/events", None).await).await;
    assert_eq!(told(&mut stage.stream("/tasks/t/events", None).await).await, live, "a replay is the same");
    live
}

#[tokio::test]
async fn every_client_is_told_as_much_as_it_wants_without_a_gap() {
    let status = ["RUN_STARTED", "RUN_FINISHED", "STATUS"];
    let full = ["RUN_STARTED", "TEXT_DELTA", "RUN_FINISHED", "STATUS"];
    let verbose = ["RUN_STARTED", "AGENT_EVENT", "AGENT_EVENT", "TEXT_DELTA", "AGENT_EVENT", "RUN_FINISHED", "STATUS"];
    for (detail, expected) in [("status", &status[..]), ("full", &full[..]), ("verbose", &verbose[..])] {
        let events = told_in(detail).await;
        let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, expected, "{detail}");
        let mut before = String::new();
        for (event, seq) in events.iter().zip(1..) {
            assert_eq!(event["seq"], seq, "{event}");
            let at = event["timestamp"].as_str().unwrap().to_owned();
            assert!(at.starts_with("20") && at.ends_with('Z') && at >= before, "{event}");
            before = at;
        }
    }
}

#[tokio::test]
async fn what_has_no_event_of_its_own_is_passed_on_as_its_source_tells_it() {
    let events = told_in("verbose").await;
    let passed_on: Vec<_> = events.iter().filter(|event| event["type"] == "AGENT_EVENT").collect();
    let kinds: Vec<_> = passed_on.iter().map(|event| event["eventType"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["AGENT_START", "MODEL_CALL_END", "AGENT_END"]);
    let mut ids = std::collections::BTreeSet::new();
    for event in passed_on {
        let source: Value = serde_json::from_str(event["payload"].as_str().unwrap()).unwrap();
        assert_eq!((&source["type"], &source["createdAt"]), (&event["eventType"], &event["timestamp"]));
        assert!(source["id"].as_str().unwrap().len() == 32 && ids.insert(source["id"].to_string()), "{source}");
    }
}

#[tokio::test]
async fn a_denied_tool_is_neither_offered_nor_called() {
    let brain = |request: &Request| {
        if request.tool_results().is_empty() {
            Reply::call("list_files", json!({}))
        } else {
            Reply::text(request.last_text())
        }
    };
    let agents = vec![solo("boss", vec![ToolEntry::Tool("list_files".into())])];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    // Whoever hands work over may be another harness, with names of its own.
    for name in ["list_files", "LS"] {
        let rules = json!([{ "tool_name": name, "behavior": "DENY" }]);
        submit(&stage, name, Some(json!({ "deny_rules": rules, "user_id": "ann" }))).await;
        let ended = stage.get(&format!("/tasks/{name}/wait?timeout_seconds=20")).await.json();
        assert!(ended["result"].as_str().unwrap().contains("not allowed"), "{ended}");
    }
    assert!(stage.model.requests().iter().all(|request| request.tools().is_empty()));
    let threads = stage.get("/threads").await.json();
    assert_eq!(threads["threads"][0]["user_id"], "ann");
}

/// The kinds of a task's events.
async fn kinds(stage: &Stage, id: &str) -> Vec<String> {
    let events = told(&mut stage.stream(&format!("/tasks/{id}/events"), None).await).await;
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_task_of_a_conversation_has_rules_and_detail_of_its_own() {
    let brain = |request: &Request| match request.last_role() {
        "user" => Reply::call("list_files", json!({ "path": "." })),
        _ => Reply::text("done"),
    };
    let agents = vec![solo("boss", vec![ToolEntry::Tool("list_files".into())])];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let rules = json!([{ "tool_name": "list_files", "behavior": "DENY" }]);
    let quiet = json!({ "session_id": "s" });
    let loud = json!({ "session_id": "s", "detail": "full" });
    let denied = json!({ "session_id": "s", "deny_rules": rules });
    for (id, context) in [("t1", &quiet), ("t2", &denied), ("t3", &loud), ("t4", &quiet), ("t5", &denied)] {
        submit(&stage, id, Some(context.clone())).await;
        assert_eq!(stage.get(&format!("/tasks/{id}/wait")).await.json()["status"], "success", "{id}");
        let results = stage.model.requests().last().unwrap().tool_results().last().unwrap().text.clone();
        assert_eq!(results.contains("not allowed"), *context == denied, "{id}: {results}");
    }
    let calls = ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_END", "TOOL_RESULT"];
    let ends = ["RUN_FINISHED", "STATUS"];
    assert_eq!(kinds(&stage, "t3").await, [&calls[..], &["TEXT_DELTA"], &ends].concat());
    assert_eq!(kinds(&stage, "t4").await, [&calls[..], &ends].concat());
    let threads = stage.get("/threads?tag=session:s").await.json();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 2, "one with the rules and one without: {threads}");
    assert_eq!(stage.model.requests().last().unwrap().texts("user").len(), 2, "each goes on with what was said before");
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_handoff() {
    let handoff = ToolEntry::Handoff(HandoffEntry::new("clerk".into()));
    let brain = |request: &Request| match request.system().contains(&mark("clerk")) {
        true => Reply::text(format!("heard {}", request.texts("user").len())),
        false => Reply::call("clerk", json!({})),
    };
    let agents = vec![solo("boss", vec![handoff]), solo("clerk", Vec::new())];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    for (id, result) in [("one", "heard 1"), ("two", "heard 2")] {
        submit(&stage, id, Some(json!({ "session_id": "s" }))).await;
        assert_eq!(stage.get(&format!("/tasks/{id}/wait?timeout_seconds=20")).await.json()["result"], result);
    }
}

#[tokio::test]
async fn the_stream_of_a_task_that_ends_before_it_begins_ends_too() {
    for ending in ["cancel", "terminate", "delete"] {
        let stage = Stage::new(Reply::hang()).await;
        for id in ["first", "queued"] {
            submit(&stage, id, Some(json!({ "session_id": "s" }))).await;
        }
        stage.model.until_requests(1).await;
        let mut open = stage.stream("/tasks/queued/events", None).await;
        let thread = stage.get("/threads").await.json()["threads"][0]["thread_id"].as_str().unwrap().to_owned();
        match ending {
            "cancel" => stage.post_text("/tasks/queued/cancel", "").await,
            "terminate" => stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await,
            _ => stage.delete(&format!("/threads/{thread}")).await,
        };
        assert_eq!(told(&mut open).await, [json!(null); 0], "{ending}");
        if ending != "delete" {
            assert_eq!(told(&mut stage.stream("/tasks/queued/events", None).await).await, [json!(null); 0]);
        }
    }
}

#[tokio::test]
async fn a_task_that_a_limit_ends_says_so_whatever_its_last_words_were() {
    let mut boss = solo("boss", vec![ToolEntry::Tool("list_files".into())]);
    boss.source.format = "agentscope".to_owned();
    boss.dialects = vec![entourage_model::Dialect::AgentScope];
    boss.side_a.steps_max = Some(2);
    let brain = |request: &Request| match request.tools().is_empty() {
        true => Reply::text("closing words"),
        false => Reply::call("list_files", json!({ "path": "." })),
    };
    let stage = Stage::with(vec![boss], brain, Limits::default()).await;
    submit(&stage, "t", None).await;
    let ended = stage.get("/tasks/t/wait").await.json();
    assert!(ended["error"].as_str().unwrap().starts_with("step_limit_reached"), "{ended}");
    let last = told(&mut stage.stream("/tasks/t/events", None).await).await.pop().unwrap();
    assert_eq!((&last["type"], &last["error"]), (&json!("RUN_ERROR"), &ended["error"]));
    let kept = stage.get("/runs").await.json();
    assert_eq!(kept["runs"][0]["result"], "closing words", "{kept}");
}

/// An agent that the server of `far` runs as its `boss`.
fn remote(far: &Stage) -> Agent {
    let headers = BTreeMap::from([("Authorization".to_owned(), format!("Bearer {TOKEN}"))]);
    Agent { remote: Some(Remote { url: format!("http://{}/", far.address), headers }), ..solo("boss", vec![]) }
}

#[tokio::test]
async fn an_agent_of_another_server_answers_and_keeps_its_conversation() {
    let far = Stage::new(|request: &Request| Reply::text(format!("answer {}", request.texts("user").len()))).await;
    let near = Stage::with(vec![remote(&far)], Reply::text("nobody asks here"), Limits::default()).await;
    let thread = near.create("boss", Some("one")).await;
    assert_eq!(near.settle(&thread).await["status"], "idle");
    near.say(&thread, "two").await;
    near.settle(&thread).await;
    let messages = near.get(&format!("/threads/{thread}/messages")).await.json();
    let said: Vec<_> =
        messages["messages"].as_array().unwrap().iter().map(|message| message["content"].clone()).collect();
    assert_eq!(said, ["one", "answer 1", "two", "answer 2"]);
    assert_eq!(near.model.requests().len(), 0);
    assert_eq!(far.get("/threads").await.json()["threads"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_denied_here_is_denied_by_the_other_server() {
    let brain = |request: &Request| match request.last_role() {
        "user" => Reply::call("list_files", json!({ "path": "." })),
        _ => Reply::text(request.last_text()),
    };
    let able = vec![solo("boss", vec![ToolEntry::Tool("list_files".into())])];
    let far = Stage::with(able, brain, Limits::default()).await;
    let near = Stage::with(vec![remote(&far)], Reply::text("nobody asks here"), Limits::default()).await;
    let rules = json!([{ "tool_name": "list_files", "behavior": "DENY" }]);
    for (id, context) in [("free", json!({})), ("denied", json!({ "deny_rules": rules }))] {
        submit(&near, id, Some(context)).await;
        let ended = near.get(&format!("/tasks/{id}/wait?timeout_seconds=20")).await.json();
        assert_eq!(ended["result"].as_str().unwrap().contains("not allowed"), id == "denied", "{ended}");
    }
}

#[tokio::test]
async fn cancelling_reaches_the_other_server() {
    let far = Stage::new(Reply::hang()).await;
    let near = Stage::with(vec![remote(&far)], Reply::text("nobody asks here"), Limits::default()).await;
    let thread = near.create("boss", Some("one")).await;
    far.model.until_requests(1).await;
    let stopped = near.post(&format!("/threads/{thread}/stop"), &json!({})).await;
    assert_eq!(stopped.status, 202);
    tokio::time::timeout(Duration::from_secs(20), far.model.until_aborted(1)).await.unwrap();
    let runs = far.get("/runs").await.json();
    // The call is dropped before that is durable.
    far.settle(runs["runs"][0]["thread_id"].as_str().unwrap()).await;
    let runs = far.get("/runs").await.json();
    assert_eq!(runs["runs"][0]["status"], "cancelled", "{runs}");
}

#[tokio::test]
async fn a_failure_there_is_a_failure_here() {
    let far = Stage::new(Reply::fail(401, "no")).await;
    let near = Stage::with(vec![remote(&far)], Reply::text("nobody asks here"), Limits::default()).await;
    let thread = near.create("boss", Some("one")).await;
    assert_eq!(near.settle(&thread).await["status"], "failed");
}

#[tokio::test]
async fn a_task_that_nobody_can_do_is_told_of_as_a_failure() {
    let stage = Stage::new(Reply::text("yes")).await;
    let early = stage.stream("/tasks/t+1/events", None);
    let refused = stage.post("/tasks", &json!({ "task_id": "t 1", "agent_id": "nobody", "input": "x" })).await.json();
    assert_eq!(refused["status"], "error");
    let mut early = early.await;
    let told = early.rest().await;
    assert_eq!((told.len(), &told[0].json()["type"]), (1, &json!("RUN_ERROR")));
    assert_eq!(told[0].json()["error"], refused["error"]);
    assert!(told[0].json()["timestamp"].is_string());
    assert_eq!(stage.stream("/tasks/t%201/events", None).await.rest().await, told);
    assert_eq!(stage.stream("/tasks/t+1/events", Some(1)).await.rest().await, []);
}

/// A document without what differs between any two trees: ids, times, and what models were paid for.
fn plain(document: Value) -> Value {
    match document {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| name != "usage" && name != "bundle");
            fields.map(|(name, value)| (name, plain(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::String(text) if text.starts_with("call_") => json!("a call"),
        Value::String(text) => {
            let words = text.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
            let ids: Vec<_> = words.filter(|word| word.len() == 36).map(str::to_owned).collect();
            json!(ids.iter().fold(text, |text, id| text.replace(id, "ID")))
        }
        Value::Number(number) if number.as_i64().is_some_and(|number| number > 1 << 40) => json!("a time"),
        other => other,
    }
}

/// All that can be seen of a tree of two, when it has come to rest.
async fn seen(stage: &Stage) -> Vec<Value> {
    let root = stage.create("chief", Some("go")).await;
    stage.settle(&root).await;
    let shown = stage.get(&format!("/threads/{root}")).await.json();
    let child = shown["children"][0]["reference"].as_str().unwrap().to_owned();
    let paths = [
        format!("/threads/{child}"),
        format!("/threads/{child}/messages"),
        format!("/threads/{root}/messages"),
        "/runs".to_owned(),
    ];
    let mut seen = vec![plain(shown)];
    for path in paths {
        seen.push(plain(stage.get(&path).await.json()));
    }
    let events = stage.stream(&format!("/threads/{root}/events?follow=false"), None).await.rest().await;
    seen.extend(events.iter().map(|event| plain(event.json())));
    seen
}

#[tokio::test]
async fn a_child_of_another_server_looks_like_one_of_ours() {
    let chief = |request: &Request| match request.system().contains(&mark("chief")) {
        true if request.tool_results().is_empty() => {
            Reply::call("subagent_create", json!({ "agent": "boss", "message": "dig", "name": "Ann" }))
        }
        true => Reply::text("I see"),
        false => Reply::text("found it"),
    };
    let far = Stage::new(Reply::text("found it")).await;
    let agents = |boss: Agent| vec![solo("chief", vec![resumable("boss")]), boss];
    let local = Stage::with(agents(solo("boss", vec![])), chief, Limits::default()).await;
    let near = Stage::with(agents(remote(&far)), chief, Limits::default()).await;
    let (ours, theirs) = (seen(&local).await, seen(&near).await);
    assert!(ours.len() > 10 && ours[3].to_string().contains("found it"), "{ours:#?}");
    assert_eq!(theirs, ours);
    assert_eq!((local.model.requests().len(), near.model.requests().len(), far.model.requests().len()), (3, 2, 1));
}
