//! How long servers are there, and how they end.

use crate::stage::{Stage, TIME_MAX, key, until};
use entourage_model::{Name, Served as _};
use std::time::Duration;

#[tokio::test]
async fn callers_share_one_process() {
    let stage = Stage::new("");
    let calls = (0..8).map(|_| stage.done("mcp__sly__echo", r#"{"text": "hi"}"#));
    futures::future::join_all(calls).await;
    assert_eq!(stage.log().len(), 1);
    assert_eq!(stage.servers.connected(), 1);
}

#[tokio::test]
async fn a_server_that_nobody_uses_is_let_go_and_comes_back_when_it_is_needed() {
    let stage = Stage::with("", |settings| settings.idle_time_max = Duration::from_millis(200));
    stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await;
    until(|| stage.servers.connected() == 0 && stage.alive().is_empty()).await;
    assert!(stage.servers.tools(&key()).is_some(), "what it can do is still known");
    assert!(stage.servers.fault(&key()).is_none(), "to be let go is no failure");
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "again"}"#).await, "heard again");
    assert_eq!(stage.log().len(), 2);
}

#[tokio::test]
async fn tools_are_read_again_when_the_server_says_so() {
    let stage = Stage::new("");
    stage.done("mcp__sly__grow", "{}").await;
    until(|| stage.names().contains(&"mcp__sly__grown".to_owned())).await;
    assert_eq!(stage.done("mcp__sly__grown", "{}").await, "done");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_taken_back() {
    let stage = Stage::new("");
    stage.servers.ready(&key()).await.unwrap();
    let (name, key) = (Name::from("mcp__sly__hang"), key());
    let call = stage.servers.call(&key, (&name, "{}"), stage.caller(), TIME_MAX);
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    until(|| stage.log().contains(&"cancelled".to_owned())).await;
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await, "heard hi");
    assert_eq!(stage.alive().len(), 1, "a server that hears goes on");
}

#[tokio::test]
async fn a_call_has_a_time_limit_of_its_own() {
    let stage = Stage::new("");
    stage.servers.ready(&key()).await.unwrap();
    let (name, time_max) = (Name::from("mcp__sly__hang"), Duration::from_millis(200));
    let output = stage.servers.call(&key(), (&name, "{}"), stage.caller(), time_max).await;
    assert!(output.text.contains("The MCP server `sly` did not answer"), "{}", output.text);
    until(|| stage.log().contains(&"cancelled".to_owned())).await;
}

#[tokio::test]
async fn closing_ends_every_process() {
    let stage = Stage::new("");
    stage.servers.ready(&key()).await.unwrap();
    assert_eq!(stage.alive().len(), 1);
    stage.servers.close().await;
    assert!(stage.alive().is_empty());
    assert_eq!(stage.servers.connected(), 0);
}
