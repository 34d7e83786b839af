//! Bodies that are no body.

use crate::stage::Stage;
use entourage_model::Limits;
use entourage_testkit::Reply;
use entourage_testkit::cast::solo;
use serde_json::json;

#[tokio::test]
async fn what_is_no_request_is_refused_and_nothing_happens() {
    let stage = Stage::new(Reply::text("yes")).await;
    let deep = format!(r#"{{"agent":"boss","message":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "",
        "{",
        "[]",
        "null",
        "7",
        "\u{feff}{}",
        r#"{"agent":"boss"} {}"#,
        r#"{"message":"hi"}"#,
        r#"{"agent":7}"#,
        r#"{"agent":"boss","message":7}"#,
        r#"{"agent":"boss","message":"\ud800"}"#,
        r#"{"agent":"boss","message":NaN}"#,
        r#"{"agent":"boss","agent":"boss"}"#,
        r#"{"agent":"boss","env":{"A":"1","A":"2"}}"#,
        r#"{"agent":"boss","env":{"A":1e400}}"#,
        r#"{"agent":"boss","tags":"t"}"#,
        r#"{"agent":"boss","scopes":["admin"]}"#,
        r#"{"agent":"boss","parent":"00000000-0000-0000-0000-000000000000"}"#,
        r#"{"agent":"boss","attachments":["/a"]}"#,
        deep.as_str(),
    ] {
        let answer = stage.post_text("/threads", body.to_owned()).await;
        answer.refused(400);
    }
    stage.post_text("/threads", b"{\"agent\":\"\xff\"}".to_vec()).await.refused(400);
    assert_eq!(stage.get("/threads").await.json(), json!({ "threads": [] }));
}

#[tokio::test]
async fn a_message_says_who_is_quoted() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", None).await;
    let path = format!("/threads/{thread}/messages");
    for role in ["system", "tool", "", "USER"] {
        stage.post(&path, &json!({ "content": "x", "role": role })).await.refused(400);
    }
    stage.post(&path, &json!({ "content": "x", "attachments": ["/nowhere"] })).await.refused(400);
    stage.post(&path, &json!({})).await.refused(400);
    assert_eq!(stage.get(&path).await.json(), json!({ "messages": [] }));
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let limits = Limits { http_body_bytes: 1000, ..Limits::default() };
    let stage = Stage::with(vec![solo("boss", vec![])], Reply::text("yes"), limits).await;
    let body = json!({ "agent": "boss", "tags": ["x".repeat(1000)] });
    for path in ["/threads", "/mcp"] {
        assert_eq!(stage.post(path, &body).await.refused(413), "body_too_large", "{path}");
    }
    let thread = stage.create("boss", None).await;
    let file = stage.put(&format!("/threads/{thread}/files/a"), "text/plain", &[b'x'; 1001]).await;
    assert_eq!(file.refused(413), "body_too_large");
    assert_eq!(stage.put(&format!("/threads/{thread}/files/a"), "text/plain", &[b'x'; 1000]).await.status, 201);
}
