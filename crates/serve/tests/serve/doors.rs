//! Who is let in: host, origin, token, content type, method, sizes, time.

use crate::client::raw;
use crate::stage::{Stage, TOKEN};
use entourage_model::Limits;
use entourage_store::MemoryStore;
use entourage_testkit::Reply;
use entourage_testkit::cast::solo;
use http_body_util::Full;
use hyper::Request;
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A request that makes a thread, if it is let in.
async fn knock(stage: &Stage, headers: &[(&str, &str)]) -> u16 {
    let mut request = Request::builder().method("POST").uri("/threads");
    let (host, bearer) = (stage.address.to_string(), format!("Bearer {TOKEN}"));
    let usual = [("host", host.as_str()), ("authorization", &bearer), ("content-type", "application/json")];
    let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
    for (name, value) in usual.into_iter().filter(|(name, _)| !is_given(name)).chain(headers.iter().copied()) {
        request = request.header(name, value);
    }
    let answer = stage.send(request.body(Full::new(r#"{"agent":"boss"}"#.into())).unwrap()).await;
    if answer.status != 201 {
        answer.refused(answer.status);
    }
    answer.status
}

async fn threads(stage: &Stage) -> usize {
    stage.get("/threads").await.json()["threads"].as_array().unwrap().len()
}

#[tokio::test]
async fn only_our_own_host_and_origin_are_answered() {
    let stage = Stage::new(Reply::text("yes")).await;
    let port = stage.address.port();
    let local = format!("localhost:{port}");
    assert_eq!(knock(&stage, &[]).await, 201);
    assert_eq!(knock(&stage, &[("host", &local)]).await, 201);
    assert_eq!(knock(&stage, &[("origin", &format!("http://{local}"))]).await, 201);
    for host in [
        "evil.com".to_owned(),
        format!("evil.com:{port}"),
        format!("127.0.0.1.evil.com:{port}"),
        format!("localhost.evil.com:{port}"),
        format!("localhost.:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::1]:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        format!("127.0.0.1:{port} "),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ] {
        let expected = if host.ends_with(' ') { 201 } else { 403 };
        assert_eq!(knock(&stage, &[("host", &host)]).await, expected, "{host}");
        let health = Request::builder().uri("/healthz").header("host", &host).body(Full::default()).unwrap();
        assert_eq!(stage.send(health).await.status == 403, expected == 403, "{host}");
    }
    let https = format!("https://{local}");
    for origin in ["https://evil.com", "null", "", &https, "http://localhost", &format!("http://{local}.evil.com")] {
        assert_eq!(knock(&stage, &[("origin", origin)]).await, 403, "{origin}");
    }
    let twice = [("host", stage.address.to_string()), ("host", "evil.com".to_owned())];
    let twice: Vec<_> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(knock(&stage, &twice).await, 403);
    assert_eq!(threads(&stage).await, 4);
}

#[tokio::test]
async fn a_target_that_names_another_host_is_refused() {
    let stage = Stage::new(Reply::text("yes")).await;
    let request =
        |target: &str| format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.address);
    assert!(raw(stage.address, request("http://evil.com/healthz").as_bytes()).await.starts_with("HTTP/1.1 403"));
    let own = format!("http://{}/healthz", stage.address);
    assert!(raw(stage.address, request(&own).as_bytes()).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn only_the_token_opens() {
    let stage = Stage::new(Reply::text("yes")).await;
    let lower = format!("bearer {TOKEN}");
    let (spaced, longer) = (format!("Bearer  {TOKEN}"), format!("Bearer {TOKEN}x"));
    for wrong in ["", "Bearer", "Bearer ", "Bearer wrong", TOKEN, &lower, &spaced, &longer, "Basic dTpw"] {
        assert_eq!(knock(&stage, &[("authorization", wrong)]).await, 401, "{wrong}");
    }
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(knock(&stage, &[("authorization", &bearer), ("authorization", &bearer)]).await, 401);
    for path in ["/threads", "/agents", "/runs", "/metrics", "/openapi.json", "/api/threads", "/nothing", "/api"] {
        for path in [path.to_owned(), format!("{path}?token={TOKEN}")] {
            let request = Request::builder().uri(&path).header("host", stage.address.to_string());
            let answer = stage.send(request.body(Full::default()).unwrap()).await;
            assert_eq!(answer.refused(401), "unauthorized", "{path}");
        }
    }
    for path in ["/healthz", "/api/healthz"] {
        let request = Request::builder().uri(path).header("host", stage.address.to_string());
        assert_eq!(stage.send(request.body(Full::default()).unwrap()).await.json(), json!({ "status": "ok" }));
    }
    assert_eq!(threads(&stage).await, 0);
}

#[tokio::test]
async fn what_is_posted_is_json() {
    let stage = Stage::new(Reply::text("yes")).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "text/json"] {
        assert_eq!(knock(&stage, &[("content-type", kind)]).await, 415, "{kind}");
    }
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(knock(&stage, &[("content-type", kind)]).await, 201, "{kind}");
    }
    let thread = stage.create("boss", None).await;
    let bare = stage.request("POST", &format!("/threads/{thread}/stop")).body(Full::default()).unwrap();
    assert_eq!(stage.send(bare).await.status, 202, "no body needs no type");
    assert_eq!(threads(&stage).await, 3);
}

#[tokio::test]
async fn a_route_answers_its_own_methods_only() {
    let stage = Stage::new(Reply::text("yes")).await;
    for (method, path) in [("PUT", "/threads"), ("DELETE", "/runs"), ("POST", "/healthz"), ("PATCH", "/agents")] {
        let answer = stage.send(stage.request(method, path).body(Full::default()).unwrap()).await;
        assert_eq!(answer.refused(405), "method_not_allowed", "{method} {path}");
        assert!(answer.headers.contains_key("allow"), "{answer:?}");
    }
}

#[tokio::test]
async fn headers_have_a_limit() {
    let stage = Stage::new(Reply::text("yes")).await;
    let (many, long) = ("x: y\r\n".repeat(100), format!("x: {}\r\n", "y".repeat(200_000)));
    for headers in [many, long] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", stage.address);
        let answer = raw(stage.address, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_eq!(stage.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn malformed_heads_end_their_connection() {
    let stage = Stage::new(Reply::text("yes")).await;
    for head in [
        "GET /healthz HTTP/1.1\r\nHost: HOST\r\nX: a\r\n folded\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost : HOST\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /threads HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET /healthz\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let request = head.replace("HOST", &stage.address.to_string());
        let answer = raw(stage.address, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{head:?}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_sent_away() {
    // In memory: a clock that leaps over waiting would leap over another server's answers.
    let stage =
        Stage::on(Arc::new(MemoryStore::new()), vec![solo("boss", vec![])], Reply::text("yes"), Limits::default());
    let stage = stage.await;
    for said in ["", "GET /healthz HTTP/1.1\r\nHost: "] {
        let mut stream = tokio::net::TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
    }
    for path in ["/threads", "/mcp"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
             Content-Length: 10\r\n\r\n{{",
            stage.address
        );
        let answer = raw(stage.address, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn the_counts_are_told() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", Some("hi")).await;
    stage.settle(&thread).await;
    let metrics = stage.get("/metrics").await;
    assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = std::str::from_utf8(&metrics.body).unwrap();
    for line in [
        "# TYPE entourage_http_answers_total counter",
        "entourage_http_answers_total{class=\"2xx\"} 2",
        "entourage_http_answers_total{class=\"5xx\"} 0",
        "entourage_threads_created_total 1",
        "entourage_event_streams 0",
        "entourage_http_answer_seconds_bucket{le=\"+Inf\"} 2",
        "entourage_http_answer_seconds_count 2",
        concat!("entourage_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
    }
}

#[tokio::test]
async fn agents_are_listed_and_shown() {
    let stage = Stage::new(Reply::text("yes")).await;
    let listed = stage.get("/agents").await.json();
    let line = json!({ "name": "boss", "title": null, "description": "The boss does it.", "kind": "ai_human",
        "format": "test", "file": null });
    assert_eq!(listed, json!({ "agents": [line] }));
    let shown = stage.get("/agents/boss").await.json();
    assert_eq!((&shown["name"], &shown["side_a"]["prompt"]["name"]), (&json!("boss"), &json!("boss")));
}
