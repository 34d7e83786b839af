//! The task protocol as bytes: addresses, bodies, states.

use entourage_model::RemoteTask;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A result longer than this is refused.
const BODY_BYTES_MAX: usize = 16 << 20;

/// What a server says of a task that it has not heard of.
const NOT_FOUND: &str = "task not found";

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another try may do.
    Passing(String, Trial),
    Lasting(String),
}

/// What has to be waited for until another try may do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trial {
    /// Nobody is there, or has time.
    Reach,
    /// The server says that it has failed.
    Fault,
}

/// Where a task stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    AtWork,
    /// It waits for decisions about these tool calls, as far as it names them.
    Asks(Vec<String>),
    Done(Option<String>),
    Failed(String),
    Cancelled,
}

/// A server's answer.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: StatusCode,
    body: Value,
    host: String,
}

impl Answered {
    pub(super) async fn read(sent: reqwest::Result<Response>, host: &str) -> Result<Self, Refused> {
        let mut response = begun(sent, host)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|_| Refused::Passing(format!("`{host}` broke off"), Trial::Reach))?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > BODY_BYTES_MAX {
                return Err(Refused::Lasting(format!("the answer of `{host}` is longer than {BODY_BYTES_MAX} bytes")));
            }
        }
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(Self { status, body, host: host.to_owned() })
    }

    /// An answer that says no is the end of the task.
    pub(super) fn insist(&self) -> Result<(), String> {
        if self.status.is_success() {
            return Ok(());
        }
        let why = self.body.get("error").map(text_of).unwrap_or_default();
        Err(format!("`{}` answered with {}{}{why}", self.host, self.status, if why.is_empty() { "" } else { ": " }))
    }

    /// Whether it says that there is no such task: servers differ in how they put it.
    pub(super) fn is_unknown(&self) -> bool {
        let is_missing = matches!(self.state(), State::Failed(why) if why.trim().eq_ignore_ascii_case(NOT_FOUND));
        self.status == StatusCode::NOT_FOUND || is_missing
    }

    pub(super) fn state(&self) -> State {
        let field = |name: &str| self.body.get(name).filter(|value| !value.is_null());
        let error = || field("error").map_or_else(|| "it did not say why".to_owned(), text_of);
        let status = field("status").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        match status.as_str() {
            "success" | "completed" => State::Done(field("result").map(text_of)),
            "error" | "failed" => State::Failed(error()),
            "cancelled" | "canceled" => State::Cancelled,
            "awaiting_confirm" => State::Asks(self.asked()),
            _ => State::AtWork,
        }
    }

    /// The calls that wait for a decision.
    fn asked(&self) -> Vec<String> {
        let listed =
            ["pending_confirms", "pendingConfirms"].into_iter().find_map(|name| self.body.get(name)?.as_array());
        listed.into_iter().flatten().filter_map(call_id).collect()
    }
}

/// The id of a call that is to be confirmed: servers differ in how they write names.
fn call_id(confirm: &Value) -> Option<String> {
    let id = ["toolCallId", "tool_call_id"].into_iter().find_map(|name| confirm.get(name)?.as_str());
    id.map(str::to_owned)
}

/// The head of an answer. Faults of the network and of a server that is not well are passing.
fn begun(sent: reqwest::Result<Response>, host: &str) -> Result<Response, Refused> {
    let response = sent.map_err(|fault| {
        if fault.is_builder() {
            return Refused::Lasting(format!("`{host}` cannot be asked: a header is none"));
        }
        let what = if fault.is_timeout() { "did not answer in time" } else { "cannot be reached" };
        Refused::Passing(format!("`{host}` {what}"), Trial::Reach)
    })?;
    let status = response.status();
    let trial = match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Trial::Reach,
        status if status.is_server_error() => Trial::Fault,
        _ => return Ok(response),
    };
    Err(Refused::Passing(format!("`{host}` answered with {status}"), trial))
}

/// The same for an answer that has to be a good one.
pub(super) fn started(sent: reqwest::Result<Response>, host: &str) -> Result<Response, Refused> {
    let response = begun(sent, host)?;
    let status = response.status();
    if status.is_success() { Ok(response) } else { Err(Refused::Lasting(format!("`{host}` answered with {status}"))) }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is said beside the work itself. A server of ours keeps tasks of one session in one conversation.
pub(super) fn context(task: &RemoteTask) -> Value {
    let mut context = json!({ "session_id": task.session, "stream": true, "detail": "full" });
    if let Some(user) = &task.user_id {
        context["user_id"] = json!(user);
    }
    if let Some(parent) = task.parent {
        context["parent_session_id"] = json!(parent);
    }
    if !task.denied.is_empty() {
        let rule = |tool| json!({ "tool_name": tool, "behavior": "DENY", "source": "parent" });
        context["deny_rules"] = task.denied.iter().map(rule).collect();
    }
    context
}

/// The base may end with a slash.
pub(super) fn address(base: &str, task: Option<&str>, rest: &str) -> String {
    let mut address = format!("{}/tasks", base.strip_suffix('/').unwrap_or(base));
    if let Some(task) = task {
        address.push('/');
        for byte in task.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => address.push(byte.into()),
                other => _ = write!(address, "%{other:02X}"),
            }
        }
    }
    if !rest.is_empty() {
        address.push('/');
        address.push_str(rest);
    }
    address
}

/// The text with `${NAME}` replaced by what the environment holds.
pub(crate) fn expand(template: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, behind) = behind.split_once('}').ok_or("a header has `${` without `}`")?;
        text.push_str(before);
        text.push_str(&lookup(name).ok_or_else(|| format!("the environment has no variable `{name}`"))?);
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_the_task_as_one_part() {
        for (base, expected) in
            [("http://a/base/", "http://a/base/tasks/x%2Fy%20z/wait"), ("http://a", "http://a/tasks/x%2Fy%20z/wait")]
        {
            assert_eq!(address(base, Some("x/y z"), "wait"), expected);
        }
        assert_eq!(address("http://a/", None, ""), "http://a/tasks");
    }

    #[test]
    fn headers_are_filled_from_the_environment() {
        let lookup = |name: &str| (name == "TOKEN").then(|| "abc".to_owned());
        assert_eq!(expand("Bearer ${TOKEN}!", lookup), Ok("Bearer abc!".to_owned()));
        assert_eq!(expand("plain $ {", lookup), Ok("plain $ {".to_owned()));
        assert_eq!(expand("${OTHER}", lookup), Err("the environment has no variable `OTHER`".to_owned()));
        assert!(expand("${TOKEN", lookup).is_err());
    }

    #[test]
    fn every_word_for_a_state_is_understood() {
        let state = |body: Value| Answered { status: StatusCode::OK, body, host: String::new() }.state();
        for (body, expected) in [
            (json!({"status": "SUCCESS", "result": "r"}), State::Done(Some("r".to_owned()))),
            (json!({"status": "success"}), State::Done(None)),
            (json!({"status": "failed", "error": "e"}), State::Failed("e".to_owned())),
            (json!({"status": "canceled"}), State::Cancelled),
            (json!({"status": "awaiting_confirm"}), State::Asks(Vec::new())),
            (
                json!({"status": "awaiting_confirm", "pending_confirms": [{"toolCallId": "a"}, {"tool_call_id": "b"}, {}]}),
                State::Asks(vec!["a".to_owned(), "b".to_owned()]),
            ),
            (json!({"status": "pending"}), State::AtWork),
            (json!({"status": ""}), State::AtWork),
            (Value::Null, State::AtWork),
        ] {
            assert_eq!(state(body), expected);
        }
    }
}
