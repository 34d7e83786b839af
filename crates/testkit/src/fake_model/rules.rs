//! A brain as data: a list of rules that a file can hold, so that a fake model can run in a process of its own.
//!
//! ```json
//! [
//!   { "when": { "agent": "reviewer", "assistant_turns": 0 },
//!     "reply": { "call": { "tool": "read_file", "arguments": { "path": "a.rs" } } } },
//!   { "when": { "last_contains": "hurry" }, "reply": { "fail": { "status": 429, "body": "slow down" } },
//!     "headers": { "retry-after": "1" }, "times": 1 },
//!   { "reply": { "text": "done" }, "after_ms": 20 }
//! ]
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Brain, Reply, Request};

/// One rule: to which requests, what, and how often.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub when: When,
    pub reply: Answer,
    /// How often the rule may match; always, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// See [`Reply::after`].
    #[serde(default)]
    pub after_ms: u64,
    /// See [`Reply::stall_after_first_chunk`].
    #[serde(default)]
    pub stall_ms: u64,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// All that is present must hold; an empty one always does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// A mark in the system text by which the agent is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A part of the last message's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_contains: Option<String>,
    /// How often the assistant has spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_turns: Option<usize>,
}

/// The constructors of [`Reply`] as data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    Text(String),
    Call(Call),
    Calls(Vec<Call>),
    MalformedArguments { tool: String, arguments: String },
    Fail { status: u16, body: String },
    Raw { body: String, content_type: String },
    Cut(String),
    CutCall { tool: String, arguments: String },
    Hang,
    Empty,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
}

/// Rules in order; the first that matches and is not used up answers. A request that none matches gets status 400,
/// which no client retries.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<(Rule, AtomicU32)>,
}

impl Rules {
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Rules {
        Rules { rules: rules.into_iter().map(|rule| (rule, AtomicU32::new(0))).collect() }
    }

    pub fn from_json(text: &str) -> Result<Rules, serde_json::Error> {
        Ok(Rules::new(serde_json::from_str::<Vec<Rule>>(text)?))
    }
}

impl Brain for Rules {
    fn reply(&self, request: &Request) -> Reply {
        let rule = self.rules.iter().find(|(rule, used)| rule.when.holds(request) && rule.take(used));
        match rule {
            Some((rule, _)) => rule.reply(),
            None => Reply::fail(400, format!("no rule of the fake model matches `{}`", request.last_text())),
        }
    }
}

impl When {
    fn holds(&self, request: &Request) -> bool {
        self.agent.as_ref().is_none_or(|mark| request.system().contains(mark))
            && self.last_contains.as_ref().is_none_or(|part| request.last_text().contains(part))
            && self.assistant_turns.is_none_or(|turns| request.assistant_turns() == turns)
    }
}

impl Rule {
    /// Uses the rule once, unless it is used up. Two requests at once cannot both take the last use.
    fn take(&self, used: &AtomicU32) -> bool {
        let Some(times) = self.times else { return true };
        used.try_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < times).then_some(used + 1)).is_ok()
    }

    fn reply(&self) -> Reply {
        let reply = self
            .reply
            .to_reply()
            .after(Duration::from_millis(self.after_ms))
            .stall_after_first_chunk(Duration::from_millis(self.stall_ms));
        self.headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    }
}

impl Answer {
    fn to_reply(&self) -> Reply {
        match self {
            Answer::Text(text) => Reply::text(text),
            Answer::Call(call) => Reply::call(&call.tool, call.arguments.clone()),
            Answer::Calls(calls) => Reply::calls(calls.iter().map(|call| (&call.tool, call.arguments.clone()))),
            Answer::MalformedArguments { tool, arguments } => Reply::malformed_arguments(tool, arguments),
            Answer::Fail { status, body } => Reply::fail(*status, body),
            Answer::Raw { body, content_type } => Reply::raw(body.clone(), content_type),
            Answer::Cut(partial) => Reply::cut(partial),
            Answer::CutCall { tool, arguments } => Reply::cut_call(tool, arguments),
            Answer::Hang => Reply::hang(),
            Answer::Empty => Reply::empty(),
        }
    }
}
