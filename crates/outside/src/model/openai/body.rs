//! The body of a Chat Completions request, serialised from borrowed parts.

use super::Form;
use entourage_model::{Line, ModelRequest, Role, ToolCall, ToolChoice, ToolSpec};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::sync::Arc;

/// What a line costs beyond its text, about.
const LINE_BYTES: usize = 64;
/// What a tool costs beyond its description, about.
const TOOL_BYTES: usize = 512;

pub(super) fn write(request: &ModelRequest, model: &str, form: Form) -> Result<Vec<u8>, serde_json::Error> {
    let has_tools = !request.tools.is_empty();
    let body = Body {
        model,
        messages: Messages(&request.lines),
        stream: form == Form::Streamed,
        stream_options: (form == Form::Streamed).then_some(StreamOptions { include_usage: true }),
        tools: has_tools.then_some(Tools(&request.tools)),
        tool_choice: if has_tools { tool_choice(request.tool_choice) } else { None },
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        reasoning_effort: request.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_deref()),
        temperature: request.sampling.temperature,
        top_p: request.sampling.top_p,
        options: Options(request, model),
    };
    let mut bytes = Vec::with_capacity(size(request));
    serde_json::to_writer(&mut bytes, &body)?;
    Ok(bytes)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(flatten)]
    options: Options<'a>,
}

/// What the author tells the provider, but nothing that is said above: a key would be there twice.
struct Options<'a>(&'a ModelRequest, &'a str);

impl Serialize for Options<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request, model) = self;
        let is_said = |key: &str| match key {
            "model" | "messages" | "stream" | "stream_options" | "tools" | "tool_choice" | "parallel_tool_calls" => {
                true
            }
            "reasoning_effort" => request.reasoning.as_ref().is_some_and(|reasoning| reasoning.effort.is_some()),
            "temperature" => request.sampling.temperature.is_some(),
            "top_p" => request.sampling.top_p.is_some(),
            _ => false,
        };
        let options = request.options_for(model).into_iter().flatten();
        serializer.collect_map(options.filter(|(key, _)| !is_said(key)))
    }
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Messages<'a>(&'a [Line]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(WireMessage::new))
    }
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    /// Null beside calls, where there is no text.
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Calls<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> WireMessage<'a> {
    fn new(line: &'a Line) -> Self {
        let role = line.role();
        let calls = if role == Role::Assistant { line.tool_calls() } else { &[] };
        let tool_call_id = match line {
            Line::Message { role: Role::Tool, message, .. } => message.tool_call_id.as_ref(),
            Line::Message { .. } | Line::System(_) => None,
        };
        Self {
            role,
            content: Some(line.text()).filter(|text| !text.is_empty() || calls.is_empty()),
            tool_calls: (!calls.is_empty()).then_some(Calls(calls)),
            tool_call_id: tool_call_id.map(entourage_model::CallId::as_str),
        }
    }
}

struct Calls<'a>(&'a [ToolCall]);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|call| WireCall {
            id: call.id.as_str(),
            kind: "function",
            function: WireFunction { name: call.name.as_str(), arguments: &call.arguments },
        }))
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

struct Tools<'a>(&'a [Arc<ToolSpec>]);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|tool| WireTool(tool)))
    }
}

struct WireTool<'a>(&'a ToolSpec);

impl Serialize for WireTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            description: &'a str,
            parameters: &'a Value,
        }
        let Self(tool) = self;
        let function =
            Function { name: tool.name.as_str(), description: &tool.description, parameters: &tool.parameters };
        let mut outer = serializer.serialize_struct("Tool", 2)?;
        outer.serialize_field("type", "function")?;
        outer.serialize_field("function", &function)?;
        outer.end()
    }
}

/// Absent for what a provider does by itself.
fn tool_choice(choice: ToolChoice) -> Option<&'static str> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none"),
        ToolChoice::Required => Some("required"),
    }
}

