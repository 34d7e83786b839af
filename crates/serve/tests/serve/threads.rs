//! Making threads, talking to them, finding and ending them.

use crate::stage::Stage;
use entourage_model::Limits;
use entourage_testkit::cast::{background, solo};
use entourage_testkit::{Reply, Request};
use serde_json::json;

fn echo(request: &Request) -> Reply {
    Reply::text(format!("heard {}", request.last_text()))
}

#[tokio::test]
async fn a_thread_works_and_tells_what_was_said() {
    let stage = Stage::new(echo).await;
    let body =
        json!({ "agent": "boss", "message": "hello", "tags": ["a", "b"], "user_id": "alice", "env": { "K": "v" } });
    let created = stage.post("/threads", &body).await;
    assert_eq!(created.status, 201, "{created:?}");
    let created = created.json();
    let (thread, run) = (created["thread_id"].as_str().unwrap(), created["run_id"].as_str().unwrap());
    let row = stage.settle(thread).await;
    assert_eq!((&row["status"], &row["agent"], &row["depth"]), (&json!("idle"), &json!("boss"), &json!(0)));
    assert_eq!(
        (&row["tags"], &row["user_id"], &row["terminated"]),
        (&json!(["a", "b"]), &json!("alice"), &json!(null))
    );
    assert_eq!((&row["parent"], &row["root"], &row["children"]), (&json!(null), &json!(thread), &json!([])));
    assert_eq!(row["usage"]["steps"], 1);
    assert!(row["bundle"].as_str().unwrap().starts_with("sha256:"));
    assert!(row["created_at"].as_i64().unwrap() > 1_000_000_000_000_000);
    assert_eq!(stage.get(&format!("/api/threads/{thread}")).await.json(), row);
    let messages = stage.get(&format!("/threads/{thread}/messages")).await.json();
    let said: Vec<_> = messages["messages"].as_array().unwrap().iter().map(|line| line["content"].clone()).collect();
    assert_eq!(said, [json!("hello"), json!("heard hello")]);
    assert_eq!(stage.get(&format!("/runs/{run}")).await.json()["result"], "heard hello");
}

#[tokio::test]
async fn a_thread_without_a_message_waits_for_one() {
    let stage = Stage::new(echo).await;
    let created = stage.post("/threads", &json!({ "agent": "boss" })).await.json();
    assert_eq!((&created["status"], created.get("run_id")), (&json!("idle"), None));
    let thread = created["thread_id"].as_str().unwrap();
    let path = format!("/threads/{thread}/messages");
    let sent = stage.post(&path, &json!({ "content": "now" })).await;
    assert_eq!((sent.status, &sent.json()["status"]), (202, &json!("queued")), "{sent:?}");
    stage.settle(thread).await;
    let messages = stage.get(&path).await.json();
    assert_eq!(messages["messages"][0]["id"], sent.json()["message_id"]);
    assert_eq!(messages["messages"][1]["content"], "heard now");
}

#[tokio::test]
async fn messages_come_in_pages_and_silent_ones_only_when_asked_for() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let path = format!("/threads/{thread}/messages");
    for number in 0..3 {
        let body = json!({ "content": number.to_string(), "silent": number == 1 });
        assert_eq!(stage.post(&path, &body).await.status, 202);
        stage.settle(&thread).await;
    }
    let all = stage.get(&format!("{path}?include_silent=true")).await.json()["messages"].clone();
    let shown = stage.get(&path).await.json()["messages"].clone();
    let silent = all.as_array().unwrap().iter().filter(|message| message["silent"] == true).count();
    assert_eq!((silent, all.as_array().unwrap().len() - silent), (1, shown.as_array().unwrap().len()));
    let (mut paged, mut after) = (Vec::new(), String::from("0"));
    loop {
        let page = stage.get(&format!("{path}?include_silent=true&limit=2&after={after}")).await.json();
        let messages = page["messages"].as_array().unwrap();
        paged.extend(messages.clone());
        let Some(next) = page.get("next") else { break };
        assert_eq!(Some(next), messages.last().map(|last| &last["seq"]));
        after = next.to_string();
    }
    assert_eq!(json!(paged), all);
}

