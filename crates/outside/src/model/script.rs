//! `script:NAME`, the offline model: rules that match by who asks, and say what a model would.
//!
//! ```json
//! { "rules": [
//!   { "agent": "lead", "step": 0,
//!     "reply": { "calls": [{ "tool": "research", "arguments": { "message": "{{last}}" } }] } },
//!   { "agent": "research", "contains": "hurry", "times": 1, "reply": { "fail": "too busy" } },
//!   { "reply": { "text": "I heard: {{last}}", "delay_ms": 300 } }
//! ] }
//! ```

use super::call::{SaidCall, distinct};
use super::failure::{FailedAttempt, FailureKind};
use super::provider::Provider;
use super::watch::Watch;
use async_trait::async_trait;
use entourage_model::{Line, ModelAnswer, ModelRequest, Name, Side, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// In a reply: the text of the line that is answered.
const LAST: &str = "{{last}}";

/// Rules in order; the first that matches and is not used up replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub rules: Vec<Rule>,
}

/// What is absent matches everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Which step of its side's session asks, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// A part of the last line's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// How often the rule may reply in the life of this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    pub reply: Reply,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<ScriptedCall>,
    /// How long the reply takes, spread over its text.
    pub delay_ms: u64,
    /// Fails with these words in place of an answer, and is not asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    pub tool: Name,
    /// A text is taken as it is, so that it need not be JSON.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
}

/// A text that is no script.
#[derive(Debug, thiserror::Error)]
#[error("not a script: {0}")]
pub struct BadScript(#[from] serde_json::Error);

impl Script {
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        Ok(serde_json::from_str(text)?)
    }
}

type ReadFile = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// Opens the files that `script:FILE` names: the caller's door to files, as there is none here.
#[derive(Clone)]
pub struct ScriptReader(Arc<ReadFile>);

impl ScriptReader {
    /// `read` gets the name as written, and gives the text or says why not. Called once per name unless it fails.
    pub fn new(read: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl Default for ScriptReader {
    /// Finds no file.
    fn default() -> Self {
        Self::new(|_| Err("no files are read here".to_owned()))
    }
}

impl fmt::Debug for ScriptReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptReader(…)")
    }
}

/// The provider: scripts by name, read when first asked for.
pub(super) struct Scripts {
    reader: ScriptReader,
    opened: Mutex<BTreeMap<String, Arc<OpenScript>>>,
}

/// A script and how often each of its rules replied.
struct OpenScript {
    script: Script,
    used: Vec<AtomicU32>,
}

impl Scripts {
    pub(super) fn new(known: BTreeMap<String, Script>, reader: ScriptReader) -> Self {
        let opened = known.into_iter().map(|(name, script)| (name, Arc::new(OpenScript::new(script)))).collect();
        Self { reader, opened: Mutex::new(opened) }
    }

    fn open(&self, name: &str) -> Result<Arc<OpenScript>, FailedAttempt> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(script) = opened.get(name) {
            return Ok(Arc::clone(script));
        }
        let fault = |why: String| FailedAttempt::lasting(FailureKind::Script, format!("cannot be read: {why}"));
        let text = (self.reader.0)(name).map_err(fault)?;
        let script = Script::parse(&text).map_err(|error| fault(error.to_string()))?;
        let script = Arc::new(OpenScript::new(script));
        opened.insert(name.to_owned(), Arc::clone(&script));
        Ok(script)
    }
}

#[async_trait]
impl Provider for Scripts {
    async fn ask(&self, request: &ModelRequest, model: &str, watch: &dyn Watch) -> Result<ModelAnswer, FailedAttempt> {
        let script = self.open(model)?;
        let last = request.lines.last().map_or("", Line::text);
        let reply = script.reply(request, last).ok_or_else(|| no_rule(request))?;
        if let Some(why) = &reply.fail {
            tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
            return Err(FailedAttempt::lasting(FailureKind::Script, format!("was told to fail: {why}")));
        }
        let text = reply.text.replace(LAST, last);
        speak(&text, Duration::from_millis(reply.delay_ms), watch).await;
        let calls = reply.calls.iter().map(|call| SaidCall {
            id: String::new(),
            name: call.tool.to_string(),
            arguments: arguments(&call.arguments, last),
        });
        let calls = distinct(calls.collect());
        let usage = estimate(request, &text, &calls);
        Ok(ModelAnswer { text, calls, usage, ..ModelAnswer::default() })
    }
}

impl OpenScript {
    fn new(script: Script) -> Self {
        let used = script.rules.iter().map(|_| AtomicU32::new(0)).collect();
        Self { script, used }
    }

    fn reply(&self, request: &ModelRequest, last: &str) -> Option<&Reply> {
        let mut rules = self.script.rules.iter().zip(&self.used);
        rules.find(|(rule, used)| rule.matches(request, last) && rule.take_turn(used)).map(|(rule, _)| &rule.reply)
    }
}

impl Rule {
    fn matches(&self, request: &ModelRequest, last: &str) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == request.agent)
            && self.side.is_none_or(|side| side == request.side)
            && self.step.is_none_or(|step| step == request.step)
            && self.contains.as_ref().is_none_or(|part| last.contains(part.as_str()))
    }

    /// False once the rule is used up. Two who ask at once cannot both get the last turn.
    fn take_turn(&self, used: &AtomicU32) -> bool {
        let Some(times) = self.times else { return true };
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < times).then_some(used + 1)).is_ok()
    }
}

fn no_rule(request: &ModelRequest) -> FailedAttempt {
    let side = match request.side {
        Side::A => "a",
        Side::B => "b",
    };
    let why = format!("has no rule for agent `{}`, side `{side}`, step {}", request.agent, request.step);
    FailedAttempt::lasting(FailureKind::Script, why)
}

/// Says the text word by word, taking `delay` for all of it.
async fn speak(text: &str, delay: Duration, watch: &dyn Watch) {
    let pieces = u32::try_from(text.split_inclusive(' ').count()).unwrap_or(u32::MAX);
    let pause = delay / pieces.max(1);
    if pieces == 0 && !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    for piece in text.split_inclusive(' ') {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        watch.delta(piece);
    }
}

/// The arguments as a model would write them, with the placeholder filled in every text of them.
fn arguments(arguments: &Value, last: &str) -> String {
    match arguments {
        Value::String(text) => text.replace(LAST, last),
        _ => filled(arguments, last).to_string(),
    }
}

fn filled(value: &Value, last: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(LAST, last)),
        Value::Array(items) => items.iter().map(|item| filled(item, last)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, field)| (key.clone(), filled(field, last))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// Nobody is paid here; four bytes to a token make the figures grow as they would.
fn estimate(request: &ModelRequest, text: &str, calls: &[entourage_model::ToolCall]) -> Usage {
    let tokens = |bytes: usize| (bytes as u64).div_ceil(4);
    let heard = request.lines.iter().map(|line| line.text().len()).sum::<usize>();
    let said = text.len() + calls.iter().map(|call| call.name.as_str().len() + call.arguments.len()).sum::<usize>();
    Usage { input_tokens: tokens(heard), output_tokens: tokens(said), steps: 1 }
}
