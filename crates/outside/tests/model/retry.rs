//! What is asked again, what is not, and how it is waited.

use super::{Heard, INSTANT, limits, request, settings};
use entourage_model::Secret;
use entourage_outside::model::{FailureKind, ModelFailure, ModelLimits, ModelSettings, Models, ProviderSettings};
use entourage_testkit::{FakeModel, Reply, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Says these in turn, the last one for ever.
fn in_turn(replies: Vec<Reply>) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let said = AtomicUsize::new(0);
    move |_| replies[said.fetch_add(1, Ordering::Relaxed).min(replies.len() - 1)].clone()
}

/// The model says this, then `ok`: it must have been asked twice.
async fn check_asked_again(first: Reply) {
    check_asked_again_with(limits(), first, "").await;
}

async fn check_asked_again_with(limits: ModelLimits, first: Reply, why: &str) {
    let fake = FakeModel::start(in_turn(vec![first, Reply::text("ok")])).await;
    let models = Models::new(ModelSettings { limits, ..settings(fake.url()) });
    let heard = Heard::default();
    let answer = models.ask(&request(&["openai:a"], "hi"), &heard).await.unwrap();
    assert_eq!((answer.text.as_str(), fake.requests().len()), ("ok", 2));
    let told = |line: &String| line.starts_with("[2] `openai:a` at `127.0.0.1:") && line.ends_with(why);
    assert!(heard.lines().iter().any(told), "{heard:?}");
}

/// The model only ever says this: it must have been asked so often, and fail so.
async fn check_failure(reply: Reply, kind: FailureKind, attempts: u32) -> ModelFailure {
    let fake = FakeModel::start(reply).await;
    let failure = Models::new(settings(fake.url())).ask(&request(&["openai:a"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (kind, attempts), "{failure}");
    assert_eq!(fake.requests().len() as u32, attempts);
    failure
}

#[tokio::test]
async fn a_passing_fault_is_asked_again() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
        check_asked_again(Reply::fail(status, "busy")).await;
    }
    check_asked_again(Reply::empty()).await;
    check_asked_again(Reply::cut("half a sen")).await;
    check_asked_again(Reply::cut_call("fetch", "{\"half")).await;
    check_asked_again(Reply::raw("", "application/json")).await;
    check_asked_again(Reply::raw("<html>", "text/html")).await;
    check_asked_again(Reply::raw("data: {\"error\":{\"message\":\"overloaded\"}}\n\n", "text/event-stream")).await;
}

#[tokio::test]
async fn a_lasting_fault_is_not() {
    check_failure(Reply::fail(400, "bad"), FailureKind::BadRequest, 1).await;
    check_failure(Reply::fail(401, "who"), FailureKind::Unauthorized, 1).await;
    check_failure(Reply::fail(403, "no"), FailureKind::Unauthorized, 1).await;
    check_failure(Reply::fail(404, "what"), FailureKind::NotFound, 1).await;
    check_failure(Reply::fail(422, "bad"), FailureKind::BadRequest, 1).await;
}

#[tokio::test]
async fn attempts_end() {
    check_failure(Reply::fail(500, "x"), FailureKind::Unavailable, 3).await;
    check_failure(Reply::fail(429, "x"), FailureKind::RateLimited, 3).await;
    check_failure(Reply::empty(), FailureKind::Empty, 3).await;
    check_failure(Reply::text(" \n"), FailureKind::Empty, 3).await;
    check_failure(Reply::cut("half"), FailureKind::Unreachable, 3).await;
    check_failure(Reply::raw("{", "application/json"), FailureKind::Malformed, 3).await;
}

#[tokio::test]
async fn a_failure_says_who_where_and_what() {
    let body = r#"{"error":{"message":"no model `a` here"}}"#;
    let failure = check_failure(Reply::fail(404, body), FailureKind::NotFound, 1).await;
    assert_eq!(failure.status, Some(404));
    assert!(failure.message.starts_with("`openai:a` at `127.0.0.1:"), "{failure}");
    assert!(failure.message.ends_with(" answered 404 Not Found: no model `a` here"), "{failure}");
}

