//! The brain of the fan-out benchmark, in both of its roles and all forms of an answer.

use std::time::Duration;

use entourage_testkit::{FakeModel, Fanout};
use serde_json::{Value, json};

use crate::client::{Client, ask, streamed};

#[tokio::test]
async fn a_parent_calls_its_workers_and_then_is_done() {
    let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
    let mut messages = vec![
        json!({ "role": "system", "content": "You are the parent [[parent:3]]." }),
        json!({ "role": "user", "content": "go" }),
    ];
    let first = ask(&model, &json!({ "messages": messages })).await.json();
    let said = first["choices"][0]["message"].clone();
    let calls = said["tool_calls"].as_array().unwrap().clone();
    let arguments: Vec<&str> = calls.iter().map(|call| call["function"]["arguments"].as_str().unwrap()).collect();
    assert_eq!(arguments, [r#"{"message":"job 1"}"#, r#"{"message":"job 2"}"#, r#"{"message":"job 3"}"#]);
    assert!(calls.iter().all(|call| call["function"]["name"] == "worker"));
    assert_eq!(calls[0]["id"].as_str().unwrap().len(), "call_12345678000001_0".len(), "{}", calls[0]["id"]);

    messages.push(said);
    messages.extend(calls.iter().map(|call| json!({ "role": "tool", "tool_call_id": call["id"], "content": "ok" })));
    let last = ask(&model, &json!({ "messages": messages })).await.json();
    assert_eq!(last["choices"][0]["message"]["content"], "all done");
}

#[tokio::test]
async fn a_child_reads_a_file_and_then_is_done() {
    let model = FakeModel::start(Fanout::new(Duration::from_millis(1))).await;
    let answer = ask(&model, &streamed(child_at_start())).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.joined("/choices/0/delta/tool_calls/0/function/name"), "read_file");
    assert_eq!(answer.joined("/choices/0/delta/tool_calls/0/function/arguments"), r#"{"path":"note.txt"}"#);
    assert_eq!(answer.joined("/choices/0/finish_reason"), "tool_calls");
    assert!(answer.body.ends_with("data: [DONE]\n\n"));

    let answer = ask(&model, &streamed(child_at_end())).await;
    assert_eq!(answer.joined("/choices/0/delta/content"), "done");
    assert_eq!(answer.joined("/choices/0/finish_reason"), "stop");
}

#[tokio::test]
async fn prebuilt_answers_have_ids_of_their_own() {
    let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
    let pointer = "/choices/0/delta/tool_calls/0/id";
    let one = ask(&model, &streamed(child_at_start())).await.joined(pointer);
    let other = ask(&model, &streamed(child_at_start())).await.joined(pointer);
    assert!(one.starts_with("call_"));
    assert_ne!(one, other);
}

#[tokio::test]
async fn prebuilt_streams_tell_their_usage_only_when_asked() {
    let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
    let told = |body: Value| {
        let model = &model;
        async move { ask(model, &streamed(body)).await.events().iter().any(|event| event["usage"].is_object()) }
    };
    assert!(!told(child_at_start()).await);
    let mut body = child_at_start();
    body["stream_options"] = json!({ "include_usage": true });
    assert!(told(body).await);
}

#[tokio::test]
async fn a_body_with_spaces_is_read_the_same() {
    let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
    let body = streamed(child_at_end()).to_string().replace("\":", "\": ");
    let response = Client::connect(&model).await.post("/v1/chat/completions", body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    assert!(str::from_utf8(&body).unwrap().contains(r#""content":"done""#));
}

#[tokio::test]
async fn messages_are_answered_too() {
    let model = FakeModel::start(Fanout::new(Duration::ZERO)).await;
    let mut client = Client::connect(&model).await;
    let answer = client.ask("/v1/messages", &child_at_start()).await.json();
    assert_eq!(answer["content"][0]["name"], "read_file");
    let answer = client.ask("/v1/messages", &child_at_end()).await.json();
    assert_eq!(answer["content"][0]["text"], "done");
}

fn child_at_start() -> Value {
    json!({ "messages": [{ "role": "user", "content": "job 1" }] })
}

fn child_at_end() -> Value {
    json!({ "messages": [
        { "role": "user", "content": "job 1" },
        { "role": "assistant", "content": null, "tool_calls": [] },
        { "role": "tool", "tool_call_id": "c", "content": "fox" },
    ] })
}