#[tokio::test]
async fn threads_are_listed_newest_first_and_filtered() {
    let stage = Stage::with(vec![solo("boss", vec![]), solo("other", vec![])], echo, Limits::default()).await;
    let mut made = Vec::new();
    for number in 0..5 {
        let agent = if number == 0 { "other" } else { "boss" };
        let body = json!({ "agent": agent, "tags": [format!("t{number}")] });
        made.push(stage.post("/threads", &body).await.json()["thread_id"].clone());
    }
    let (other, first) = (made[0].clone(), made[1].clone());
    // Ids tell the time to the millisecond; threads of one millisecond have no order but that of their ids.
    made.sort_by(|a, b| b.as_str().cmp(&a.as_str()));
    let ids = async |query: &str| {
        let page = stage.get(&format!("/threads?{query}")).await.json();
        let ids: Vec<_> = page["threads"].as_array().unwrap().iter().map(|row| row["thread_id"].clone()).collect();
        (ids, page.get("next").map(|next| next.as_str().unwrap().to_owned()))
    };
    assert_eq!(ids("").await, (made.clone(), None));
    assert_eq!(ids("agent=other").await, (vec![other], None));
    assert_eq!(ids("tag=t1&status=idle").await, (vec![first], None));
    assert_eq!(ids("status=done").await, (vec![], None));
    assert_eq!(ids(&format!("parent={}", made[0].as_str().unwrap())).await, (vec![], None));
    let (page, next) = ids("limit=3").await;
    assert_eq!(page, made[..3]);
    assert_eq!(ids(&format!("limit=3&cursor={}", next.unwrap())).await, (made[3..].to_vec(), None));
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_refused() {
    let stage = Stage::new(echo).await;
    let thread = stage.create("boss", None).await;
    for query in [
        "/threads?status=sleepy",
        "/threads?limit=0",
        "/threads?limit=1001",
        "/threads?limit=x",
        "/threads?cursor=x",
        "/threads?cursor=2f1d7a52-3f0c-4c51-9f9b-6f2a44a0b7c3",
        "/threads?cursor=00000000-0000-0000-0000-000000000000",
        "/threads?parent=x",
        "/threads?colour=red",
        "/threads?status=idle&status=done",
        "/runs?status=idle",
        "/runs?thread=x",
        "/runs?unread=perhaps",
        "/runs?cursor=nobody",
        "/runs?limit=-1",
        "/threads/{}/messages?after=x",
        "/threads/{}/messages?after=-1",
        "/threads/{}/messages?after=99999999999999999999999",
        "/threads/{}/messages?include_silent=2",
        "/threads/{}/events?after=garbage",
        "/threads/{}/events?tree=maybe",
        "/threads/{}/wait?timeout_seconds=soon",
        "/threads/{}/wait?timeout_seconds=-1",
        "/threads/{}/wait?timeout_seconds=NaN",
    ] {
        let answer = stage.get(&query.replace("{}", &thread)).await;
        assert_eq!(answer.refused(400), "bad_request", "{query}");
    }
}

#[tokio::test]
async fn what_nobody_has_is_not_found() {
    let stage = Stage::new(echo).await;
    for id in ["7f3a", "00000000-0000-0000-0000-000000000000", "%00", "%FF", "..", "a%20b", "9".repeat(300).as_str()] {
        for path in ["", "/wait", "/messages", "/events", "/files", "/files/a", "/variables"] {
            stage.get(&format!("/threads/{id}{path}")).await.refused(404);
        }
        for path in ["/messages", "/stop", "/terminate"] {
            stage.post(&format!("/threads/{id}{path}"), &json!({ "content": "x" })).await.refused(404);
        }
        stage.delete(&format!("/threads/{id}")).await.refused(404);
        stage.get(&format!("/runs/{id}")).await.refused(404);
        stage.post(&format!("/runs/{id}/cancel"), &json!({})).await.refused(404);
        stage.get(&format!("/agents/{id}")).await.refused(404);
    }
    stage.get("/nothing").await.refused(404);
    stage.get("/api/nothing").await.refused(404);
    let refused = stage.post("/threads", &json!({ "agent": "nobody", "message": "hi" })).await;
    assert_eq!(refused.refused(404), "unknown_agent");
}

#[tokio::test]
async fn a_terminated_thread_keeps_its_time_and_takes_nothing() {
    let stage = Stage::new(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(1).await;
    let first = stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    assert_eq!((first.status, &first.json()["status"]), (202, &json!("terminated")), "{first:?}");
    let again = stage.post(&format!("/threads/{thread}/terminate"), &json!({})).await;
    assert_eq!((again.status, again.json()), (202, first.json()));
    let stopped = stage.post(&format!("/threads/{thread}/stop"), &json!({})).await;
    assert_eq!((stopped.status, stopped.json()), (202, first.json()), "there is no turn to be ended");
    let sent = stage.post(&format!("/threads/{thread}/messages"), &json!({ "content": "x" })).await;
    assert_eq!(sent.refused(409), "terminated");
}

#[tokio::test]
async fn a_stopped_thread_rests_and_takes_more() {
    let stage = Stage::new(|request: &Request| match request.last_text().as_str() {
        "hang" => Reply::hang(),
        _ => Reply::text("awake"),
    })
    .await;
    let thread = stage.create("boss", Some("hang")).await;
    stage.model.until_requests(1).await;
    assert_eq!(stage.post(&format!("/threads/{thread}/stop"), &json!({})).await.status, 202);
    assert_eq!(stage.settle(&thread).await["status"], "idle");
    stage.say(&thread, "wake up").await;
    stage.settle(&thread).await;
    let messages = stage.get(&format!("/threads/{thread}/messages")).await.json();
    assert_eq!(messages["messages"].as_array().unwrap().last().unwrap()["content"], "awake");
}

#[tokio::test]
async fn a_wait_ends_with_its_time_or_with_the_server() {
    let stage = Stage::new(Reply::hang()).await;
    let thread = stage.create("boss", Some("go")).await;
    let waited = stage.get(&format!("/threads/{thread}/wait?timeout_seconds=0.01")).await;
    assert_eq!((waited.status, &waited.json()["status"]), (200, &json!("running")));
    let path = format!("/threads/{thread}/wait?timeout_seconds=600");
    let (waited, ()) = tokio::join!(stage.get(&path), async {
        stage.model.until_requests(1).await;
        stage.runtime.shutdown().await;
    });
    assert_eq!(waited.status, 200, "{waited:?}");
}

#[tokio::test]
async fn a_deleted_thread_is_gone_with_everything_below_it() {
    let brain = |request: &Request| match (request.tools().is_empty(), request.tool_results().is_empty()) {
        (true, _) => Reply::hang(),
        (false, true) => Reply::call("worker", json!({ "message": "dig" })),
        (false, false) => Reply::text("started"),
    };
    let agents = vec![solo("boss", vec![background("worker")]), solo("worker", vec![])];
    let stage = Stage::with(agents, brain, Limits::default()).await;
    let thread = stage.create("boss", Some("go")).await;
    stage.settle(&thread).await;
    let children = stage.get(&format!("/threads?parent={thread}")).await.json()["threads"].clone();
    let child = children[0]["thread_id"].as_str().unwrap();
    assert_eq!(stage.get(&format!("/threads/{thread}")).await.json()["children"][0]["reference"], child);
    assert_eq!(stage.delete(&format!("/threads/{thread}")).await.status, 204);
    for id in [&thread, child] {
        stage.get(&format!("/threads/{id}")).await.refused(404);
    }
    assert_eq!(stage.get("/runs").await.json(), json!({ "runs": [] }));
}

#[tokio::test]
async fn limits_are_said_with_their_names() {
    let limits = Limits { queue_messages: 2, message_bytes: 10, ..Limits::default() };
    let stage = Stage::with(vec![solo("boss", vec![])], Reply::hang(), limits).await;
    let large = json!({ "agent": "boss", "message": "elevenbytes" });
    assert_eq!(stage.post("/threads", &large).await.refused(413), "message_too_large");
    let thread = stage.create("boss", Some("go")).await;
    stage.model.until_requests(1).await;
    let path = format!("/threads/{thread}/messages");
    assert_eq!(stage.post(&path, &json!({ "content": "elevenbytes" })).await.refused(413), "message_too_large");
    for _ in 0..2 {
        stage.say(&thread, "more").await;
    }
    assert_eq!(stage.post(&path, &json!({ "content": "more" })).await.refused(429), "queue_full");
}
