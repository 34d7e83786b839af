//! `openai:` when nothing goes wrong, and when the caller leaves.

use super::canned::Canned;
use super::{Heard, line, message, request, settings, tool};
use entourage_model::{ModelRequest, Role, Secret, ToolChoice, Usage};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_testkit::{FakeModel, Reply};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_streamed_answer_is_heard_while_it_comes() {
    let fake = FakeModel::start(Reply::text("hello dear world").tokens(11, 3)).await;
    let heard = Heard::default();
    let answer = Models::new(settings(fake.url())).ask(&request(&["openai:gpt-5"], "hi"), &heard).await.unwrap();
    assert_eq!(answer.text, "hello dear world");
    assert_eq!(answer.usage, Usage { input_tokens: 11, output_tokens: 3, steps: 1 });
    assert_eq!(heard.lines(), ["hello ", "dear ", "world"]);
    assert!(fake.requests()[0].streamed() && fake.requests()[0].wants_usage());
}

#[tokio::test]
async fn a_plain_answer_is_heard_at_once() {
    let fake = FakeModel::start(Reply::text("hello dear world").tokens(11, 3)).await;
    let heard = Heard::default();
    let openai = ProviderSettings { stream: false, ..ProviderSettings::at(fake.url()) };
    let models = Models::new(ModelSettings { openai, ..settings(fake.url()) });
    let answer = models.ask(&request(&["openai:gpt-5"], "hi"), &heard).await.unwrap();
    assert_eq!(answer.usage, Usage { input_tokens: 11, output_tokens: 3, steps: 1 });
    assert_eq!(heard.lines(), ["hello dear world"]);
    assert!(!fake.requests()[0].streamed());
}

#[tokio::test]
async fn calls_keep_their_order_and_malformed_arguments_their_text() {
    let calls = [("read", json!({ "path": "a" })), ("write", json!({ "path": "b" }))];
    let fake = FakeModel::start(Reply::calls(calls).saying("one moment")).await;
    let asked = ModelRequest { tools: vec![tool("read"), tool("write")], ..request(&["openai:gpt-5"], "hi") };
    let answer = Models::new(settings(fake.url())).ask(&asked, &()).await.unwrap();
    assert_eq!(answer.text, "one moment");
    assert_eq!(answer.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["read", "write"]);
    assert_eq!(answer.calls[0].arguments, r#"{"path":"a"}"#);
    assert_ne!(answer.calls[0].id, answer.calls[1].id);

    let fake = FakeModel::start(Reply::malformed_arguments("read", "{\"path\": ")).await;
    let answer = Models::new(settings(fake.url())).ask(&asked, &()).await.unwrap();
    assert_eq!(answer.calls[0].arguments, "{\"path\": ");
}

#[tokio::test]
async fn the_request_has_the_key_the_model_and_the_conversation() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let openai = ProviderSettings { api_key: Some(Secret::new("sk-1")), ..ProviderSettings::at(fake.url()) };
    let mut result = message(Role::Tool, "42");
    result.tool_call_id = Some("call_1".into());
    let mut asked = request(&["openai:gpt-5"], "hi");
    asked.lines.push(line(result));
    asked.tools = vec![tool("read")];
    asked.tool_choice = ToolChoice::Required;
    Models::new(ModelSettings { openai, ..settings(fake.url()) }).ask(&asked, &()).await.unwrap();
    let sent = &fake.requests()[0];
    assert_eq!(sent.header("authorization"), Some("Bearer sk-1"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!((sent.model(), sent.last_text().as_str()), ("gpt-5", "42"));
    assert_eq!(sent.tool_results()[0].call_id, "call_1");
    assert_eq!((sent.tools(), &sent.body()["tool_choice"]), (vec!["read"], &json!("required")));
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    Models::new(settings(fake.url())).ask(&request(&["openai:gpt-5"], "hi"), &()).await.unwrap();
    assert_eq!(fake.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn one_connection_serves_call_after_call() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Arc::new(Models::new(settings(fake.url())));
    for _ in 0..20 {
        let models = Arc::clone(&models);
        let asked = request(&["openai:gpt-5"], "hi");
        tokio::spawn(async move { models.ask(&asked, &()).await }).await.unwrap().unwrap();
    }
    assert_eq!(fake.open_connections(), 1);
}

#[tokio::test]
async fn an_address_with_a_password_is_asked_with_it() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Models::new(settings(&fake.url().replace("http://", "http://user:pass@")));
    for _ in 0..2 {
        let answer = models.ask(&request(&["openai:gpt-5"], "hi"), &()).await.unwrap();
        assert_eq!(answer.text, "ok");
    }
    assert_eq!(fake.requests()[0].header("authorization"), Some("Basic dXNlcjpwYXNz"));
    assert_eq!(fake.open_connections(), 1);
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let body = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;
    let head = format!("200 OK\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    let mut canned = Canned::hanging_up(&head, body).await;
    let models = Models::new(settings(&canned.url));
    let heard = Heard::default();
    for _ in 0..3 {
        models.ask(&request(&["openai:gpt-5"], "hi"), &heard).await.unwrap();
        assert!(canned.request().await.starts_with("POST /chat/completions HTTP/1.1\r\n"));
    }
    assert_eq!(heard.lines(), ["ok"; 3], "nobody was asked again");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_uses_is_closed_in_time() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let models = Models::new(settings(fake.url()));
    models.ask(&request(&["openai:gpt-5"], "hi"), &()).await.unwrap();
    assert_eq!(fake.open_connections(), 1);
    tokio::time::sleep(Duration::from_secs(121)).await;
    fake.until_open_connections(0).await;
    drop(models);
}

#[tokio::test]
async fn whoever_stops_waiting_closes_the_connection_and_frees_the_place() {
    let fake = FakeModel::start(Reply::hang()).await;
    let openai = ProviderSettings { concurrency_max: Some(1), ..ProviderSettings::at(fake.url()) };
    let models = Models::new(ModelSettings { openai, ..settings(fake.url()) });
    let asked = request(&["openai:gpt-5"], "hi");
    for round in 1..=3 {
        tokio::select! {
            answer = models.ask(&asked, &()) => panic!("{answer:?}"),
            () = fake.until_requests(round) => {}
        }
        fake.until_open_connections(0).await;
    }
}

#[tokio::test]
async fn no_more_requests_are_in_flight_than_allowed() {
    let fake = FakeModel::start(Reply::hang()).await;
    let openai = ProviderSettings { concurrency_max: Some(2), ..ProviderSettings::at(fake.url()) };
    let models = Models::new(ModelSettings { openai, ..settings(fake.url()) });
    let asked = request(&["openai:gpt-5"], "hi");
    let mut flights = std::collections::VecDeque::from([(); 3].map(|()| Box::pin(models.ask(&asked, &()))));
    tokio::select! {
        _ = futures::future::join_all(flights.iter_mut()) => panic!("nobody answers"),
        () = fake.until_requests(2) => {}
    }
    assert_eq!(fake.requests().len(), 2);
    drop(flights.pop_front());
    tokio::select! {
        _ = futures::future::join_all(flights.iter_mut()) => panic!("nobody answers"),
        () = fake.until_requests(3) => {}
    }
}
