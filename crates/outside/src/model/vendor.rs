//! `anthropic:`, `gemini:` and `ollama:` in their own words, which the `genai` crate speaks.

use super::call::{SaidCall, distinct};
use super::complaint;
use super::endpoint::Endpoint;
use super::failure::{FailedAttempt, FailureKind};
use super::http::{Http, transport_failure};
use super::incoming::Patience;
use super::provider::Provider;
use super::settings::{ModelLimits, ProviderSettings};
use super::watch::Watch;
use async_trait::async_trait;
use entourage_model::{Line, ModelAnswer, ModelRequest, Role, Secret, ToolSpec, Usage};
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, ContentPart, MessageContent, ReasoningEffort,
    StreamEnd, Tool, ToolCall, ToolChoice, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint as GenaiEndpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use tokio::time::timeout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VendorKind {
    Anthropic,
    Gemini,
    Ollama,
}

pub(super) struct Vendor {
    kind: VendorKind,
    /// Ends in a slash: `genai` appends its paths as they are.
    base: Url,
    key: Option<Secret>,
    stream: bool,
    limits: ModelLimits,
    http: Arc<Http>,
    client: OnceLock<Client>,
}

impl Vendor {
    pub(super) fn new(
        kind: VendorKind,
        endpoint: &Endpoint,
        settings: &ProviderSettings,
        limits: ModelLimits,
        http: Arc<Http>,
    ) -> Self {
        let base = match kind {
            VendorKind::Anthropic => endpoint.versioned("v1", &["v1"]),
            VendorKind::Gemini => endpoint.versioned("v1beta", &["v1", "v1beta", "v1alpha"]),
            VendorKind::Ollama => endpoint.join(""),
        };
        let key = settings.api_key.clone();
        Self { kind, base, key, stream: settings.stream, limits, http, client: OnceLock::new() }
    }