#[tokio::test]
async fn silence_ends_at_the_first_byte_time_out() {
    let limits = ModelLimits { first_byte: INSTANT, ..limits() };
    check_asked_again_with(limits, Reply::hang(), "sent nothing within 40ms").await;
    let fake = FakeModel::start(Reply::hang()).await;
    let models = Models::new(ModelSettings { limits, ..settings(fake.url()) });
    let failure = models.ask(&request(&["openai:a"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Timeout, 3));
    assert!(failure.message.ends_with("sent nothing within 40ms"), "{failure}");
}

#[tokio::test]
async fn a_stall_ends_at_its_own_time_out() {
    let limits = ModelLimits { stall: INSTANT, ..limits() };
    let stalled = Reply::text("one two").stall_after_first_chunk(Duration::from_secs(60));
    check_asked_again_with(limits, stalled, "stopped in the middle of its answer for 40ms").await;
}

#[tokio::test]
async fn a_slow_beginning_is_no_stall() {
    let fake = FakeModel::start(Reply::text("ok").after(2 * INSTANT)).await;
    let limits = ModelLimits { stall: INSTANT, ..limits() };
    let models = Models::new(ModelSettings { limits, ..settings(fake.url()) });
    assert_eq!(models.ask(&request(&["openai:a"], "hi"), &()).await.unwrap().text, "ok");
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_provider_is_left_alone_for_as_long_as_it_asks() {
    let busy = Reply::fail(429, "slow down").header("retry-after-ms", "80");
    let fake = FakeModel::start(in_turn(vec![busy, Reply::text("ok")])).await;
    let models = Models::new(settings(fake.url()));
    models.ask(&request(&["openai:a"], "hi"), &()).await.unwrap();
    let arrived = fake.requests().iter().map(|request| request.arrived()).collect::<Vec<_>>();
    assert!(arrived[1] - arrived[0] >= Duration::from_millis(80), "{arrived:?}");
}

#[tokio::test]
async fn what_one_call_is_told_to_wait_every_call_waits() {
    let busy = Reply::fail(429, "slow down").header("retry-after-ms", "150");
    let fake = FakeModel::start(in_turn(vec![busy, Reply::text("ok")])).await;
    let models = Models::new(settings(fake.url()));
    let heard = Heard::default();
    let asked = request(&["openai:a"], "hi");
    let later = async {
        while heard.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        // These begin after the refusal, and know of it only through the gate.
        futures::future::join_all([(); 8].map(|()| models.ask(&asked, &()))).await
    };
    let (first, others) = tokio::join!(models.ask(&asked, &heard), later);
    assert!(first.is_ok() && others.iter().all(Result::is_ok));
    let arrived = fake.requests().iter().map(|request| request.arrived()).collect::<Vec<_>>();
    assert_eq!(arrived.len(), 10);
    assert!(arrived[1] - arrived[0] >= Duration::from_millis(140), "{arrived:?}");
}

#[tokio::test]
async fn an_absurd_wish_counts_as_no_answer() {
    let busy = Reply::fail(429, "slow down").header("retry-after", "86400");
    let failure = check_failure(busy, FailureKind::RateLimited, 1).await;
    assert!(failure.message.ends_with("slow down, and wants no request for 86400 s"), "{failure}");
}

#[tokio::test]
async fn whoever_has_an_absurd_wish_is_left_alone_by_everybody() {
    let fake = FakeModel::start(Reply::fail(429, "slow down").header("retry-after", "86400")).await;
    let models = Models::new(settings(fake.url()));
    let asked = request(&["openai:a"], "hi");
    models.ask(&asked, &()).await.unwrap_err();
    tokio::time::timeout(INSTANT, models.ask(&asked, &())).await.expect_err("nobody is let in");
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_fallback_is_asked_when_the_first_is_spent_or_refuses() {
    for (status, expected) in [(500, vec!["a", "a", "a", "b"]), (401, vec!["a", "b"])] {
        let brain = move |request: &Request| match request.model() {
            "a" => Reply::fail(status, "x"),
            _ => Reply::text("from b"),
        };
        let fake = FakeModel::start(brain).await;
        let heard = Heard::default();
        let models = Models::new(settings(fake.url()));
        let answer = models.ask(&request(&["openai:a", "openai:b"], "hi"), &heard).await.unwrap();
        assert_eq!(answer.text, "from b");
        assert_eq!(fake.requests().iter().map(|request| request.model().to_owned()).collect::<Vec<_>>(), expected);
        let announced = format!("[{}] ", expected.len());
        assert!(heard.lines().iter().any(|line| line.starts_with(&announced)), "{heard:?}");
    }
}

#[tokio::test]
async fn when_all_fail_each_is_named() {
    let brain = |request: &Request| match request.model() {
        "a" => Reply::fail(500, "first"),
        _ => Reply::fail(401, "second"),
    };
    let fake = FakeModel::start(brain).await;
    let models = Models::new(settings(fake.url()));
    let failure = models.ask(&request(&["openai:a", "openai:b"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.status, failure.attempts), (FailureKind::Unauthorized, Some(401), 4));
    for part in ["`openai:a` at", "500 Internal Server Error: first; `openai:b` at", "401 Unauthorized: second"] {
        assert!(failure.message.contains(part), "{failure}");
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_tried_again_and_told() {
    // Bound, so that nobody else takes it, and not listened on.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/v1", socket.local_addr().unwrap());
    let failure = Models::new(settings(&url)).ask(&request(&["openai:a"], "hi"), &()).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts, failure.status), (FailureKind::Unreachable, 3, None));
    assert!(failure.message.contains("could not be reached: Connection refused"), "{failure}");
}

#[tokio::test]
async fn a_key_that_the_provider_quotes_is_not_passed_on() {
    let fake = FakeModel::start(Reply::fail(401, "Incorrect key sk-secret-1 given")).await;
    let openai = ProviderSettings { api_key: Some(Secret::new("sk-secret-1")), ..ProviderSettings::at(fake.url()) };
    let models = Models::new(ModelSettings { openai, ..settings(fake.url()) });
    let failure = models.ask(&request(&["openai:a"], "hi"), &()).await.unwrap_err();
    assert!(failure.message.ends_with("Incorrect key … given"), "{failure}");
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    // Whoever is told so first asks again in the way that follows.
    let moved = Reply::fail(307, "").header("location", "/v2/chat/completions");
    let fake = FakeModel::start(in_turn(vec![moved.clone(), moved, Reply::text("here")])).await;
    let answer = Models::new(settings(fake.url())).ask(&request(&["openai:a"], "hi"), &()).await.unwrap();
    assert_eq!(answer.text, "here");
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = FakeModel::start(Reply::text("gotcha")).await;
    let elsewhere = format!("{}/chat/completions", other.url());
    let moved = Reply::fail(307, "").header("location", &elsewhere);
    check_failure(moved, FailureKind::BadRequest, 1).await;
    assert_eq!(other.requests().len(), 0);
}
