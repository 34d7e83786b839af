//! The web page: open to everybody on this machine, and of no use without a token or a code.

use crate::stage::{Stage, TOKEN};
use entourage_testkit::Reply;
use http_body_util::Full;
use hyper::Request;
use serde_json::json;

#[tokio::test]
async fn the_page_needs_no_token_and_runs_nothing_but_its_own_script() {
    let stage = Stage::new(Reply::text("yes")).await;
    let request = Request::builder().uri("/?code=whatever").header("host", stage.address.to_string());
    let answer = stage.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    assert!(!String::from_utf8_lossy(&answer.body).contains(TOKEN));
    let elsewhere = Request::builder().uri("/").header("host", "evil.com").body(Full::default()).unwrap();
    stage.send(elsewhere).await.refused(403);
}

#[tokio::test]
async fn a_code_that_never_was_one_opens_nothing() {
    let stage = Stage::new(Reply::text("yes")).await;
    for code in ["", "0123456789abcdef", TOKEN] {
        let request = Request::builder().method("POST").uri("/session").header("host", stage.address.to_string());
        let request = request.header("content-type", "application/json");
        let answer = stage.send(request.body(Full::new(json!({ "code": code }).to_string().into())).unwrap()).await;
        assert_eq!(answer.refused(401), "unauthorized");
    }
}