    fn client(&self) -> Result<&Client, FailedAttempt> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let reqwest = self.http.client(&self.base)?.clone();
        let client = Client::builder().with_reqwest(reqwest).build().map_err(|error| failure(&error))?;
        Ok(self.client.get_or_init(|| client))
    }

    fn target(&self, model: &str) -> ServiceTarget {
        let kind = match self.kind {
            VendorKind::Anthropic => AdapterKind::Anthropic,
            VendorKind::Gemini => AdapterKind::Gemini,
            VendorKind::Ollama => AdapterKind::Ollama,
        };
        ServiceTarget {
            endpoint: GenaiEndpoint::from_owned(self.base.as_str()),
            auth: AuthData::from_single(self.key.as_ref().map_or("", Secret::reveal)),
            model: ModelIden::new(kind, model),
        }
    }

    fn options(&self, request: &ModelRequest, model: &str) -> ChatOptions {
        ChatOptions {
            capture_usage: Some(true),
            capture_content: Some(true),
            capture_tool_calls: Some(true),
            tool_choice: if request.tools.is_empty() { None } else { tool_choice(request.tool_choice) },
            reasoning_effort: self.reasoning_effort(request),
            temperature: request.sampling.temperature,
            top_p: request.sampling.top_p,
            extra_body: request.options_for(model).cloned().map(Value::Object),
            ..ChatOptions::default()
        }
    }

    fn reasoning_effort(&self, request: &ModelRequest) -> Option<ReasoningEffort> {
        // Anthropic wants its signed thoughts back beside a tool's result. They are not kept, so it must not think.
        let is_amid_calls = request.lines.last().is_some_and(|line| line.role() == Role::Tool);
        if self.kind == VendorKind::Anthropic && is_amid_calls {
            return None;
        }
        let reasoning = request.reasoning.as_ref()?;
        let by_name = reasoning.effort.as_deref().and_then(ReasoningEffort::from_keyword);
        by_name.or(reasoning.tokens_max.map(ReasoningEffort::Budget))
    }

    async fn ask_streamed(
        &self,
        request: &ModelRequest,
        model: &str,
        watch: &dyn Watch,
    ) -> Result<ModelAnswer, FailedAttempt> {
        let options = self.options(request, model);
        let asked = self.client()?.exec_chat_stream(self.target(model), chat_request(request), Some(&options));
        let stream = asked.await.map_err(|error| failure(&error))?.stream;
        let end =
            self.listen(stream, watch).await?.filter(|end| self.is_whole(end)).ok_or_else(|| {
                FailedAttempt::passing(FailureKind::Unavailable, "stopped before the end of its answer")
            })?;
        let usage = end.captured_usage.unwrap_or_default();
        Ok(answer(end.captured_content.unwrap_or_default(), &usage))
    }

    /// Reads to the end, under the two time-outs; `None` if it did not come.
    async fn listen(&self, mut stream: ChatStream, watch: &dyn Watch) -> Result<Option<StreamEnd>, FailedAttempt> {
        let mut patience = Patience::new(self.limits);
        loop {
            let next = timeout(patience.left(), stream.next()).await.map_err(|_| patience.spent())?;
            let Some(event) = next else { return Ok(None) };
            match event.map_err(|error| failure(&error))? {
                // Comes before anything was sent.
                ChatStreamEvent::Start => continue,
                ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => watch.delta(&chunk.content),
                ChatStreamEvent::Chunk(_)
                | ChatStreamEvent::ReasoningChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::Heartbeat => {}
                ChatStreamEvent::End(end) => return Ok(Some(end)),
            }
            patience.hear();
        }
    }

    /// Whether the vendor itself said that it is done: `genai` makes up an end for two of them when they are cut.
    fn is_whole(&self, end: &StreamEnd) -> bool {
        let has_reason = end.captured_stop_reason.is_some();
        match self.kind {
            VendorKind::Anthropic => true,
            VendorKind::Gemini => has_reason,
            // Its last line has the counts; older ones give no reason.
            VendorKind::Ollama => has_reason || end.captured_usage.is_some(),
        }
    }

    async fn ask_plain(
        &self,
        request: &ModelRequest,
        model: &str,
        watch: &dyn Watch,
    ) -> Result<ModelAnswer, FailedAttempt> {
        let options = self.options(request, model);
        let asked = self.client()?.exec_chat(self.target(model), chat_request(request), Some(&options));
        let patience = Patience::new(self.limits);
        let response = timeout(patience.left(), asked).await.map_err(|_| patience.spent())?;
        let response = response.map_err(|error| failure(&error))?;
        let answer = answer(response.content, &response.usage);
        if !answer.text.is_empty() {
            watch.delta(&answer.text);
        }
        Ok(answer)
    }
}

#[async_trait]
impl Provider for Vendor {
    async fn ask(&self, request: &ModelRequest, model: &str, watch: &dyn Watch) -> Result<ModelAnswer, FailedAttempt> {
        if self.stream {
            self.ask_streamed(request, model, watch).await
        } else {
            self.ask_plain(request, model, watch).await
        }
    }
}

fn chat_request(request: &ModelRequest) -> ChatRequest {
    let messages = request.lines.iter().filter_map(message).collect();
    let tools = (!request.tools.is_empty()).then(|| request.tools.iter().map(|spec| tool(spec)).collect());
    ChatRequest { messages, tools, ..ChatRequest::default() }
}

