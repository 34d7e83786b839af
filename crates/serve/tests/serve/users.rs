//! Users by token: everybody has their own threads, and the owner has all of them.

use crate::client::Answer;
use crate::stage::{ALICE, BOB, READER, Stage, TOKEN};
use entourage_testkit::{Reply, Request};
use http_body_util::Full;
use serde_json::{Value, json};

/// A request of whoever has this token.
async fn ask(stage: &Stage, token: &str, (method, path): (&str, &str), body: &Value) -> Answer {
    let request = hyper::Request::builder().method(method).uri(path).header("host", stage.address.to_string());
    let request = request.header("authorization", format!("Bearer {token}"));
    let request = request.header("content-type", "application/json");
    let text = if body.is_null() { String::new() } else { body.to_string() };
    stage.send(request.body(Full::new(text.into())).unwrap()).await
}

async fn echo() -> Stage {
    Stage::new(|request: &Request| Reply::text(format!("heard {}", request.last_text()))).await
}

/// A thread of whoever has this token, at rest.
async fn made(stage: &Stage, token: &str) -> (String, String) {
    let wish = json!({ "agent": "boss", "message": "hello", "user_id": "mallory" });
    let answer = ask(stage, token, ("POST", "/threads"), &wish).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let text = |key: &str| answer.json()[key].as_str().unwrap().to_owned();
    stage.settle(&text("thread_id")).await;
    (text("thread_id"), text("run_id"))
}

