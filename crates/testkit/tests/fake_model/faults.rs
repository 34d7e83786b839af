//! Replies that go wrong on purpose.

use std::time::{Duration, Instant};

use entourage_testkit::{FakeModel, Reply};
use http_body_util::BodyExt;
use serde_json::json;

use crate::client::{Client, ask, chat, is_waiting, streamed};

const PATH: &str = "/v1/chat/completions";
/// Longer than any test: what waits for it is still waiting.
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_failure_has_its_status_body_and_headers() {
    let failure = Reply::fail(429, r#"{"error":"slow down"}"#).header("Retry-After", "7");
    let model = FakeModel::start(failure).await;
    for body in [chat("hi"), streamed(chat("hi"))] {
        let answer = ask(&model, &body).await;
        assert_eq!((answer.status, answer.header("retry-after")), (429, "7"));
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.body, r#"{"error":"slow down"}"#);
    }
}

#[tokio::test]
async fn a_raw_reply_comes_byte_for_byte() {
    let model = FakeModel::start(Reply::raw("data: {oops\n\n", "text/event-stream")).await;
    let answer = ask(&model, &chat("hi")).await;
    assert_eq!(answer.body, "data: {oops\n\n");
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream"));
}

#[tokio::test]
async fn a_raw_reply_of_no_bytes_is_an_empty_body() {
    let model = FakeModel::start(Reply::raw("", "application/json")).await;
    let answer = ask(&model, &chat("hi")).await;
    assert_eq!((answer.status, answer.body.as_str(), answer.whole), (200, "", true));
    assert_eq!(model.aborted(), 0);
}

#[tokio::test]
async fn a_cut_stream_breaks_off_after_its_text() {
    let model = FakeModel::start(Reply::cut("half a sen")).await;
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert!(!answer.whole);
    assert_eq!(answer.joined("/choices/0/delta/content"), "half a sen");
    assert_eq!(answer.joined("/choices/0/finish_reason"), "");
    assert_eq!(model.aborted(), 0, "the server left, not the client");
}

#[tokio::test]
async fn a_cut_plain_body_is_shorter_than_promised() {
    let model = FakeModel::start(Reply::cut("half a sen")).await;
    let answer = ask(&model, &chat("hi")).await;
    let promised: usize = answer.header("content-length").parse().unwrap();
    assert!(!answer.whole);
    assert!(!answer.body.is_empty());
    assert!(answer.body.len() < promised);
}

#[tokio::test]
async fn a_cut_call_breaks_off_in_its_arguments() {
    let model = FakeModel::start(Reply::cut_call("read_file", r#"{"path": "/et"#)).await;
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert!(!answer.whole);
    assert_eq!(answer.joined("/choices/0/delta/tool_calls/0/function/name"), "read_file");
    assert_eq!(answer.joined("/choices/0/delta/tool_calls/0/function/arguments"), r#"{"path": "/et"#);
}

#[tokio::test]
async fn malformed_arguments_arrive_as_they_are() {
    let model = FakeModel::start(Reply::malformed_arguments("read_file", "not json")).await;
    let plain = ask(&model, &chat("hi")).await.json();
    let function = &plain["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({ "name": "read_file", "arguments": "not json" }));
    let answer = ask(&model, &streamed(chat("hi"))).await;
    assert_eq!(answer.joined("/choices/0/delta/tool_calls/0/function/arguments"), "not json");
}

#[tokio::test]
async fn a_client_that_leaves_a_hanging_reply_is_counted() {
    check_leaving(Reply::hang()).await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_first_byte_is_counted() {
    check_leaving(Reply::text("late").after(HOUR)).await;
}

#[tokio::test]
async fn a_client_that_leaves_a_stalled_stream_is_counted() {
    let model = FakeModel::start(Reply::text("one two").stall_after_first_chunk(HOUR)).await;
    let mut client = Client::connect(&model).await;
    let mut body = client.post(PATH, streamed(chat("hi")).to_string()).await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(str::from_utf8(&first).unwrap().contains(r#""role":"assistant""#));
    assert!(is_waiting(&mut body).await);
    assert_eq!(model.aborted(), 0);
    drop(client);
    model.until_aborted(1).await;
}

#[tokio::test]
async fn a_client_that_stays_is_not_counted() {
    let model = FakeModel::start(Reply::text("one two")).await;
    let mut client = Client::connect(&model).await;
    for _ in 0..3 {
        assert!(client.ask(PATH, &streamed(chat("hi"))).await.whole);
    }
    assert_eq!(model.open_connections(), 1);
    drop(client);
    model.until_open_connections(0).await;
    assert_eq!(model.aborted(), 0);
}

#[tokio::test]
async fn latency_and_stall_delay_an_answer_that_then_is_whole() {
    let each = Duration::from_millis(20);
    let model = FakeModel::start(Reply::text("one two").after(each).stall_after_first_chunk(each)).await;
    for body in [chat("hi"), streamed(chat("hi"))] {
        let asked = Instant::now();
        let answer = ask(&model, &body).await;
        assert!(asked.elapsed() >= each * 2);
        assert!(answer.whole);
        assert!(answer.body.contains("two"));
    }
}

#[tokio::test]
async fn a_dropped_model_closes_its_connections() {
    let model = FakeModel::start(Reply::text("bye").stall_after_first_chunk(HOUR)).await;
    let mut client = Client::connect(&model).await;
    let mut body = client.post(PATH, streamed(chat("hi")).to_string()).await.into_body();
    body.frame().await.unwrap().unwrap();
    drop(model);
    assert!(body.frame().await.unwrap().is_err());
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() {
    let model = FakeModel::start(Reply::text("hi")).await;
    let response = Client::connect(&model).await.post(PATH, "{oops".to_owned()).await;
    assert_eq!(response.status(), 400);
}

#[tokio::test]
async fn an_unknown_path_is_refused() {
    let model = FakeModel::start(Reply::text("hi")).await;
    let response = Client::connect(&model).await.post("/v1/embeddings", "{}".to_owned()).await;
    assert_eq!(response.status(), 404);
    assert_eq!(model.requests().len(), 0);
}

async fn check_leaving(reply: Reply) {
    let model = FakeModel::start(reply).await;
    let mut client = Client::connect(&model).await;
    let asking = tokio::spawn(async move { client.ask(PATH, &streamed(chat("hi"))).await.status });
    model.until_requests(1).await;
    assert_eq!((model.open_connections(), model.aborted()), (1, 0));
    asking.abort();
    model.until_aborted(1).await;
    model.until_open_connections(0).await;
}
