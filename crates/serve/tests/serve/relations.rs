//! Threads that others start, take over, or give something to: as a client sees them.

use crate::stage::Stage;
use entourage_model::{Agent, Binding, HandoffEntry, Immediate, Limits, ToolEntry, Variable};
use entourage_testkit::cast::{blocking, mark, resumable, solo, tool};
use entourage_testkit::{Reply, Request};
use serde_json::{Value, json};

const CANARY: &str = "canary-58121";

/// A child that cannot start without `TOKEN`.
fn keen() -> Agent {
    let mut keen = solo("keen", Vec::new());
    let name = "TOKEN".to_owned();
    keen.side_a.prompt.variables =
        vec![Variable { name, secret: true, required: true, scoped: true, description: None }];
    keen
}

/// The boss starts `keen` when it is first asked.
async fn with_keen(limits: Limits) -> Stage {
    let agents = vec![solo("boss", vec![resumable("keen")]), keen()];
    let brain = |request: &Request| match request.system().contains(&mark("boss")) {
        true if request.last_text() == "go" => {
            Reply::call("subagent_create", json!({ "agent": "keen", "message": "help", "name": "Ann" }))
        }
        true => Reply::text("I see"),
        false => Reply::text("helped"),
    };
    Stage::with(agents, brain, limits).await
}

/// A thread whose child waits for variables, and where these are to be sent.
async fn asked(stage: &Stage) -> (String, String) {
    let thread = stage.create("boss", Some("go")).await;
    stage.settle(&thread).await;
    let results = results(stage, &thread).await;
    let error: Value = serde_json::from_str(&results[0]).unwrap();
    assert_eq!(error["error"]["code"], "subagent_env_required");
    (thread, error["error"]["endpoint"].as_str().unwrap().to_owned())
}

async fn results(stage: &Stage, thread: &str) -> Vec<String> {
    let messages = stage.get(&format!("/threads/{thread}/messages?include_silent=true")).await.json();
    let results = messages["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Waits for the message that says what became of a child.
async fn news(stage: &Stage, thread: &str) -> Value {
    let mut events = stage.stream(&format!("/threads/{thread}/events"), None).await;
    loop {
        let event = events.next_kept().await.unwrap().json();
        if event["message"]["metadata"]["subagent_id"].is_string() {
            return event["message"].clone();
        }
    }
}

#[tokio::test]
async fn a_request_for_variables_is_shown_and_used_once() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let id = path.rsplit('/').next().unwrap();
    let wanted = json!({ "request_id": id, "parent_thread_id": thread, "agent_name": "keen",
        "required": ["TOKEN"], "missing": ["TOKEN"] });
    assert_eq!(stage.get(&path).await.json(), wanted);
    assert_eq!(stage.get(&format!("/api{path}")).await.json(), wanted);
    for nothing in [json!({ "env": {} }), json!({ "env": { "PIN": "1" } }), json!({ "env": { "TOKEN": "" } })] {
        let answer = stage.post(&path, &nothing).await;
        assert_eq!(answer.refused(400), "variables_missing");
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains("TOKEN"), "{answer:?}");
    }
    for wrong in [json!({}), json!({ "env": { "TOKEN": 1 } }), json!({ "env": [] }), json!([])] {
        stage.post(&path, &wrong).await.refused(400);
    }
    let given = json!({ "env": { "TOKEN": CANARY } });
    let booted = stage.post(&path, &given).await;
    assert_eq!(booted.status, 200, "{booted:?}");
    let booted = booted.json();
    let child = booted["child_thread_id"].as_str().unwrap();
    assert_eq!(booted, json!({ "request_id": id, "child_thread_id": child, "status": "success" }));
    stage.get(&path).await.refused(404);
    stage.post(&path, &given).await.refused(404);
    let news = news(&stage, &thread).await;
    let text = format!("Subagent (reference: {child}) has returned the following result:\n\nhelped");
    assert_eq!((&news["content"], &news["silent"]), (&json!(text), &json!(true)));
    let entry = &stage.settle(&thread).await["children"][0];
    assert_eq!((&entry["reference"], &entry["threadName"]), (&json!(child), &json!("Ann")));
    let said = stage.get(&format!("/threads/{thread}/messages")).await.json();
    let asked = said["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(entry["spawnGroupId"], asked["id"], "the answer that first asked for it");
}

#[tokio::test]
async fn a_request_of_another_thread_is_not_found() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let id = path.rsplit('/').next().unwrap();
    let other = stage.create("boss", None).await;
    for thread in [other.as_str(), "nobody", id] {
        let elsewhere = format!("/threads/{thread}/variables/{id}");
        stage.get(&elsewhere).await.refused(404);
        stage.post(&elsewhere, &json!({ "env": { "TOKEN": "1" } })).await.refused(404);
        stage.delete(&elsewhere).await.refused(404);
    }
    for id in [thread.as_str(), "nothing", "%20"] {
        stage.get(&format!("/threads/{thread}/variables/{id}")).await.refused(404);
    }
    assert_eq!(stage.get(&path).await.status, 200, "it is as it was");
}

