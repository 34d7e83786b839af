//! The same request twice.

use crate::stage::Stage;
use entourage_testkit::Reply;
use serde_json::json;

#[tokio::test]
async fn the_same_key_and_body_make_one_thread() {
    let stage = Stage::new(Reply::text("yes")).await;
    let body = json!({ "agent": "boss", "message": "hi", "tags": ["t"], "env": { "A": "1", "B": "2" } });
    let answers = futures::future::join_all((0..10).map(|_| stage.post_once("/threads", "order-7", &body))).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (201, &answers[0].body));
    }
    let reordered = json!({ "tags": ["t"], "env": { "B": "2", "A": "1" }, "message": "hi", "agent": "boss" });
    assert_eq!(stage.post_once("/threads", "order-7", &reordered).await.body, answers[0].body);
    let other = json!({ "agent": "boss", "message": "ho", "tags": ["t"] });
    assert_eq!(stage.post_once("/threads", "order-7", &other).await.refused(409), "idempotency_conflict");
    assert_ne!(stage.post_once("/threads", "order-8", &body).await.body, answers[0].body);
    let thread = answers[0].json()["thread_id"].as_str().unwrap().to_owned();
    stage.settle(&thread).await;
    assert_eq!(stage.post_once("/threads", "order-7", &body).await.body, answers[0].body, "also when it rests");
    assert_eq!(stage.get("/threads").await.json()["threads"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_same_key_and_body_queue_one_message() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let path = format!("/threads/{thread}/messages");
    let first = stage.post_once(&path, "k", &json!({ "content": "hi" })).await;
    assert_eq!(first.status, 202);
    stage.settle(&thread).await;
    assert_eq!(stage.post_once(&path, "k", &json!({ "content": "hi" })).await.body, first.body);
    for other in [json!({ "content": "ho" }), json!({ "content": "hi", "silent": true })] {
        assert_eq!(stage.post_once(&path, "k", &other).await.refused(409), "idempotency_conflict");
    }
    let messages = stage.get(&path).await.json();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2, "{messages}");
}

#[tokio::test]
async fn a_key_that_cannot_be_is_refused() {
    let stage = Stage::new(Reply::text("yes")).await;
    for key in ["", "k".repeat(257).as_str(), "k".repeat(100_000).as_str()] {
        assert_eq!(stage.post_once("/threads", key, &json!({ "agent": "boss" })).await.refused(400), "bad_request");
    }
    assert_eq!(stage.get("/threads").await.json(), json!({ "threads": [] }));
}

#[tokio::test]
async fn the_same_key_and_body_are_one_task_also_when_it_has_ended() {
    let stage = Stage::new(Reply::text("yes")).await;
    let task = |id: &str, input: &str| json!({ "task_id": id, "agent_id": "boss", "input": input });
    let first = stage.post_once("/tasks", "k", &task("t1", "hi")).await;
    assert_eq!(first.json(), json!({ "task_id": "t1", "status": "pending" }));
    assert_eq!(stage.get("/tasks/t1/wait").await.json()["status"], "success");
    assert_eq!(stage.post_once("/tasks", "k", &task("t1", "hi")).await.body, first.body);
    for other in [task("t1", "ho"), task("t2", "hi")] {
        let refused = stage.post_once("/tasks", "k", &other).await;
        assert_eq!((refused.status, refused.json()["error"].is_string()), (409, true), "{refused:?}");
    }
    assert_eq!(stage.post("/tasks", &task("t1", "hi")).await.status, 409, "without a key it has ended");
    for key in ["", "a\tb", "k".repeat(257).as_str()] {
        assert_eq!(stage.post_once("/tasks", key, &task("t3", "hi")).await.status, 400);
    }
    assert_eq!(stage.get("/runs").await.json()["runs"].as_array().unwrap().len(), 1);
}
