//! `anthropic:`, `gemini:` and `ollama:`: their wires, their ends, their faults.

use super::canned::Canned;
use super::{Heard, INSTANT, limits, line, message, request, tool};
use entourage_model::{CallId, ModelRequest, Role, Sampling, Secret, ToolCall, Usage};
use entourage_outside::model::{FailureKind, ModelLimits, ModelSettings, Models, ProviderSettings};
use entourage_testkit::{FakeModel, Reply};
use serde_json::{Value, json};

fn anthropic(fake: &FakeModel) -> ModelSettings {
    let provider = ProviderSettings { api_key: Some(Secret::new("key-1")), ..ProviderSettings::at(fake.url()) };
    ModelSettings { anthropic: provider, limits: limits(), ..ModelSettings::default() }
}

fn body_of(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn anthropic_answers_with_text_calls_and_usage() {
    let said = Reply::call("read", json!({ "path": "a" })).saying("one moment").tokens(11, 3);
    let fake = FakeModel::start(said).await;
    let asked = ModelRequest { tools: vec![tool("read")], ..request(&["anthropic:claude-x"], "hi") };
    for stream in [true, false] {
        let mut settings = anthropic(&fake);
        settings.anthropic.stream = stream;
        let heard = Heard::default();
        let answer = Models::new(settings).ask(&asked, &heard).await.unwrap();
        assert_eq!((answer.text.as_str(), heard.lines().concat().as_str()), ("one moment", "one moment"));
        assert_eq!(answer.calls[0].name.as_str(), "read");
        assert_eq!(answer.calls[0].arguments, r#"{"path":"a"}"#);
        assert_eq!(answer.usage, Usage { input_tokens: 11, output_tokens: 3, steps: 1 });
    }
    assert_eq!(fake.requests()[0].header("x-api-key"), Some("key-1"));
    assert_eq!(fake.requests()[0].model(), "claude-x");
}

#[tokio::test]
async fn anthropic_is_given_calls_as_objects_and_results_by_id() {
    let fake = FakeModel::start(Reply::text("ok")).await;
    let mut asked = request(&["anthropic:claude-x"], "hi");
    let mut said = message(Role::Assistant, "");
    said.tool_calls = vec![ToolCall { id: CallId::from("c1"), name: "read".into(), arguments: "{broken".to_owned() }];
    let mut result = message(Role::Tool, "42");
    result.tool_call_id = Some("c1".into());
    asked.lines.extend([line(said), line(result)]);
    asked.tools = vec![tool("read")];
    Models::new(anthropic(&fake)).ask(&asked, &()).await.unwrap();
    let body = fake.requests()[0].body().clone();
    let input = json!({ "arguments": "{broken" });
    assert_eq!(
        body["messages"][1],
        json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": "c1", "name": "read", "input": input },
        ] })
    );
    assert_eq!(fake.requests()[0].tool_results()[0].call_id, "c1");
    assert_eq!(body["tools"][0]["name"], "read");
}

#[tokio::test]
async fn anthropic_fails_as_it_should() {
    for (reply, kind, attempts) in [
        (Reply::fail(401, "who"), FailureKind::Unauthorized, 1),
        (Reply::fail(404, "what"), FailureKind::NotFound, 1),
        (Reply::fail(529, "busy"), FailureKind::Unavailable, 3),
        (Reply::fail(429, "busy").header("retry-after", "3600"), FailureKind::RateLimited, 1),
        (Reply::cut("half"), FailureKind::Unreachable, 3),
        (Reply::empty(), FailureKind::Empty, 3),
        (Reply::raw("event: message_start\ndata: {\n\n", "text/event-stream"), FailureKind::Malformed, 3),
        (Reply::raw("", "text/event-stream"), FailureKind::Unavailable, 3),
    ] {
        let fake = FakeModel::start(reply.clone()).await;
        let models = Models::new(anthropic(&fake));
        let failure = models.ask(&request(&["anthropic:claude-x"], "hi"), &()).await.unwrap_err();
        assert_eq!((failure.kind, failure.attempts), (kind, attempts), "{failure}");
        assert_eq!(fake.requests().len() as u32, attempts);
    }
}

