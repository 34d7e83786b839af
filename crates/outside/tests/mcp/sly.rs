//! Servers that no one should have to deal with.

use crate::stage::{Stage, key, until};
use entourage_model::{Secret, Served as _, ServerAddress, ServerEntry, ServerValue};
use std::collections::BTreeMap;
use std::time::Duration;
use tempfile::TempDir;

/// Starts a server in vain, and checks what is said of it.
async fn check(stage: &Stage, says: &str) {
    let why = stage.servers.ready(&key()).await.unwrap_err();
    assert!(why.starts_with("the MCP server `sly` ") && why.contains(says), "{why}");
    assert_eq!(stage.servers.fault(&key()), Some(why));
    for (required, expected) in [(true, false), (false, true)] {
        assert_eq!(stage.servers.is_settled(&ServerEntry { key: key(), required }), expected);
    }
    until(|| stage.alive().is_empty()).await;
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_named_with_the_reason() {
    let quick = |settings: &mut entourage_outside::mcp::ServerSettings| {
        settings.start_time_max = Duration::from_millis(300);
        settings.pause_first = Duration::from_secs(60);
    };
    check(&Stage::with("mute", quick), "did not answer within 0.3 seconds").await;
    let slow = |settings: &mut entourage_outside::mcp::ServerSettings| settings.pause_first = Duration::from_secs(60);
    check(&Stage::with("pages", slow), "on more than 50 pages").await;
    check(&Stage::with("refuses", slow), "it wrote: no licence found").await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_told() {
    let nobody = BTreeMap::from([("X".to_owned(), ServerValue::Template(Secret::new("${NOBODY}")))]);
    let none = BTreeMap::new();
    let wanted = |required| {
        let wanted = ServerValue::Wanted { secret: "a.key".to_owned(), variable: "NOBODY".to_owned(), required };
        BTreeMap::from([("NOBODY".to_owned(), wanted)])
    };
    let command = |name: &str, env: &BTreeMap<_, _>| ServerAddress::Command {
        command: name.to_owned(),
        args: Vec::new(),
        env: env.clone(),
    };
    let url =
        |url: &str, headers: &BTreeMap<_, _>| ServerAddress::Url { url: url.to_owned(), headers: headers.clone() };
    for (address, says) in [
        (command("no-such-program", &none), "cannot be started: `no-such-program`"),
        (command("sh", &nobody), "the environment has no variable `NOBODY`"),
        (command("sh", &wanted(true)), "cannot be started: it needs the secret `a.key`: set the variable `NOBODY`"),
        (command("no-such-program", &wanted(false)), "cannot be started: `no-such-program`"),
        (url("not an address", &none), "no address"),
        (url("file:///etc/passwd", &none), "only http and https"),
        (url("http://127.0.0.1:1/mcp", &none), "cannot be used"),
        (url("http://127.0.0.1:1/mcp", &nobody), "the environment has no variable `NOBODY`"),
    ] {
        let stage =
            Stage::at(TempDir::new().unwrap(), address, |settings| settings.pause_first = Duration::from_secs(60));
        check(&stage, says).await;
    }
}

#[tokio::test]
async fn lines_that_are_no_messages_are_passed_over() {
    let stage = Stage::new("garbage");
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await, "heard hi");
}

#[tokio::test]
async fn a_message_without_end_ends_the_server_and_the_call() {
    let stage = Stage::with("", |settings| settings.message_bytes_max = 1 << 20);
    let text = stage.failed("mcp__sly__huge", "{}").await;
    assert!(text.starts_with("The MCP server `sly` gave no answer"), "{text}");
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await, "heard hi");
    assert_eq!(stage.log().iter().filter(|line| line.parse::<u32>().is_ok()).count(), 2);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_named_and_started_again_for_the_next() {
    let stage = Stage::new("dies");
    let text = stage.failed("mcp__sly__once", "{}").await;
    assert!(text.starts_with("The MCP server `sly` gave no answer") && text.contains("out of luck"), "{text}");
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await, "heard hi");
}
