//! Requests that say in two ways how long they are.

use crate::client::raw;
use crate::stage::{Stage, TOKEN};
use entourage_testkit::Reply;
use serde_json::json;

fn head(stage: &Stage, lines: &str) -> String {
    format!(
        "POST /threads HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n{lines}\r\n\r\n",
        stage.address
    )
}

#[tokio::test]
async fn a_length_and_an_encoding_are_refused_and_the_connection_closes() {
    let stage = Stage::new(Reply::text("yes")).await;
    let body = r#"{"agent":"boss"}"#;
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for (lines, body) in [
        ("Content-Length: 16\r\nTransfer-Encoding: chunked", body),
        ("Content-Length: 16\r\nTransfer-Encoding: chunked", &chunked),
        ("Transfer-Encoding: chunked\r\nContent-Length: 16", &chunked),
        ("transfer-encoding: chunked\r\nX: y\r\ncontent-length: 4", &chunked),
    ] {
        // What follows would be taken for a second request by whoever believes the other length.
        let second = head(&stage, "Content-Length: 16") + r#"{"agent":"boss"}"#;
        let answer = raw(stage.address, format!("{}{body}{second}", head(&stage, lines)).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lines:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{lines:?}: {answer}");
    }
    assert_eq!(stage.get("/threads").await.json(), json!({ "threads": [] }));
}

#[tokio::test]
async fn either_alone_is_fine() {
    let stage = Stage::new(Reply::text("yes")).await;
    let body = r#"{"agent":"boss"}"#;
    let plain = head(&stage, &format!("Content-Length: {}", body.len())) + body;
    let chunked = head(&stage, "Transfer-Encoding: chunked") + &format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    // The one without a length comes last, because it ends its connection.
    let answer = raw(stage.address, format!("{plain}{plain}{chunked}{plain}").as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1 201").count(), 3, "{answer}");
    assert_eq!(answer.matches("connection: close").count(), 1, "{answer}");
    assert_eq!(stage.get("/threads").await.json()["threads"].as_array().unwrap().len(), 3);
}
