//! What a brain and a test can read from a request.

use entourage_testkit::fake_model::{Dialect, ToolResult};
use entourage_testkit::{FakeModel, Recording, Reply, Request};
use serde_json::{Value, json};

use crate::client::{Client, ask, chat};

#[tokio::test]
async fn a_closure_answers_by_what_was_said() {
    let brain = |request: &Request| Reply::text(format!("{} said {}", request.last_role(), request.last_text()));
    let model = FakeModel::start(brain).await;
    let body = ask(&model, &chat("hello")).await.json();
    assert_eq!(body["choices"][0]["message"]["content"], "user said hello");
}

#[tokio::test]
async fn requests_are_kept_in_order_with_headers_and_time() {
    let model = FakeModel::start(Reply::text("ok")).await;
    for text in ["one", "two"] {
        ask(&model, &chat(text)).await;
    }
    let requests = model.requests();
    assert_eq!(requests.iter().map(|request| request.last_text()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(requests[0].header("Authorization"), Some("Bearer key"));
    assert_eq!(requests[0].header("x-absent"), None);
    assert!(requests[0].arrived() <= requests[1].arrived());
    assert_eq!(requests[0].body(), &chat("one"));
}

#[tokio::test]
async fn nothing_is_kept_with_recording_off() {
    let model = FakeModel::start_with(Reply::text("ok"), Recording::Off).await;
    assert_eq!(ask(&model, &chat("one")).await.status, 200);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn both_dialects_read_the_same() {
    let chat_completions = json!({
        "model": "m",
        "messages": [
            { "role": "developer", "content": "be brief" },
            { "role": "user", "content": [{ "type": "text", "text": "read" }, { "type": "text", "text": "it" }] },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1" }, { "id": "c2" }] },
            { "role": "tool", "tool_call_id": "c1", "content": "fox" },
            { "role": "tool", "tool_call_id": "c2", "content": "dog" },
        ],
        "tools": [{ "type": "function", "function": { "name": "read_file" } }],
    });
    let result = |id: &str, content: Value| json!({ "type": "tool_result", "tool_use_id": id, "content": content });
    let messages = json!({
        "model": "m",
        "system": [{ "type": "text", "text": "be brief" }],
        "messages": [
            { "role": "user", "content": "read\nit" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1" }, { "type": "tool_use", "id": "c2" }] },
            { "role": "user", "content": [
                result("c1", json!([{ "type": "text", "text": "fox" }])),
                result("c2", json!("dog")),
            ] },
        ],
        "tools": [{ "name": "read_file" }],
    });
    let one = check_reading("/v1/chat/completions", &chat_completions, Dialect::ChatCompletions).await;
    assert_eq!(one, "dog");
    let other = check_reading("/v1/messages", &messages, Dialect::Messages).await;
    assert_eq!(other, "fox\ndog", "here all results are one message");
}

/// Returns the last text, the only thing the dialects cannot agree on.
async fn check_reading(path: &str, body: &Value, dialect: Dialect) -> String {
    let model = FakeModel::start(Reply::text("ok")).await;
    Client::connect(&model).await.ask(path, body).await;
    let requests = model.requests();
    let request = &requests[0];
    assert_eq!(request.dialect(), dialect);
    assert_eq!(request.model(), "m");
    assert_eq!(request.system(), "be brief");
    assert_eq!(request.texts("user"), ["read\nit"]);
    assert_eq!(request.last_role(), "tool");
    assert_eq!(request.assistant_turns(), 1);
    assert_eq!(request.tools(), ["read_file"]);
    let result = |id: &str, text: &str| ToolResult { call_id: id.to_owned(), text: text.to_owned() };
    assert_eq!(request.tool_results(), [result("c1", "fox"), result("c2", "dog")]);
    request.last_text()
}
