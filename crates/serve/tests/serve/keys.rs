//! The same request twice.

use crate::stage::Stage;
use entourage_testkit::Reply;
use serde_json::{Value, json};

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

#[tokio::test]
async fn the_same_key_and_body_are_answered_alike_when_the_agent_has_gone() {
    let stage = Stage::new(Reply::text("yes")).await;
    let body = json!({ "agent": "boss", "message": "hi" });
    let task = json!({ "task_id": "t", "agent_id": "boss", "input": "dig" });
    let thread = stage.post_once("/threads", "k", &body).await;
    let taken = stage.post_once("/tasks", "k", &task).await;
    assert_eq!(stage.get("/tasks/t/wait").await.json()["status"], "success");
    stage.teams.declare(vec![]);
    let again = stage.post_once("/threads", "k", &body).await;
    assert_eq!((again.status, &again.body), (201, &thread.body));
    assert_eq!(stage.post_once("/tasks", "k", &task).await.body, taken.body);
    let other = json!({ "agent": "boss", "message": "ho" });
    assert_eq!(stage.post_once("/threads", "k", &other).await.refused(409), "idempotency_conflict");
    assert_eq!(stage.post_once("/threads", "free", &body).await.refused(404), "unknown_agent");
}

#[tokio::test]
async fn the_same_key_and_body_queue_one_message_when_its_file_has_gone() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let (path, file) = (format!("/threads/{thread}/messages"), format!("/threads/{thread}/files/a.txt"));
    assert_eq!(stage.put(&file, "text/plain", b"1").await.status, 201);
    let body = json!({ "content": "hi", "attachments": ["/a.txt"] });
    let first = stage.post_once(&path, "k", &body).await;
    assert_eq!(first.status, 202, "{first:?}");
    stage.settle(&thread).await;
    assert_eq!(stage.delete(&file).await.status, 204);
    let again = stage.post_once(&path, "k", &body).await;
    assert_eq!((again.status, &again.body), (202, &first.body));
    let other = json!({ "content": "ho", "attachments": ["/a.txt"] });
    assert_eq!(stage.post_once(&path, "k", &other).await.refused(409), "idempotency_conflict");
    assert_eq!(stage.post_once(&path, "free", &body).await.refused(400), "bad_request");
    assert_eq!(stage.post(&path, &body).await.refused(400), "bad_request");
    let messages = stage.get(&path).await.json();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2, "{messages}");
}

#[tokio::test]
async fn a_key_of_another_task_or_context_is_refused() {
    let stage = Stage::new(Reply::text("yes")).await;
    let task =
        |id: &str, context: Value| json!({ "task_id": id, "agent_id": "boss", "input": "dig", "context": context });
    let (plain, talk) = (json!({ "detail": "full" }), json!({ "session_id": "s", "detail": "full" }));
    for (id, key, context) in [("a", "k1", &plain), ("b", "k2", &plain), ("c", "k3", &talk), ("d", "k4", &talk)] {
        let body = task(id, context.clone());
        let first = stage.post_once("/tasks", key, &body).await;
        assert_eq!(first.json()["status"], "pending", "{first:?}");
        assert_eq!(stage.get(&format!("/tasks/{id}/wait")).await.json()["status"], "success");
        assert_eq!(stage.post_once("/tasks", key, &body).await.body, first.body, "{id}");
        let mut quieter = body;
        quieter["context"]["detail"] = json!("status");
        assert_eq!(stage.post_once("/tasks", key, &quieter).await.status, 409, "{id} with another context");
    }
    let threads = stage.get("/threads").await.json();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 3, "the last two are one conversation: {threads}");
    for (id, key, context) in [("b", "k1", plain), ("d", "k3", talk.clone()), ("e", "k4", talk)] {
        let refused = stage.post_once("/tasks", key, &task(id, context)).await;
        assert_eq!(refused.status, 409, "{id} with the key {key}: {refused:?}");
    }
    assert_eq!(stage.get("/runs").await.json()["runs"].as_array().unwrap().len(), 4);
}