#[tokio::test]
async fn a_request_that_was_taken_back_is_gone() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    assert_eq!(stage.delete(&path).await.status, 204);
    stage.delete(&path).await.refused(404);
    stage.get(&path).await.refused(404);
    stage.post(&path, &json!({ "env": { "TOKEN": "1" } })).await.refused(404);
    assert_eq!(stage.get(&format!("/threads?parent={thread}")).await.json()["threads"], json!([]));
}

/// Either the child starts or the request is taken back, and both are told which.
#[tokio::test]
async fn of_one_who_gives_variables_and_one_who_takes_the_request_back_one_is_first() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let given = json!({ "env": { "TOKEN": "1" } });
    let (booted, gone) = futures::future::join(stage.post(&path, &given), stage.delete(&path)).await;
    let children = stage.get(&format!("/threads?parent={thread}")).await.json()["threads"].as_array().unwrap().len();
    assert!(matches!((booted.status, gone.status, children), (200, 404, 1) | (404, 204, 0)), "{booted:?} {gone:?}");
}

#[tokio::test]
async fn of_many_who_give_variables_at_once_one_starts_the_child() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let given = json!({ "env": { "TOKEN": "1" } });
    let posts = std::iter::repeat_with(|| stage.post(&path, &given)).take(5);
    let mut statuses: Vec<u16> = futures::future::join_all(posts).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404, 404, 404, 404]);
    let children = stage.get(&format!("/threads?parent={thread}")).await.json();
    assert_eq!(children["threads"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_same_key_and_values_start_one_child() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let given = json!({ "env": { "TOKEN": "1", "PIN": "2" } });
    let missing = json!({ "env": { "PIN": "2" } });
    assert_eq!(
        stage.post_once(&path, "k", &missing).await.refused(400),
        "variables_missing",
        "a key is not used by that"
    );
    let posts = std::iter::repeat_with(|| stage.post_once(&path, "k", &given)).take(5);
    let answers = futures::future::join_all(posts).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (200, &answers[0].body));
    }
    news(&stage, &thread).await;
    stage.settle(&thread).await;
    let reordered = json!({ "env": { "PIN": "2", "TOKEN": "1" } });
    assert_eq!(stage.post_once(&path, "k", &reordered).await.body, answers[0].body, "also when the child has ended");
    for other in [json!({ "env": { "TOKEN": "1" } }), json!({ "env": {} })] {
        assert_eq!(stage.post_once(&path, "k", &other).await.refused(409), "idempotency_conflict");
    }
    stage.post_once(&path, "another", &given).await.refused(404);
    stage.post(&path, &given).await.refused(404);
    stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    assert_eq!(stage.post_once(&path, "k", &given).await.body, answers[0].body, "whatever has become of the thread");
    let children = stage.get(&format!("/threads?parent={thread}")).await.json();
    assert_eq!(children["threads"].as_array().unwrap().len(), 1);
}