#[tokio::test]
async fn a_vendor_has_the_same_time_outs() {
    let stalled = Reply::text("one two").stall_after_first_chunk(std::time::Duration::from_secs(60));
    for (reply, why) in [(Reply::hang(), "sent nothing within 40ms"), (stalled, "within 40ms")] {
        let fake = FakeModel::start(reply).await;
        let limits = ModelLimits { first_byte: INSTANT, stall: INSTANT, attempts: 1, ..limits() };
        let models = Models::new(ModelSettings { limits, ..anthropic(&fake) });
        let failure = models.ask(&request(&["anthropic:claude-x"], "hi"), &()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert!(failure.message.ends_with(why), "{failure}");
        fake.until_open_connections(0).await;
    }
}

/// What a server was told about choosing words, below `member` and by these names.
async fn told(server: &mut Canned, member: &str, names: [&str; 2]) -> Sampling {
    let body = body_of(&server.request().await);
    let [temperature, top_p] = names.map(|name| body.pointer(&format!("{member}/{name}")).and_then(Value::as_f64));
    Sampling { temperature, top_p }
}

#[tokio::test]
async fn every_vendor_is_told_how_to_choose_words_and_nothing_where_nothing_is_said() {
    let gemini_says = json!({ "candidates": [{ "finishReason": "STOP", "content": { "parts": [{ "text": "ok" }] } }] });
    let ollama_says = json!({ "message": { "content": "ok" }, "done": true, "prompt_eval_count": 1, "eval_count": 1 });
    let mut gemini_server = Canned::start(GEMINI, &format!("data: {gemini_says}\n\n")).await;
    let mut ollama_server = Canned::start(OLLAMA, &format!("{ollama_says}\n")).await;
    let fake = FakeModel::start(Reply::text("ok")).await;
    for sampling in [Sampling { temperature: Some(0.25), top_p: Some(0.5) }, Sampling::default()] {
        let asked = |model| ModelRequest { sampling, ..request(&[model], "hi") };
        Models::new(anthropic(&fake)).ask(&asked("anthropic:claude-x"), &()).await.unwrap();
        let body = fake.requests().last().unwrap().body().clone();
        let said = |name: &str| body.get(name).and_then(Value::as_f64);
        assert_eq!(Sampling { temperature: said("temperature"), top_p: said("top_p") }, sampling, "{body}");
        gemini(&gemini_server.url).ask(&asked("gemini:gemini-x"), &()).await.unwrap();
        assert_eq!(told(&mut gemini_server, "/generationConfig", ["temperature", "topP"]).await, sampling);
        ollama(&ollama_server.url).ask(&asked("ollama:qwen"), &()).await.unwrap();
        assert_eq!(told(&mut ollama_server, "/options", ["temperature", "top_p"]).await, sampling);
    }
}

const GEMINI: &str = "200 OK\r\nContent-Type: text/event-stream";

fn gemini(url: &str) -> Models {
    let provider = ProviderSettings { api_key: Some(Secret::new("key-1")), ..ProviderSettings::at(url) };
    Models::new(ModelSettings { gemini: provider, limits: limits(), ..ModelSettings::default() })
}

#[tokio::test]
async fn gemini_answers_with_text_calls_and_usage() {
    let first = json!({ "candidates": [{ "content": { "parts": [{ "text": "one " }] } }] });
    let last = json!({
        "candidates": [{ "finishReason": "STOP", "content": { "parts": [
            { "text": "moment" },
            { "functionCall": { "name": "read", "args": { "path": "a" } } },
            { "functionCall": { "name": "read", "args": { "path": "b" } } },
        ] } }],
        "usageMetadata": { "promptTokenCount": 11, "candidatesTokenCount": 3 },
    });
    let mut server = Canned::start(GEMINI, &format!("data: {first}\n\ndata: {last}\n\n")).await;
    let heard = Heard::default();
    let asked = ModelRequest { tools: vec![tool("read")], ..request(&["gemini:gemini-x"], "hi") };
    let answer = gemini(&server.url).ask(&asked, &heard).await.unwrap();
    assert_eq!((answer.text.as_str(), heard.lines()), ("one moment", vec!["one ".to_owned(), "moment".to_owned()]));
    assert_eq!(
        answer.calls.iter().map(|call| call.arguments.as_str()).collect::<Vec<_>>(),
        [r#"{"path":"a"}"#, r#"{"path":"b"}"#]
    );
    assert_ne!(answer.calls[0].id, answer.calls[1].id);
    assert_eq!(answer.usage, Usage { input_tokens: 11, output_tokens: 3, steps: 1 });
    let sent = server.request().await;
    assert!(sent.starts_with("POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1"), "{sent}");
    assert!(sent.contains("x-goog-api-key: key-1"), "{sent}");
    assert_eq!(body_of(&sent)["contents"][0]["parts"][0]["text"], "hi");
}

#[tokio::test]
async fn gemini_without_its_reason_was_cut() {
    let half = json!({ "candidates": [{ "content": { "parts": [{ "text": "one " }] } }] });
    let server = Canned::start(GEMINI, &format!("data: {half}\n\n")).await;
    let failure = gemini(&server.url).ask(&request(&["gemini:gemini-x"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Unavailable, 3), "{failure}");
}

const OLLAMA: &str = "200 OK\r\nContent-Type: application/x-ndjson";

fn ollama(url: &str) -> Models {
    let settings = ModelSettings::from_lookup(|name| (name == "OLLAMA_HOST").then(|| url.to_owned()));
    Models::new(ModelSettings { limits: limits(), ..settings })
}

#[tokio::test]
async fn ollama_answers_with_text_calls_and_usage() {
    let first = json!({ "message": { "content": "one moment", "tool_calls": [
        { "function": { "name": "read", "arguments": { "path": "a" } } },
    ] }, "done": false });
    let last = json!({ "message": { "content": "" }, "done": true, "prompt_eval_count": 11, "eval_count": 3 });
    let mut server = Canned::start(OLLAMA, &format!("{first}\n{last}\n")).await;
    let answer = ollama(&server.url).ask(&request(&["ollama:qwen:7b"], "hi"), &()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls[0].arguments.as_str()), ("one moment", r#"{"path":"a"}"#));
    assert_eq!(answer.usage, Usage { input_tokens: 11, output_tokens: 3, steps: 1 });
    let sent = server.request().await;
    assert!(sent.starts_with("POST /api/chat HTTP/1.1"), "{sent}");
    assert_eq!(body_of(&sent)["model"], "qwen:7b");
}

#[tokio::test]
async fn ollama_without_its_last_line_was_cut() {
    let half = json!({ "message": { "content": "one " }, "done": false });
    let server = Canned::start(OLLAMA, &format!("{half}\n")).await;
    let failure = ollama(&server.url).ask(&request(&["ollama:qwen"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Unavailable, 3), "{failure}");
}
