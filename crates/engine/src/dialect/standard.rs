//! The `standard` dialect: a tool per child, and two tools for children that can be written to again.

use crate::offer::World;
use crate::state::{Child, ThreadState};
use entourage_model::{Attachment, ChildEntry, EffectClass, Ending, Name, Outcome, Prompt, ThreadId, ToolSpec};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) const CREATE: &str = "subagent_create";
pub(crate) const MESSAGE: &str = "subagent_message";

/// What a call asks of the engine.
pub(crate) enum Wish<'a> {
    Spawn { entry: &'a ChildEntry, message: String, name: Option<String> },
    Send { child: ThreadId, message: String },
}

/// A call that cannot be granted, as the model is told.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) Value);

impl Refusal {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self(json!({"error": {"code": code, "message": message.into()}}))
    }

    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.0["error"][key] = value;
        self
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }
}

/// The tools that drive this prompt's children.
pub(crate) fn tools(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let mut tools: Vec<_> = visible(prompt)
        .filter(|entry| entry.resumable.is_none())
        .filter_map(|entry| Some(direct(entry, pitch(world, entry)?)))
        .collect();
    let resumable: Vec<_> = visible(prompt).filter(|entry| entry.resumable.is_some()).collect();
    if resumable.is_empty() {
        return tools;
    }
    tools.push(create(world, &resumable));
    if state.children.values().any(|child| child.link.resumable && !child.terminated) {
        tools.push(message());
    }
    tools
}

/// The children that the model may start; of the others only code knows.
fn visible(prompt: &Prompt) -> impl Iterator<Item = &ChildEntry> {
    prompt.children().filter(|entry| !entry.hidden)
}

/// What the model is told of a child; what the parent says of it goes before what it says of itself.
fn pitch<'a>(world: &World<'a>, entry: &'a ChildEntry) -> Option<&'a str> {
    let agent = world.team.agent(&entry.agent)?;
    Some(entry.description.as_deref().unwrap_or_else(|| agent.pitch()))
}

fn spec(name: &str, description: String, parameters: Value) -> Arc<ToolSpec> {
    // Children are the engine's own: starting one is part of the decision, not an effect.
    Arc::new(ToolSpec { name: name.into(), description, parameters: Arc::new(parameters), class: EffectClass::Pure })
}

fn direct(entry: &ChildEntry, pitch: &str) -> Arc<ToolSpec> {
    let message = entry.message_property.as_deref().unwrap_or("message");
    let mut properties = Map::new();
    properties.insert(message.to_owned(), json!({"type": "string", "description": "What the subagent is to do."}));
    if let Some(name) = &entry.name_property {
        properties.insert(name.clone(), json!({"type": "string", "description": "A name for the subagent."}));
    }
    spec(
        entry.name().as_str(),
        pitch.to_owned(),
        json!({"type": "object", "properties": properties, "required": [message]}),
    )
}

fn create(world: &World<'_>, entries: &[&ChildEntry]) -> Arc<ToolSpec> {
    let mut description = "Start a subagent that can be written to again. Agents:".to_owned();
    for entry in entries {
        _ = write!(description, "\n- {}: {}", entry.name(), pitch(world, entry).unwrap_or_default());
    }
    let names: Vec<_> = entries.iter().map(|entry| entry.name().as_str()).collect();
    let parameters = json!({
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": names},
            "message": {"type": "string", "description": "What the subagent is to do."},
            "name": {"type": "string", "description": "A name for this instance."},
            "attachments": {"type": "array", "items": {"type": "string"}, "description": "Paths of files to hand over."},
            "arguments": {"type": "object"},
        },
        "required": ["agent", "message", "name"],
    });
    spec(CREATE, description, parameters)
}

fn message() -> Arc<ToolSpec> {
    let parameters = json!({
        "type": "object",
        "properties": {
            "referenceId": {"type": "string", "description": "The subagent's reference."},
            "message": {"type": "string"},
            "attachments": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["referenceId", "message"],
    });
    spec(MESSAGE, "Write to a subagent that was started before.".to_owned(), parameters)
}

/// What the call wants, where it is one of this dialect.
pub(crate) fn interpret<'a>(
    state: &ThreadState,
    prompt: &'a Prompt,
    tool: &Name,
    arguments: &str,
) -> Option<Result<Wish<'a>, Refusal>> {
    let lifecycle = visible(prompt).any(|entry| entry.resumable.is_some());
    Some(match tool.as_str() {
        CREATE if lifecycle => parse(arguments).and_then(|arguments| wish_create(prompt, &arguments)),
        MESSAGE if lifecycle => parse(arguments).and_then(|arguments| wish_send(state, &arguments)),
        _ => {
            let entry = visible(prompt).find(|entry| entry.resumable.is_none() && entry.name() == tool)?;
            parse(arguments).and_then(|arguments| wish_direct(entry, &arguments))
        }
    })
}

