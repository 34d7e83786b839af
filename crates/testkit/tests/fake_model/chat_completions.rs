//! Replies in the words of the Chat Completions.

use entourage_testkit::fake_model::Stop;
use entourage_testkit::{FakeModel, Reply};
use serde_json::{Value, json};

use crate::client::{Answer, ask, chat, streamed};

#[tokio::test]
async fn a_text_comes_plain() {
    let model = FakeModel::start(Reply::text("hello there").tokens(12, 3)).await;
    let answer = ask(&model, &chat("hi")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let body = answer.json();
    assert_eq!(body["object"], "chat.completion");
    assert_eq!(body["model"], "test-model");
    let message = json!({ "role": "assistant", "content": "hello there" });
    assert_eq!(body["choices"], json!([{ "index": 0, "message": message, "finish_reason": "stop" }]));
    assert_eq!(body["usage"], json!({ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 }));
}

#[tokio::test]
async fn a_text_comes_streamed_word_by_word() {
    let model = FakeModel::start(Reply::text("hello there, you")).await;
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream"));
    assert!(answer.whole);
    let deltas: Vec<Value> = answer.events().iter().map(|event| event["choices"][0]["delta"].clone()).collect();
    let expected = json!([
        { "role": "assistant", "content": "" },
        { "content": "hello " },
        { "content": "there, " },
        { "content": "you" },
        {},
        null,
    ]);
    assert_eq!(Value::from(deltas), expected);
    assert_eq!(answer.joined("/choices/0/finish_reason"), "stop");
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn two_tool_calls_come_plain_with_a_text() {
    let model = FakeModel::start(two_calls()).await;
    let body = ask(&model, &chat("hi")).await.json();
    let choice = &body["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "let me look");
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    let functions: Vec<&Value> = calls.iter().map(|call| &call["function"]).collect();
    assert_eq!(functions[0], &json!({ "name": "read_file", "arguments": r#"{"path":"a"}"# }));
    assert_eq!(functions[1], &json!({ "name": "search", "arguments": r#"{"text":"b"}"# }));
}

#[tokio::test]
async fn two_tool_calls_come_streamed_in_parts() {
    let model = FakeModel::start(two_calls()).await;
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert_eq!(answer.joined("/choices/0/delta/content"), "let me look");
    assert_eq!(answer.joined("/choices/0/finish_reason"), "tool_calls");
    let calls: Vec<Value> = parts(&answer).into_iter().map(|part| part.2).collect();
    assert_eq!(calls, ["", r#"{"path":"a"}"#, "", r#"{"text":"b"}"#]);
    let opened: Vec<(u64, Value)> = parts(&answer).into_iter().map(|part| (part.0, part.1)).collect();
    assert_eq!(opened, [(0, json!("read_file")), (0, json!(null)), (1, json!("search")), (1, json!(null))]);
}

#[tokio::test]
async fn no_two_calls_have_the_same_id() {
    let (model, another) = (FakeModel::start(two_calls()).await, FakeModel::start(two_calls()).await);
    let mut ids = Vec::new();
    for model in [&model, &model, &another] {
        let body = ask(model, &chat("hi")).await.json();
        let calls = body["choices"][0]["message"]["tool_calls"].as_array().unwrap().clone();
        ids.extend(calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn a_stream_tells_its_usage_only_when_asked() {
    let model = FakeModel::start(Reply::text("hi").tokens(7, 2)).await;
    let silent = ask(&model, &streamed(chat("hi"))).await;
    assert!(silent.events().iter().all(|event| event["usage"].is_null()));

    let mut body = streamed(chat("hi"));
    body["stream_options"] = json!({ "include_usage": true });
    let events = ask(&model, &body).await.events();
    let [.., last, done] = events.as_slice() else { panic!("too few events") };
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"], json!({ "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 }));
    assert_eq!(done, "[DONE]");
}

#[tokio::test]
async fn usage_that_nobody_set_grows_with_the_request() {
    let model = FakeModel::start(Reply::text("hi")).await;
    let short = ask(&model, &chat("hi")).await.json();
    let long = ask(&model, &chat(&"hi ".repeat(100))).await.json();
    assert!(short["usage"]["prompt_tokens"].as_u64() < long["usage"]["prompt_tokens"].as_u64());
}

#[tokio::test]
async fn a_message_can_stop_at_its_limit() {
    let model = FakeModel::start(Reply::text("and then").stopped_by(Stop::Length)).await;
    let body = ask(&model, &chat("hi")).await.json();
    assert_eq!(body["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn an_empty_message_is_well_formed() {
    let model = FakeModel::start(Reply::empty()).await;
    let body = ask(&model, &chat("hi")).await.json();
    assert_eq!(body["choices"][0]["message"], json!({ "role": "assistant", "content": null }));
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert_eq!(answer.joined("/choices/0/delta/content"), "");
    assert_eq!(answer.joined("/choices/0/finish_reason"), "stop");
}

fn two_calls() -> Reply {
    let calls = [("read_file", json!({ "path": "a" })), ("search", json!({ "text": "b" }))];
    Reply::calls(calls).saying("let me look")
}

/// Index, name and arguments of every part of a tool call.
fn parts(answer: &Answer) -> Vec<(u64, Value, Value)> {
    let events = answer.events();
    let parts = events.iter().filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0"));
    let taken = parts.map(|part| {
        (part["index"].as_u64().unwrap(), part["function"]["name"].clone(), part["function"]["arguments"].clone())
    });
    taken.collect()
}
