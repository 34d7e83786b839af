//! Rules read from JSON.

use entourage_testkit::{FakeModel, Rules};
use serde_json::{Value, json};

use crate::client::{Answer, ask, chat, streamed};

#[tokio::test]
async fn the_first_rule_that_matches_answers() {
    let model = FakeModel::start(rules(&json!([
        { "when": { "agent": "[[reviewer]]", "assistant_turns": 0 },
          "reply": { "call": { "tool": "read_file", "arguments": { "path": "a" } } } },
        { "when": { "agent": "[[reviewer]]" }, "reply": { "text": "reviewed" } },
        { "when": { "last_contains": "weather" }, "reply": { "text": "sunny" } },
    ])))
    .await;
    let system = json!({ "role": "system", "content": "You are the [[reviewer]]." });
    let user = json!({ "role": "user", "content": "how is the weather?" });
    let spoken = json!({ "role": "assistant", "content": "hm" });

    let first = ask(&model, &json!({ "messages": [system, user] })).await.json();
    assert_eq!(first["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "read_file");
    let second = ask(&model, &json!({ "messages": [system, user, spoken] })).await;
    assert_eq!(text(&second), "reviewed");
    let other = ask(&model, &json!({ "messages": [user] })).await;
    assert_eq!(text(&other), "sunny");
}

#[tokio::test]
async fn a_rule_is_used_as_often_as_it_says() {
    let model = FakeModel::start(rules(&json!([
        { "reply": { "fail": { "status": 503, "body": "busy" } }, "headers": { "retry-after": "2" }, "times": 2 },
        { "reply": { "text": "ok" } },
    ])))
    .await;
    for expected in [(503, true), (503, true), (200, false), (200, false)] {
        let answer = ask(&model, &chat("hi")).await;
        assert_eq!((answer.status, answer.headers.contains_key("retry-after")), expected);
    }
}

#[tokio::test]
async fn a_request_without_a_rule_is_refused_by_name() {
    let model = FakeModel::start(rules(&json!([]))).await;
    let answer = ask(&model, &chat("hello?")).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("`hello?`"), "{}", answer.body);
}

#[tokio::test]
async fn every_reply_has_a_form_in_json() {
    let function = json!({ "tool": "t", "arguments": "x" });
    let cases = [
        (json!({ "text": "hi" }), "hi"),
        (json!({ "call": { "tool": "t", "arguments": {} } }), r#""name":"t""#),
        (json!({ "calls": [{ "tool": "t", "arguments": {} }, { "tool": "u", "arguments": {} }] }), r#""name":"u""#),
        (json!({ "malformed_arguments": function }), r#""arguments":"x""#),
        (json!({ "fail": { "status": 500, "body": "broken" } }), "broken"),
        (json!({ "raw": { "body": "anything", "content_type": "text/plain" } }), "anything"),
        (json!({ "cut": "hal" }), "hal"),
        (json!({ "cut_call": function }), r#""arguments":"x""#),
        (json!("empty"), r#""finish_reason":"stop""#),
    ];
    for (reply, expected) in cases {
        let model = FakeModel::start(rules(&json!([{ "reply": reply, "after_ms": 1, "stall_ms": 1 }]))).await;
        let answer = ask(&model, &streamed(chat("hi"))).await;
        assert!(answer.body.contains(expected), "{reply}: {}", answer.body);
    }
}

#[test]
fn a_misspelt_rule_is_an_error() {
    for rule in [
        json!({ "reply": "empty", "time": 1 }),
        json!({ "reply": "empty", "when": { "last": "x" } }),
        json!({ "reply": { "say": "x" } }),
        json!({ "when": {} }),
    ] {
        assert!(Rules::from_json(&json!([rule]).to_string()).is_err(), "{rule}");
    }
}

fn rules(list: &Value) -> Rules {
    Rules::from_json(&list.to_string()).unwrap()
}

fn text(answer: &Answer) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}
