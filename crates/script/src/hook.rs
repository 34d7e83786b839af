//! Hooks: code that runs when something happens on a thread, and may change what happens.

use crate::call::{Door, Given, call_or_nothing};
use crate::fault::{Fault, FaultKind};
use crate::limits::Limits;
use entourage_model::Program;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The function of a hook's definition that does the work.
const EXECUTE: &str = "execute";

/// Something that happens on a thread, with what a hook is told about it. Messages are rows as the API shows them.
#[derive(Clone, Debug, PartialEq)]
pub enum Occasion {
    /// The thread is made and has not begun.
    ThreadCreated,
    /// On the parent: a child is made. `child` is its entry in the registry.
    SubagentCreated {
        child: Value,
    },
    /// The system text of a request is written.
    SystemMessage {
        text: String,
    },
    /// The messages that a request is to be made of.
    FilterMessages {
        messages: Vec<Value>,
    },
    /// The request's own messages, just before it is sent.
    PrefilterHistory {
        messages: Vec<Value>,
    },
    /// A model has begun to ask for a call.
    ToolCallStarted {
        call: Value,
    },
    /// The call is complete and about to be made.
    ToolCallDone {
        call: Value,
    },
    BeforeCreateMessage {
        message: Map<String, Value>,
    },
    AfterCreateMessage {
        message: Map<String, Value>,
    },
    BeforeUpdateMessage {
        id: String,
        updates: Map<String, Value>,
    },
    AfterUpdateMessage {
        message: Map<String, Value>,
    },
    /// A tool has ended: the result as it is about to be kept.
    BeforeStoreToolResult {
        call: Value,
        result: Map<String, Value>,
    },
    AfterToolCallSuccess {
        call: Value,
        result: Map<String, Value>,
    },
    AfterToolCallFailure {
        call: Value,
        result: Map<String, Value>,
    },
}

/// What a hook made of an occasion.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// It goes on as it was.
    Same,
    /// It goes on with this in the place of what the hook was given last: a text, messages, a message, updates or a
    /// result.
    Instead(Value),
    /// The call and its result are to be forgotten. Only what a call has come to can be.
    Removed,
    /// It does not go on, for this reason. Only the request to a model and a call can be blocked.
    Blocked(String),
}

/// What a hook may give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Whatever it gives is nobody's business.
    Nothing,
    Text,
    Messages,
    /// Messages, or `{ block: true, reason }` in their place.
    Request,
    /// A call, or `{ block: true, reason }` in its place.
    Call,
    Object,
    /// An object, or `null` for nothing of it.
    Outcome,
}