/// Nobody waits for a limit: whoever gives the variables is told at once, and may try again with the same key.
#[tokio::test]
async fn a_limit_refuses_variables_at_once() {
    let ToolEntry::Child(mut entry) = resumable("keen") else { unreachable!("it is a child") };
    entry.resumable.as_mut().unwrap().instances_max = Some(1);
    let agents = vec![solo("boss", vec![ToolEntry::Child(entry)]), keen()];
    let create = |name: &str| ("subagent_create", json!({ "agent": "keen", "message": "help", "name": name }));
    let brain = move |request: &Request| match request.system().contains(&mark("boss")) {
        true if request.last_text() == "go" => Reply::calls([create("Ann"), create("Bob")]),
        true => Reply::text("I see"),
        false => Reply::text("helped"),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let (thread, ann) = asked(&stage).await;
    let bob: Value = serde_json::from_str(&results(&stage, &thread).await[1]).unwrap();
    let bob = bob["error"]["endpoint"].as_str().unwrap();
    let given = json!({ "env": { "TOKEN": "1" } });
    let first = stage.post(&ann, &given).await.json()["child_thread_id"].as_str().unwrap().to_owned();
    let began = std::time::Instant::now();
    assert_eq!(stage.post_once(bob, "k", &given).await.refused(409), "subagent_limit_reached");
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(stage.get(bob).await.status, 200, "the request is as it was");
    stage.post(&format!("/threads/{first}/terminate"), &json!({})).await;
    while stage.get(&format!("/threads/{thread}")).await.json()["children"][0]["status"] != "terminated" {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.post_once(bob, "k", &given).await.status, 200);
}

/// What was asked for on behalf of a child and of those below it is not asked for again.
#[tokio::test]
async fn variables_are_given_for_everything_below_the_child() {
    let agents = vec![solo("boss", vec![resumable("mid")]), solo("mid", vec![blocking("keen")]), keen()];
    let brain = |request: &Request| match request.system() {
        system if system.contains(&mark("keen")) => Reply::text("dug"),
        system if system.contains(&mark("mid")) => match request.tool_results().first() {
            None => Reply::call("keen", json!({ "message": "dig" })),
            Some(result) => Reply::text(format!("mid heard {}", result.text)),
        },
        _ if request.last_text() == "go" => {
            Reply::call("subagent_create", json!({ "agent": "mid", "message": "help", "name": "Ann" }))
        }
        _ => Reply::text("I see"),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    assert_eq!(stage.post(&path, &json!({ "env": { "TOKEN": CANARY } })).await.status, 200);
    let news = news(&stage, &thread).await;
    assert!(news["content"].as_str().unwrap().ends_with("\n\nmid heard dug"), "{news}");
}

#[tokio::test]
async fn a_terminated_thread_has_no_requests() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    stage.get(&path).await.refused(404);
    stage.post(&path, &json!({ "env": { "TOKEN": "1" } })).await.refused(404);
}

#[tokio::test]
async fn what_was_given_is_shown_to_nobody() {
    let stage = with_keen(Limits::default()).await;
    let (thread, path) = asked(&stage).await;
    let booted = stage.post(&path, &json!({ "env": { "TOKEN": CANARY } })).await.json();
    let child = booted["child_thread_id"].as_str().unwrap();
    news(&stage, &thread).await;
    stage.settle(&thread).await;
    let mut seen = String::new();
    for thread in [&thread, child] {
        for what in ["", "/messages?include_silent=true", "/files"] {
            seen += std::str::from_utf8(&stage.get(&format!("/threads/{thread}{what}")).await.body).unwrap();
        }
    }
    for path in ["/threads", "/runs", "/metrics"] {
        seen += std::str::from_utf8(&stage.get(path).await.body).unwrap();
    }
    let mut events = stage.stream(&format!("/threads/{thread}/events?tree=true"), None).await;
    stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    seen.extend(events.rest().await.into_iter().map(|event| event.data));
    seen.extend(stage.model.requests().iter().map(|request| request.body().to_string()));
    assert!(seen.contains("helped") && !seen.contains(CANARY), "{seen}");
}

#[tokio::test]
async fn a_handoff_changes_the_threads_agent() {
    let handoff = ToolEntry::Handoff(HandoffEntry::new("clerk".into()));
    let brain = |request: &Request| match request.system().contains(&mark("boss")) {
        true => Reply::call("clerk", json!({})),
        false => Reply::text(format!("the clerk heard {}", request.texts("user").join(" and "))),
    };
    let agents = vec![solo("boss", vec![handoff]), solo("clerk", Vec::new())];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", Some("one")).await;
    assert_eq!(stage.settle(&thread).await["agent"], "clerk");
    assert_eq!(results(&stage, &thread).await, ["Handoff complete"]);
    stage.say(&thread, "two").await;
    stage.settle(&thread).await;
    assert_eq!(stage.model.requests().last().unwrap().texts("user"), ["one", "two"], "with the whole conversation");
    let of = async |agent: &str| stage.get(&format!("/threads?agent={agent}")).await.json()["threads"].clone();
    assert_eq!((of("boss").await, &of("clerk").await[0]["thread_id"]), (json!([]), &json!(thread)));
}

#[tokio::test]
async fn immediate_children_start_with_the_thread() {
    let ToolEntry::Child(scout) = blocking("scout") else { unreachable!("it is a child") };
    let scout = entourage_model::ChildEntry { immediate: Some(Immediate::default()), ..scout };
    let agents = vec![solo("boss", vec![ToolEntry::Child(scout)]), solo("scout", Vec::new())];
    let brain = |request: &Request| match request.system().contains(&mark("scout")) {
        true => Reply::text("all clear"),
        false => Reply::text(format!("so: {}", request.tool_results()[0].text)),
    };
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", None).await;
    stage.model.until_requests(1).await;
    assert_eq!(stage.settle(&thread).await["status"], "idle");
    assert_eq!(results(&stage, &thread).await, ["all clear"], "nobody has said anything");
    stage.say(&thread, "hello").await;
    stage.settle(&thread).await;
    let requests = stage.model.requests();
    assert_eq!(requests.len(), 2, "the child starts once");
    let messages = stage.get(&format!("/threads/{thread}/messages")).await.json();
    assert_eq!(messages["messages"].as_array().unwrap().last().unwrap()["content"], "so: all clear");
}

/// The child gets a file and hands it back: both have it under a path of their own.
#[tokio::test]
async fn files_go_to_the_child_and_come_back() {
    let ToolEntry::Child(scout) = blocking("scout") else { unreachable!("it is a child") };
    let scout = entourage_model::ChildEntry { attachments_property: Some("papers".to_owned()), ..scout };
    let mut child = solo("scout", vec![tool("find_files")]);
    child.side_a.session_stop = Some(Binding {
        tool: "find_files".into(),
        message_property: None,
        attachments_property: Some("pattern".to_owned()),
    });
    let brain = |request: &Request| match request.system().contains(&mark("scout")) {
        true => {
            let path = request.texts("user")[0].lines().last().unwrap().trim_start_matches('/').to_owned();
            Reply::call("find_files", json!({ "pattern": path }))
        }
        false if request.tool_results().is_empty() => Reply::call("scout", json!({ "papers": ["/in/a.txt"] })),
        false => Reply::text("thanks"),
    };
    let agents = vec![solo("boss", vec![ToolEntry::Child(scout)]), child];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", None).await;
    stage.put(&format!("/threads/{thread}/files/in/a.txt"), "text/plain", b"content").await;
    stage.say(&thread, "go").await;
    stage.settle(&thread).await;
    let children = stage.get(&format!("/threads?parent={thread}")).await.json();
    let child = children["threads"][0]["thread_id"].as_str().unwrap().to_owned();
    let result = results(&stage, &thread).await.remove(0);
    let path = result.lines().last().unwrap();
    assert!(path.starts_with("/attachments/a-"), "{result}: {:?}", results(&stage, &child).await);
    assert_eq!(&stage.get(&format!("/threads/{thread}/files{path}")).await.body[..], b"content");
    let files = stage.get(&format!("/threads/{child}/files")).await.json();
    let own = files["files"][0]["path"].as_str().unwrap();
    assert_eq!(&stage.get(&format!("/threads/{child}/files{own}")).await.body[..], b"content");
    assert_eq!(files["files"].as_array().unwrap().len(), 1);
}
