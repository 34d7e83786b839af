//! Replies in the words of Anthropic's Messages.

use entourage_testkit::{FakeModel, Reply};
use serde_json::{Value, json};

use crate::client::{Answer, Client, chat, streamed};

#[tokio::test]
async fn a_message_comes_plain() {
    let body = ask(text_and_call(), &chat("hi")).await.json();
    assert_eq!(body["type"], "message");
    assert_eq!(body["content"][0], json!({ "type": "text", "text": "let me look" }));
    assert_eq!(body["content"][1]["type"], "tool_use");
    assert_eq!(body["content"][1]["input"], json!({ "path": "a" }));
    assert_eq!(body["stop_reason"], "tool_use");
    assert_eq!(body["usage"], json!({ "input_tokens": 7, "output_tokens": 2 }));
}

#[tokio::test]
async fn a_message_comes_streamed() {
    let answer = ask(text_and_call(), &streamed(chat("hi"))).await;
    let types = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    let events = answer.events();
    assert_eq!(events.iter().map(|event| &event["type"]).collect::<Vec<_>>(), types);
    assert_eq!(answer.joined("/delta/text"), "let me look");
    assert_eq!(answer.joined("/delta/partial_json"), r#"{"path":"a"}"#);
    assert_eq!(answer.joined("/delta/stop_reason"), "tool_use");
    let indexes: Vec<u64> = events.iter().filter_map(|event| event["index"].as_u64()).collect();
    assert_eq!(indexes, [0, 0, 0, 0, 0, 1, 1, 1]);
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 7);
    assert_eq!(events[9]["usage"]["output_tokens"], 2);
    assert!(answer.body.starts_with("event: message_start\ndata: {"));
}

#[tokio::test]
async fn a_cut_stream_lacks_its_end() {
    let answer = ask(Reply::cut("half a sen"), &streamed(chat("hi"))).await;
    assert!(!answer.whole);
    assert_eq!(answer.joined("/delta/text"), "half a sen");
    assert_eq!(answer.events().last().map(|event| event["type"].clone()), Some(Value::from("content_block_delta")));
}

#[tokio::test]
async fn an_empty_message_is_well_formed() {
    assert_eq!(ask(Reply::empty(), &chat("hi")).await.json()["content"], json!([]));
    let events = ask(Reply::empty(), &streamed(chat("hi"))).await.events();
    let types: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["message_start", "message_delta", "message_stop"]);
}

fn text_and_call() -> Reply {
    Reply::call("read_file", json!({ "path": "a" })).saying("let me look").tokens(7, 2)
}

async fn ask(reply: Reply, body: &Value) -> Answer {
    let model = FakeModel::start(reply).await;
    Client::connect(&model).await.ask("/v1/messages", body).await
}
