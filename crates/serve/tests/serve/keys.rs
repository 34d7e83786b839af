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