/// `None` for a line that says nothing: vendors refuse it.
fn message(line: &Line) -> Option<ChatMessage> {
    let text = line.text();
    match (line.role(), line) {
        (Role::Tool, Line::Message { message, .. }) => {
            let call = message.tool_call_id.as_ref().map_or("", |id| id.as_str());
            let mut response = ToolResponse::new(call, text);
            response.fn_name = message.tool_name.as_ref().map(ToString::to_string);
            Some(ChatMessage::from(response))
        }
        (Role::Assistant, _) => {
            let said = (!text.is_empty()).then(|| ContentPart::Text(text.to_owned()));
            let calls = line.tool_calls().iter().map(|call| ContentPart::ToolCall(past_call(call)));
            let parts = said.into_iter().chain(calls).collect::<Vec<_>>();
            (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
        }
        _ if text.is_empty() => None,
        (Role::System, _) => Some(ChatMessage::system(text)),
        (Role::User | Role::Tool, _) => Some(ChatMessage::user(text)),
    }
}

/// A call of an earlier step. Vendors take only objects back, so that arguments which are none are wrapped in one.
fn past_call(call: &entourage_model::ToolCall) -> ToolCall {
    let arguments = serde_json::from_str::<Value>(&call.arguments).ok().filter(Value::is_object);
    ToolCall {
        call_id: call.id.to_string(),
        fn_name: call.name.to_string(),
        fn_arguments: arguments.unwrap_or_else(|| json!({ "arguments": call.arguments })),
        thought_signatures: None,
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    let described = Tool::new(spec.name.to_string()).with_schema(Value::clone(&spec.parameters));
    if spec.description.is_empty() { described } else { described.with_description(spec.description.clone()) }
}

fn tool_choice(choice: entourage_model::ToolChoice) -> Option<ToolChoice> {
    match choice {
        entourage_model::ToolChoice::Auto => None,
        entourage_model::ToolChoice::None => Some(ToolChoice::None),
        entourage_model::ToolChoice::Required => Some(ToolChoice::Required),
    }
}

fn answer(content: MessageContent, usage: &genai::chat::Usage) -> ModelAnswer {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in content {
        match part {
            ContentPart::Text(said) => text.push_str(&said),
            ContentPart::ToolCall(call) => calls.push(said_call(call)),
            ContentPart::Binary(_)
            | ContentPart::ToolResponse(_)
            | ContentPart::ThoughtSignature(_)
            | ContentPart::ReasoningContent(_)
            | ContentPart::Custom(_) => {}
        }
    }
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    let usage =
        Usage { input_tokens: tokens(usage.prompt_tokens), output_tokens: tokens(usage.completion_tokens), steps: 1 };
    ModelAnswer { text, calls: distinct(calls), usage, ..ModelAnswer::default() }
}

fn said_call(call: ToolCall) -> SaidCall {
    let arguments = match call.fn_arguments {
        // What could not be read as JSON comes as a text.
        Value::String(text) => text,
        Value::Null => String::new(),
        value => value.to_string(),
    };
    // Gemini's calls have no ids of their own, and those that `genai` makes up repeat in every answer.
    let is_made_up = call.call_id.starts_with("call#");
    let id = if is_made_up { String::new() } else { call.call_id };
    SaidCall { id, name: call.fn_name, arguments }
}

/// `genai` wraps what a stream meets on its way, and keeps status and headers on the inside.
fn failure(error: &genai::Error) -> FailedAttempt {
    use genai::Error;
    match error {
        Error::HttpError { status, body, headers, .. } => complaint::of_status(*status, headers, body.as_bytes()),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => web_failure(webc_error),
        Error::WebStream { error, cause, .. } => {
            if let Some(inner) = error.downcast_ref::<Error>() {
                failure(inner)
            } else if let Some(inner) = error.downcast_ref::<reqwest::Error>() {
                transport_failure(inner)
            } else {
                malformed(cause)
            }
        }
        Error::ChatResponse { body, .. } => complaint::of_document(body.to_string().as_bytes()),
        Error::ChatResponseGeneration { cause, .. } => malformed(cause),
        Error::StreamParse { serde_error, .. } | Error::SerdeJson(serde_error) => malformed(&serde_error.to_string()),
        Error::JsonValueExt(error) => malformed(&error.to_string()),
        Error::NoChatResponse { .. } | Error::InvalidJsonResponseElement { .. } => malformed(&error.to_string()),
        // The rest is about the request, before it is sent.
        _ => FailedAttempt::lasting(FailureKind::BadRequest, format!("could not be asked: {error}")),
    }
}

fn web_failure(error: &genai::webc::Error) -> FailedAttempt {
    use genai::webc::Error;
    match error {
        Error::ResponseFailedStatus { status, body, headers } => {
            complaint::of_status(*status, headers, body.as_bytes())
        }
        Error::Reqwest(error) => transport_failure(error),
        Error::ResponseFailedInvalidJson { cause, .. } => malformed(cause),
        Error::ResponseFailedNotJson { content_type, .. } => malformed(&format!("`{content_type}` in place of JSON")),
        Error::JsonValueExt(error) => malformed(&error.to_string()),
    }
}

fn malformed(what: &str) -> FailedAttempt {
    FailedAttempt::passing(FailureKind::Malformed, format!("answered what could not be read: {what}"))
}