/// About how long the body will be, so that it is written without growing often.
fn size(request: &ModelRequest) -> usize {
    let line = |line: &Line| {
        let calls = line.tool_calls().iter().map(|call| call.arguments.len() + 2 * LINE_BYTES).sum::<usize>();
        LINE_BYTES + line.text().len() + calls
    };
    let lines = request.lines.iter().map(line).sum::<usize>();
    let tools = request.tools.iter().map(|tool| TOOL_BYTES + tool.description.len()).sum::<usize>();
    let escapes = lines / 16;
    256 + lines + escapes + tools
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{EffectClass, Ids, Message, ModelRef, Name, Reasoning, Sampling, Side, Timestamp};
    use serde_json::{Map, json};

    fn check(request: &ModelRequest, form: Form, body: &Value) {
        let bytes = write(request, "gpt-5", form).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), *body);
    }

    fn request(lines: Vec<Line>) -> ModelRequest {
        ModelRequest {
            agent: Name::from("writer"),
            side: Side::A,
            step: 0,
            is_root: true,
            models: Vec::new(),
            lines,
            tools: Vec::new(),
            tool_choice: ToolChoice::Required,
            parallel_tool_calls: Some(false),
            reasoning: None,
            sampling: Sampling::default(),
            remote: None,
            provider_options: Map::new(),
        }
    }

    fn message(role: Role, content: &str) -> Message {
        Message::new(Ids::new(Timestamp(0), 0).message(), role, content, Timestamp(0))
    }

    fn line(message: Message) -> Line {
        Line::Message { role: message.role, message: Arc::new(message), calls: true }
    }

    #[test]
    fn a_request_without_tools_says_nothing_about_tools() {
        let lines = vec![Line::System("be brief".into()), line(message(Role::User, "hé \"you\"\n"))];
        check(
            &request(lines),
            Form::Plain,
            &json!({
                "model": "gpt-5",
                "messages": [
                    { "role": "system", "content": "be brief" },
                    { "role": "user", "content": "hé \"you\"\n" },
                ],
                "stream": false,
            }),
        );
    }

    #[test]
    fn the_author_s_options_are_for_the_first_model_and_replace_nothing() {
        let options = json!({ "seed": 7, "temperature": 2, "user": { "id": "u" }, "model": "x", "messages": [] });
        let mut asked = request(Vec::new());
        asked.provider_options = options.as_object().unwrap().clone();
        asked.models = ["openai:gpt-5", "openai:gpt-4"].iter().filter_map(|model| ModelRef::parse(model)).collect();
        let body = json!({ "model": "gpt-5", "messages": [], "stream": false, "seed": 7, "temperature": 2, "user": { "id": "u" } });
        check(&asked, Form::Plain, &body);
        asked.sampling.temperature = Some(0.5);
        let body = json!({ "model": "gpt-5", "messages": [], "stream": false, "seed": 7, "temperature": 0.5, "user": { "id": "u" } });
        check(&asked, Form::Plain, &body);
        asked.models.remove(0);
        asked.sampling.temperature = None;
        asked.models.insert(0, ModelRef::parse("openai:gpt-3").unwrap());
        check(&asked, Form::Plain, &json!({ "model": "gpt-5", "messages": [], "stream": false }));
    }

    #[test]
    fn calls_and_their_results_keep_their_ids() {
        let call = ToolCall { id: "call_1".into(), name: "fetch".into(), arguments: "{not json".to_owned() };
        let mut asked = message(Role::Assistant, "");
        asked.tool_calls = vec![call];
        let mut said = asked.clone();
        said.content = "let me see".to_owned();
        let mut result = message(Role::Tool, "404");
        result.tool_call_id = Some("call_1".into());
        let seen_as_user = Line::Message { role: Role::User, message: Arc::new(said.clone()), calls: false };
        let tool = ToolSpec {
            name: "fetch".into(),
            description: "gets a page".to_owned(),
            parameters: Arc::new(json!({ "type": "object" })),
            class: EffectClass::Pure,
        };
        let wire_call = json!([
            { "id": "call_1", "type": "function", "function": { "name": "fetch", "arguments": "{not json" } },
        ]);
        let reasoning = Some(Reasoning { effort: Some("low".to_owned()), tokens_max: Some(1) });
        let sampling = Sampling { temperature: Some(0.25), top_p: Some(1.0) };
        let lines = vec![line(asked), line(said), line(result), seen_as_user];
        check(
            &ModelRequest { tools: vec![Arc::new(tool)], reasoning, sampling, ..request(lines) },
            Form::Streamed,
            &json!({
                "model": "gpt-5",
                "messages": [
                    { "role": "assistant", "content": null, "tool_calls": wire_call },
                    { "role": "assistant", "content": "let me see", "tool_calls": wire_call },
                    { "role": "tool", "content": "404", "tool_call_id": "call_1" },
                    { "role": "user", "content": "let me see" },
                ],
                "stream": true,
                "stream_options": { "include_usage": true },
                "tools": [{ "type": "function", "function": {
                    "name": "fetch", "description": "gets a page", "parameters": { "type": "object" },
                } }],
                "tool_choice": "required",
                "parallel_tool_calls": false,
                "reasoning_effort": "low",
                "temperature": 0.25,
                "top_p": 1.0,
            }),
        );
    }
}