impl Occasion {
    /// Its name in Standard Agents, by which a definition says what it waits for.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ThreadCreated => "after_thread_created",
            Self::SubagentCreated { .. } => "after_subagent_created",
            Self::SystemMessage { .. } => "after_system_message",
            Self::FilterMessages { .. } => "filter_messages",
            Self::PrefilterHistory { .. } => "prefilter_llm_history",
            Self::ToolCallStarted { .. } => "tool_call_started",
            Self::ToolCallDone { .. } => "tool_call_done",
            Self::BeforeCreateMessage { .. } => "before_create_message",
            Self::AfterCreateMessage { .. } => "after_create_message",
            Self::BeforeUpdateMessage { .. } => "before_update_message",
            Self::AfterUpdateMessage { .. } => "after_update_message",
            Self::BeforeStoreToolResult { .. } => "before_store_tool_result",
            Self::AfterToolCallSuccess { .. } => "after_tool_call_success",
            Self::AfterToolCallFailure { .. } => "after_tool_call_failure",
        }
    }

    /// The same occasion with what a hook gave in the place of what it was given, for the next hook.
    pub fn with(self, value: Value) -> Self {
        let messages = |value: Value| match value {
            Value::Array(messages) => messages,
            other => vec![other],
        };
        let object = |value: Value| match value {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        match self {
            Self::SystemMessage { text } => Self::SystemMessage { text: value.as_str().map_or(text, str::to_owned) },
            Self::FilterMessages { .. } => Self::FilterMessages { messages: messages(value) },
            Self::PrefilterHistory { .. } => Self::PrefilterHistory { messages: messages(value) },
            Self::ToolCallDone { .. } => Self::ToolCallDone { call: value },
            Self::BeforeCreateMessage { .. } => Self::BeforeCreateMessage { message: object(value) },
            Self::BeforeUpdateMessage { id, .. } => Self::BeforeUpdateMessage { id, updates: object(value) },
            Self::BeforeStoreToolResult { call, .. } => Self::BeforeStoreToolResult { call, result: object(value) },
            Self::AfterToolCallSuccess { call, .. } => Self::AfterToolCallSuccess { call, result: object(value) },
            Self::AfterToolCallFailure { call, .. } => Self::AfterToolCallFailure { call, result: object(value) },
            same @ (Self::ThreadCreated
            | Self::SubagentCreated { .. }
            | Self::ToolCallStarted { .. }
            | Self::AfterCreateMessage { .. }
            | Self::AfterUpdateMessage { .. }) => same,
        }
    }

    /// What a hook is given behind its state. The last of it is what it may change.
    fn payload(self) -> Vec<Value> {
        match self {
            Self::ThreadCreated => Vec::new(),
            Self::SubagentCreated { child } => vec![child],
            Self::ToolCallStarted { call } | Self::ToolCallDone { call } => vec![call],
            Self::SystemMessage { text } => vec![json!(text)],
            Self::FilterMessages { messages } | Self::PrefilterHistory { messages } => vec![Value::Array(messages)],
            Self::BeforeCreateMessage { message }
            | Self::AfterCreateMessage { message }
            | Self::AfterUpdateMessage { message } => vec![Value::Object(message)],
            Self::BeforeUpdateMessage { id, updates } => vec![json!(id), Value::Object(updates)],
            Self::BeforeStoreToolResult { call, result }
            | Self::AfterToolCallSuccess { call, result }
            | Self::AfterToolCallFailure { call, result } => vec![call, Value::Object(result)],
        }
    }

    fn answer(&self) -> Answer {
        match self {
            Self::ThreadCreated
            | Self::SubagentCreated { .. }
            | Self::ToolCallStarted { .. }
            | Self::AfterCreateMessage { .. }
            | Self::AfterUpdateMessage { .. } => Answer::Nothing,
            Self::SystemMessage { .. } => Answer::Text,
            Self::FilterMessages { .. } => Answer::Messages,
            Self::PrefilterHistory { .. } => Answer::Request,
            Self::ToolCallDone { .. } => Answer::Call,
            Self::BeforeCreateMessage { .. }
            | Self::BeforeUpdateMessage { .. }
            | Self::BeforeStoreToolResult { .. } => Answer::Object,
            Self::AfterToolCallSuccess { .. } | Self::AfterToolCallFailure { .. } => Answer::Outcome,
        }
    }
}

/// Runs the hook of a program. A value that cannot take the place of what the hook was given is a fault, as is
/// everything that is one for a tool; what goes on is then as it was.
pub async fn run_hook(
    program: &Program,
    occasion: Occasion,
    door: Arc<dyn Door>,
    limits: Limits,
) -> Result<Heard, Fault> {
    let (name, answer) = (occasion.name(), occasion.answer());
    let given = call_or_nothing(program, EXECUTE, Given::Payload(occasion.payload()), door, limits).await?;
    let Some(given) = given else { return Ok(Heard::Same) };
    let refuse = |expected: &str| {
        Fault::new(FaultKind::Value, &program.entry, format!("a hook for `{name}` must give {expected}, or nothing"))
    };
    match (answer, given) {
        (Answer::Outcome, Value::Null) => Ok(Heard::Removed),
        (Answer::Nothing, _) | (_, Value::Null) => Ok(Heard::Same),
        (Answer::Text, text @ Value::String(_)) => Ok(Heard::Instead(text)),
        (Answer::Text, _) => Err(refuse("a text")),
        (Answer::Messages | Answer::Request, Value::Array(list)) if list.iter().all(Value::is_object) => {
            Ok(Heard::Instead(Value::Array(list)))
        }
        (Answer::Request | Answer::Call, Value::Object(members))
            if members.get("block") == Some(&Value::Bool(true)) =>
        {
            let reason = members.get("reason").and_then(Value::as_str).filter(|reason| !reason.trim().is_empty());
            Ok(Heard::Blocked(
                reason
                    .unwrap_or(if answer == Answer::Call {
                        "a hook blocked the call"
                    } else {
                        "a hook blocked the request"
                    })
                    .to_owned(),
            ))
        }
        (Answer::Messages | Answer::Request, _) => Err(refuse("an array of messages")),
        (Answer::Object | Answer::Outcome | Answer::Call, object @ Value::Object(_)) => Ok(Heard::Instead(object)),
        (Answer::Object | Answer::Outcome | Answer::Call, _) => Err(refuse("an object")),
    }
}