fn parse(arguments: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(if arguments.trim().is_empty() { "{}" } else { arguments }) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Refusal::new("subagent_arguments_invalid", "the arguments must be a JSON object")),
        Err(fault) => {
            Err(Refusal::new("subagent_arguments_invalid", format!("the arguments are not valid JSON: {fault}")))
        }
    }
}

fn wish_direct<'a>(entry: &'a ChildEntry, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
    let property = entry.message_property.as_deref().unwrap_or("message");
    let message = text(arguments, property)?;
    let name = entry.name_property.as_deref().and_then(|property| given(arguments, property));
    Ok(Wish::Spawn { entry, message, name })
}

fn wish_create<'a>(prompt: &'a Prompt, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
    let agent = text(arguments, "agent")?;
    let resumable = || visible(prompt).filter(|entry| entry.resumable.is_some());
    let Some(entry) = resumable().find(|entry| entry.name().as_str() == agent) else {
        let allowed: Vec<_> = resumable().map(|entry| entry.name().as_str()).collect();
        let message = format!("there is no subagent `{agent}`; use one of: {}", allowed.join(", "));
        return Err(Refusal::new("subagent_arguments_invalid", message));
    };
    let Some(name) = given(arguments, "name") else {
        return Err(Refusal::new("subagent_name_required", "`name` must be a text that is not blank"));
    };
    Ok(Wish::Spawn { entry, message: text(arguments, "message")?, name: Some(name) })
}

fn wish_send<'a>(state: &ThreadState, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
    let reference = text(arguments, "referenceId")?;
    let child = reference
        .parse()
        .ok()
        .filter(|id| state.children.get(id).is_some_and(|child| child.link.resumable && !child.terminated));
    let Some(child) = child else {
        return Err(not_active(&reference));
    };
    Ok(Wish::Send { child, message: text(arguments, "message")? })
}

pub(crate) fn not_active(reference: &str) -> Refusal {
    Refusal::new("subagent_not_active", format!("there is no active subagent `{reference}`"))
}

fn given(arguments: &Map<String, Value>, property: &str) -> Option<String> {
    let text = arguments.get(property)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn text(arguments: &Map<String, Value>, property: &str) -> Result<String, Refusal> {
    match arguments.get(property) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        _ => Err(Refusal::new("subagent_arguments_invalid", format!("`{property}` must be a text that is not blank"))),
    }
}

/// What the parent's call is answered with when it does not wait.
pub(crate) fn accepted(child: ThreadId) -> String {
    format!("The subagent was initiated successfully. Reference: {child}")
}

/// What a waiting call is answered with.
pub(crate) fn answer(child: &Child, ending: &Ending) -> String {
    let mut text = ending.text.clone();
    attach(&mut text, &ending.attachments);
    if child.link.resumable {
        _ = write!(text, "\n\nReference: {}", child.link.thread);
    }
    text
}

/// What is queued to a parent that did not wait.
pub(crate) fn news(child: ThreadId, ending: &Ending) -> String {
    let verb = match ending.outcome {
        Outcome::Done => "has returned the following result",
        Outcome::Failed | Outcome::Cancelled | Outcome::Unknown => "has reported a failure",
    };
    let mut text = format!("Subagent (reference: {child}) {verb}:\n\n{}", ending.text);
    attach(&mut text, &ending.attachments);
    text
}

/// Lists files below a text, one path a line.
pub(crate) fn attach(text: &mut String, attachments: &[Attachment]) {
    if !attachments.is_empty() {
        text.push('\n');
    }
    for attachment in attachments {
        _ = write!(text, "\n{}", attachment.path);
    }
}

/// The system message that lists the children; absent while there are none.
pub(crate) fn registry(state: &ThreadState) -> Option<Arc<str>> {
    let mut entries = state.registry().peekable();
    entries.peek()?;
    let mut text = "Subagents of this conversation:".to_owned();
    for entry in entries {
        let name = entry.thread_name.as_deref().unwrap_or(entry.name.as_str());
        _ = write!(text, "\n- {}: {name} ({}), {}: {}", entry.reference, entry.name, entry.status, entry.description);
    }
    Some(text.into())
}
