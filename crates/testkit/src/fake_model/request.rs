//! One request as a brain or a test reads it: the same words for both dialects.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use serde_json::Value;

/// Whose words the client speaks; told by the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's `/chat/completions`.
    ChatCompletions,
    /// Anthropic's `/messages`.
    Messages,
}

impl Dialect {
    pub(super) fn of_path(path: &str) -> Option<Dialect> {
        if path.ends_with("/chat/completions") {
            Some(Dialect::ChatCompletions)
        } else if path.ends_with("/messages") {
            Some(Dialect::Messages)
        } else {
            None
        }
    }
}

/// What a tool answered, as the client handed it back to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub call_id: String,
    pub text: String,
}

/// A request. Its JSON is parsed when first asked for: a brain that searches [`Request::bytes`] does not pay for it.
#[derive(Debug)]
pub struct Request {
    dialect: Dialect,
    headers: HeaderMap,
    bytes: Bytes,
    arrived: Duration,
    body: OnceLock<Value>,
}

impl Request {
    pub(super) fn new(dialect: Dialect, headers: HeaderMap, bytes: Bytes, arrived: Duration) -> Request {
        Request { dialect, headers, bytes, arrived, body: OnceLock::new() }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Time from the server's start to the end of the request's body.
    pub fn arrived(&self) -> Duration {
        self.arrived
    }

    /// `None` for a header that is absent or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The parsed body; `Null` if it is not JSON, which the server answers with status 400.
    pub fn body(&self) -> &Value {
        self.body.get_or_init(|| serde_json::from_slice(&self.bytes).unwrap_or(Value::Null))
    }

    pub fn model(&self) -> &str {
        self.body()["model"].as_str().unwrap_or_default()
    }

    pub fn streamed(&self) -> bool {
        self.body()["stream"] == true
    }

    /// Whether a chat completion's stream is to end with its usage. Messages always report theirs.
    pub fn wants_usage(&self) -> bool {
        self.body()["stream_options"]["include_usage"] == true
    }

    /// All system text, joined by newlines.
    pub fn system(&self) -> String {
        self.texts("system").join("\n")
    }

    /// The texts of one role, in order: `system`, `user`, `assistant` or `tool`.
    pub fn texts(&self, role: &str) -> Vec<String> {
        let top = (role == "system" && !self.body()["system"].is_null()).then(|| text_of(&self.body()["system"]));
        let messages = self.messages().iter().filter(|message| role_of(message) == role);
        top.into_iter().chain(messages.map(|message| text_of(&message["content"]))).collect()
    }

    /// The text of the last message, whoever said it; empty without messages.
    pub fn last_text(&self) -> String {
        self.messages().last().map(|message| text_of(&message["content"])).unwrap_or_default()
    }

    /// The role of the last message; tool results have the role `tool` in both dialects.
    pub fn last_role(&self) -> &str {
        self.messages().last().map(role_of).unwrap_or_default()
    }

    pub fn assistant_turns(&self) -> usize {
        self.messages().iter().filter(|message| role_of(message) == "assistant").count()
    }

    /// Every tool result of the conversation, in order.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.messages().iter().filter(|message| role_of(message) == "tool").flat_map(results_of).collect()
    }

    /// The names of the offered tools, in order.
    pub fn tools(&self) -> Vec<&str> {
        self.list("tools").iter().filter_map(tool_name).collect()
    }

    fn messages(&self) -> &[Value] {
        self.list("messages")
    }

    fn list(&self, key: &str) -> &[Value] {
        self.body()[key].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

/// `developer` is the newer word for `system`; Anthropic's tool results come in the role `user`.
fn role_of(message: &Value) -> &str {
    match message["role"].as_str().unwrap_or_default() {
        "developer" => "system",
        "user" if parts_of(message).iter().any(is_tool_result) => "tool",
        role => role,
    }
}

fn results_of(message: &Value) -> Vec<ToolResult> {
    let result = |id: &Value, content: &Value| ToolResult {
        call_id: id.as_str().unwrap_or_default().to_owned(),
        text: text_of(content),
    };
    if message["role"] == "tool" {
        return vec![result(&message["tool_call_id"], &message["content"])];
    }
    let parts = parts_of(message).iter().filter(|part| is_tool_result(part));
    parts.map(|part| result(&part["tool_use_id"], &part["content"])).collect()
}

fn tool_name(tool: &Value) -> Option<&str> {
    tool["function"]["name"].as_str().or(tool["name"].as_str())
}

fn parts_of(message: &Value) -> &[Value] {
    message["content"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_tool_result(part: &Value) -> bool {
    part["type"] == "tool_result"
}

/// Content is a text or a list of parts; a part has a text or content of its own. Other parts have no text.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| match &part["text"] {
                Value::String(text) => text.clone(),
                _ => text_of(&part["content"]),
            });
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