fn ids(answer: &Answer, list: &str, id: &str) -> Vec<String> {
    let document = answer.json();
    document[list].as_array().unwrap().iter().map(|row| row[id].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_a_user_makes_is_that_users() {
    let stage = echo().await;
    let (thread, _) = made(&stage, ALICE).await;
    assert_eq!(stage.get(&format!("/threads/{thread}")).await.json()["user_id"], "alice");
    let (thread, _) = made(&stage, TOKEN).await;
    assert_eq!(stage.get(&format!("/threads/{thread}")).await.json()["user_id"], "mallory");
}

#[tokio::test]
async fn lists_show_a_user_only_what_is_the_users() {
    let stage = echo().await;
    let (alices, first) = made(&stage, ALICE).await;
    let (bobs, _) = made(&stage, BOB).await;
    let (more, second) = made(&stage, ALICE).await;
    let threads = ask(&stage, ALICE, ("GET", "/threads"), &Value::Null).await;
    assert_eq!(ids(&threads, "threads", "thread_id"), [more, alices]);
    let page = ask(&stage, ALICE, ("GET", "/runs?limit=1"), &Value::Null).await;
    assert_eq!((ids(&page, "runs", "run_id"), page.json()["next"].as_str()), (vec![second.clone()], Some(&*second)));
    let rest = ask(&stage, ALICE, ("GET", &format!("/runs?cursor={second}")), &Value::Null).await;
    assert_eq!((ids(&rest, "runs", "run_id"), rest.json()["next"].as_str()), (vec![first], None));
    ask(&stage, BOB, ("GET", &format!("/runs?cursor={second}")), &Value::Null).await.refused(400);
    let children = ask(&stage, ALICE, ("GET", &format!("/threads?root={bobs}")), &Value::Null).await;
    assert_eq!(children.json(), json!({ "threads": [] }));
    assert_eq!(ids(&stage.get("/threads").await, "threads", "thread_id").len(), 3);
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there() {
    let stage = echo().await;
    let (thread, run) = made(&stage, ALICE).await;
    assert_eq!(stage.put(&format!("/threads/{thread}/files/a.txt"), "text/plain", b"secret").await.status, 201);
    let request = "00000000-0000-7000-8000-000000000000";
    let said = json!({ "content": "let me in" });
    let cases = [
        ("GET", format!("/threads/{thread}"), &Value::Null),
        ("GET", format!("/api/threads/{thread}"), &Value::Null),
        ("GET", format!("/threads/{thread}/wait"), &Value::Null),
        ("GET", format!("/threads/{thread}/messages"), &Value::Null),
        ("POST", format!("/threads/{thread}/messages"), &said),
        ("GET", format!("/threads/{thread}/events"), &Value::Null),
        ("POST", format!("/threads/{thread}/stop"), &Value::Null),
        ("POST", format!("/threads/{thread}/terminate"), &Value::Null),
        ("GET", format!("/threads/{thread}/files"), &Value::Null),
        ("GET", format!("/threads/{thread}/files/a.txt"), &Value::Null),
        ("PUT", format!("/threads/{thread}/files/a.txt"), &said),
        ("DELETE", format!("/threads/{thread}/files/a.txt"), &Value::Null),
        ("GET", format!("/threads/{thread}/variables/{request}"), &Value::Null),
        ("GET", format!("/runs/{run}"), &Value::Null),
        ("POST", format!("/runs/{run}/cancel"), &Value::Null),
        ("DELETE", format!("/threads/{thread}"), &Value::Null),
    ];
    for (method, path, body) in &cases {
        let answer = ask(&stage, BOB, (method, path), body).await;
        assert_eq!(answer.refused(404), "not_found", "{method} {path}");
    }
    let texts = stage.get(&format!("/threads/{thread}/messages")).await.json()["messages"].as_array().unwrap().len();
    assert_eq!(texts, 2);
    let file = ask(&stage, ALICE, ("GET", &format!("/threads/{thread}/files/a.txt")), &Value::Null).await;
    assert_eq!(&file.body[..], b"secret");
    let events = ask(&stage, ALICE, ("GET", &format!("/threads/{thread}/events?follow=false")), &Value::Null).await;
    assert!(String::from_utf8_lossy(&events.body).contains("heard hello"));
}

#[tokio::test]
async fn keys_and_tasks_of_users_have_nothing_to_do_with_each_other() {
    let stage = echo().await;
    let mut made = Vec::new();
    for token in [ALICE, BOB, ALICE] {
        let request = stage.request("POST", "/threads").header("content-type", "application/json");
        let mut request =
            request.header("idempotency-key", "one").body(Full::new(r#"{"agent":"boss"}"#.into())).unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        made.push(stage.send(request).await.json()["thread_id"].clone());
    }
    assert!(made[0] == made[2] && made[0] != made[1], "{made:?}");
    let task = json!({ "task_id": "t1", "agent_id": "boss", "input": "hello", "context": { "user_id": "mallory" } });
    for token in [ALICE, BOB] {
        assert_eq!(ask(&stage, token, ("POST", "/tasks"), &task).await.json()["status"], "pending");
        let ended = ask(&stage, token, ("GET", "/tasks/t1/wait"), &Value::Null).await.json();
        assert_eq!(ended["result"], "heard hello");
    }
    assert_eq!(stage.get("/tasks/t1").await.json()["error"], "task not found");
    let users = stage.get("/threads?limit=2").await.json();
    assert_eq!((&users["threads"][0]["user_id"], &users["threads"][1]["user_id"]), (&json!("bob"), &json!("alice")));
}

#[tokio::test]
async fn a_token_does_what_its_scopes_say_and_a_users_token_nothing_of_the_owners() {
    let stage = echo().await;
    let (thread, _) = made(&stage, ALICE).await;
    let wish = json!({ "agent": "boss" });
    assert_eq!(ask(&stage, READER, ("GET", &format!("/threads/{thread}")), &Value::Null).await.status, 200);
    assert_eq!(ask(&stage, READER, ("POST", "/threads"), &wish).await.refused(403), "forbidden");
    assert_eq!(
        ask(&stage, READER, ("DELETE", &format!("/threads/{thread}")), &Value::Null).await.refused(403),
        "forbidden"
    );
    for (path, expected) in [("/metrics", 403), ("/api/metrics", 403), ("/unheard-of", 403), ("/agents", 200)] {
        assert_eq!(ask(&stage, ALICE, ("GET", path), &Value::Null).await.status, expected, "{path}");
    }
    assert_eq!(stage.get("/metrics").await.status, 200);
}

#[tokio::test]
async fn what_the_owner_names_is_not_what_a_user_names() {
    let stage = echo().await;
    let keyed = async |token: &str, key: &str, body: Value| {
        let request = stage.request("POST", "/threads").header("content-type", "application/json");
        let request = request.header("idempotency-key", key);
        let mut request = request.body(Full::new(body.to_string().into())).unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        stage.send(request).await.status
    };
    assert_eq!(keyed(ALICE, "x", json!({ "agent": "boss" })).await, 201);
    assert_eq!(keyed(TOKEN, "alice/x", json!({ "agent": "boss", "message": "hello" })).await, 201);
    let task = |id: &str, input: &str| json!({ "task_id": id, "agent_id": "boss", "input": input });
    for (token, id, input) in [(ALICE, "t", "one"), (TOKEN, "alice/t", "two"), (TOKEN, "/alice/t", "three")] {
        assert_eq!(ask(&stage, token, ("POST", "/tasks"), &task(id, input)).await.status, 200);
        let path = format!("/tasks/{}/wait", id.replace('/', "%2F"));
        let ended = ask(&stage, token, ("GET", &path), &Value::Null).await.json();
        assert_eq!(ended["result"], format!("heard {input}"), "{id}");
    }
}
