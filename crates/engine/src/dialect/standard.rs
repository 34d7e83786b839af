//! The `standard` dialect: a tool per child, and two tools for children that can be written to again.

use super::{Dowry, Note, Order, Patience, Refusal, Told, Wish, defined, schema};
use crate::attachment;
use crate::offer::World;
use crate::state::{Child, ThreadState};
use crate::variable;
use entourage_model::{
    Attachment, ChildEntry, ChildLink, Dialect, EffectClass, Ending, HandoffEntry, Name, Outcome, Prompt, Side,
    ThreadId, ToolCall, ToolEntry, ToolSpec, one_line,
};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) const CREATE: &str = "subagent_create";
pub(crate) const MESSAGE: &str = "subagent_message";

/// The tools that drive this prompt's children, and those that hand the thread over.
pub(crate) fn tools(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let enabled = |entry: &&ChildEntry| is_enabled(world, state, prompt, entry.optional.as_deref());
    let handoffs = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Handoff(entry) => Some(entry),
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Prompt(_) => None,
    });
    let mut tools: Vec<_> = handoffs
        .filter(|entry| is_enabled(world, state, prompt, entry.optional.as_deref()))
        .filter_map(|entry| Some(handoff(entry, world.team.agent(&entry.agent)?.pitch())))
        .collect();
    let direct_children = visible(prompt).filter(|entry| entry.resumable.is_none()).filter(enabled);
    tools.extend(direct_children.filter_map(|entry| Some(direct(world, entry, pitch(world, entry)?))));
    let resumable: Vec<_> = visible(prompt).filter(|entry| entry.resumable.is_some()).filter(enabled).collect();
    if !resumable.is_empty() {
        tools.push(create(world, &resumable));
    }
    let lifecycle = Caller::Model.has_lifecycle(prompt);
    let mut instances = state.children.values().filter(|child| is_instance(child));
    if lifecycle && instances.any(|child| is_on(world, state, prompt, child)) {
        tools.push(message());
    }
    tools
}

/// Whether it is one of ours that can be written to again.
fn is_instance(child: &Child) -> bool {
    child.link.resumable && !child.terminated && is_ours(child)
}

/// Whether the branch is on that the child belongs to. One that this prompt does not have belongs to another, and nobody
/// here switches it off.
fn is_on(world: &World<'_>, state: &ThreadState, prompt: &Prompt, child: &Child) -> bool {
    let is_same = |entry: &&ChildEntry| entry.agent == child.link.agent && entry.alias == child.link.alias;
    let mut entries = prompt.children().filter(is_same).peekable();
    entries.peek().is_none() || entries.any(|entry| is_enabled(world, state, prompt, entry.optional.as_deref()))
}

fn is_ours(child: &Child) -> bool {
    child.link.dialect == Dialect::Standard
}

/// Who makes a call. Code may call what a model is not shown, and starts every child by its name if it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Model,
    Code,
}

impl Caller {
    /// The children that it may start.
    fn children(self, prompt: &Prompt) -> impl Iterator<Item = &ChildEntry> {
        prompt.children().filter(move |entry| self == Self::Code || !entry.hidden)
    }

    /// Whether it has the two tools for children that can be written to again.
    fn has_lifecycle(self, prompt: &Prompt) -> bool {
        self.children(prompt).any(|entry| entry.resumable.is_some())
    }
}

/// The children that the model may start; of the others only code knows.
fn visible(prompt: &Prompt) -> impl Iterator<Item = &ChildEntry> {
    Caller::Model.children(prompt)
}

/// Whether a call of this name is one of this dialect where code makes it.
pub(crate) fn is_for_code(prompt: &Prompt, tool: &Name) -> bool {
    target(prompt, tool, Caller::Code).is_some()
}

/// Whether the variable that switches a branch on, where it has one, holds one of the three words for it.
pub(crate) fn is_enabled(world: &World<'_>, state: &ThreadState, prompt: &Prompt, flag: Option<&str>) -> bool {
    let Some(flag) = flag else { return true };
    let held = variable::of_prompt(world, state, prompt, flag);
    held.is_some_and(|held| ["true", "1", "yes"].contains(&held.trim().to_ascii_lowercase().as_str()))
}

/// What the model is told of a child; what the parent says of it goes before what it says of itself.
fn pitch<'a>(world: &World<'a>, entry: &'a ChildEntry) -> Option<&'a str> {
    let agent = world.team.agent(&entry.agent)?;
    Some(entry.description.as_deref().unwrap_or_else(|| agent.pitch()))
}

/// What the child's receiving side wants to be called with.
fn wanted<'a>(world: &World<'a>, entry: &ChildEntry) -> Option<&'a Value> {
    let side = entry.resumable.as_ref().map_or(Side::A, |resumable| resumable.receives);
    world.team.agent(&entry.agent)?.side(side)?.prompt.required_schema.as_ref()
}

fn spec(name: &str, description: String, parameters: Value) -> Arc<ToolSpec> {
    // Children are the engine's own: starting one is part of the decision, not an effect.
    Arc::new(ToolSpec { name: name.into(), description, parameters: Arc::new(parameters), class: EffectClass::Pure })
}

fn direct(world: &World<'_>, entry: &ChildEntry, pitch: &str) -> Arc<ToolSpec> {
    let parameters = wanted(world, entry).cloned().unwrap_or_else(|| {
        let mapped = [&entry.message_property, &entry.attachments_property, &entry.name_property];
        let message = match mapped {
            [None, None, None] => Some("message"),
            [message, ..] => message.as_deref(),
        };
        mapped_parameters(message, entry.attachments_property.as_deref(), entry.name_property.as_deref())
    });
    spec(entry.name().as_str(), pitch.to_owned(), parameters)
}

fn handoff(entry: &HandoffEntry, pitch: &str) -> Arc<ToolSpec> {
    let parameters = mapped_parameters(entry.message_property.as_deref(), entry.attachments_property.as_deref(), None);
    spec(entry.agent.as_str(), pitch.to_owned(), parameters)
}

/// Parameters that are called as the entry's properties are.
pub(crate) fn mapped_parameters(message: Option<&str>, attachments: Option<&str>, name: Option<&str>) -> Value {
    let described = [
        (message, json!({"type": "string", "description": "What the subagent is to do."})),
        (attachments, paths_parameter()),
        (name, json!({"type": "string", "description": "A name for the subagent."})),
    ];
    let properties: Map<String, Value> =
        described.into_iter().filter_map(|(name, schema)| Some((name?.to_owned(), schema))).collect();
    json!({"type": "object", "properties": properties, "required": message.into_iter().collect::<Vec<_>>()})
}

fn paths_parameter() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": "Paths of files to hand over."})
}

fn create(world: &World<'_>, entries: &[&ChildEntry]) -> Arc<ToolSpec> {
    let mut description = "Start a subagent that can be written to again. Agents:".to_owned();
    for entry in entries {
        _ = write!(description, "\n- {}: {}", entry.name(), pitch(world, entry).unwrap_or_default());
        if let Some(max) = entry.resumable.as_ref().and_then(|resumable| resumable.instances_max) {
            _ = write!(description, " (at most {max} at a time)");
        }
    }
    let names: Vec<_> = entries.iter().map(|entry| entry.name().as_str()).collect();
    let schemas: Vec<_> = entries.iter().filter_map(|entry| wanted(world, entry)).collect();
    let arguments = match schemas.as_slice() {
        [] => json!({"type": "object"}),
        [only] if entries.len() == 1 => (*only).clone(),
        several => json!({"anyOf": several}),
    };
    let parameters = json!({
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": names},
            "message": {"type": "string", "description": "What the subagent is to do."},
            "name": {"type": "string", "description": "A name for this instance."},
            "attachments": paths_parameter(),
            "arguments": arguments,
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
            "attachments": paths_parameter(),
        },
        "required": ["referenceId", "message"],
    });
    spec(MESSAGE, "Write to a subagent that was started before.".to_owned(), parameters)
}

/// The folders that define the agents which these calls start.
pub(crate) fn definition_folders(world: &World<'_>, prompt: &Prompt, calls: &[&ToolCall]) -> Vec<String> {
    let names = |call: &&ToolCall| match call.name.as_str() {
        CREATE => parse(&call.arguments).ok().and_then(|given| given_text(&given, "agent")),
        tool => Some(tool.to_owned()),
    };
    let wanted: Vec<String> = calls.iter().filter_map(names).collect();
    let named = visible(prompt).filter(|entry| wanted.iter().any(|wanted| wanted == entry.name().as_str()));
    named.filter_map(|entry| world.team.agent(&entry.agent)?.workspace.as_ref()?.path.clone()).collect()
}

/// What the call wants, where it is one of this dialect.
pub(crate) fn interpret<'a>(
    world: &World<'_>,
    state: &ThreadState,
    prompt: &'a Prompt,
    called: &ToolCall,
    by: Caller,
) -> Option<Result<Wish<'a>, Refusal>> {
    let found = target(prompt, &called.name, by)?;
    let call = Call { world, state, prompt, by };
    Some(parse(&called.arguments).and_then(|arguments| match found {
        Target::Create => call.create(&arguments),
        Target::Message => call.send(&arguments),
        Target::Direct(entry) => call.direct(entry, arguments),
        Target::HandOff(entry) => call.hand_off(entry, &arguments),
    }))
}

/// What the name means, where it is one of this dialect.
fn target<'a>(prompt: &'a Prompt, tool: &Name, by: Caller) -> Option<Target<'a>> {
    match tool.as_str() {
        CREATE if by.has_lifecycle(prompt) => return Some(Target::Create),
        MESSAGE if by.has_lifecycle(prompt) => return Some(Target::Message),
        _ => {}
    }
    let is_direct = |child: &ChildEntry| by == Caller::Code || (!child.hidden && child.resumable.is_none());
    prompt.tools.iter().find_map(|entry| match entry {
        ToolEntry::Child(child) if child.name() == tool && is_direct(child) => Some(Target::Direct(child)),
        ToolEntry::Handoff(handoff) if handoff.agent == *tool => Some(Target::HandOff(handoff)),
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
    })
}

enum Target<'a> {
    Create,
    Message,
    Direct(&'a ChildEntry),
    HandOff(&'a HandoffEntry),
}

/// Where a call is made.
struct Call<'c, 'a> {
    world: &'c World<'c>,
    state: &'c ThreadState,
    prompt: &'a Prompt,
    by: Caller,
}

impl<'a> Call<'_, 'a> {
    fn direct(&self, entry: &'a ChildEntry, arguments: Map<String, Value>) -> Result<Wish<'a>, Refusal> {
        self.enabled(entry.name(), entry.optional.as_deref())?;
        let schema = wanted(self.world, entry);
        let arguments = Value::Object(arguments);
        if let Some(schema) = schema {
            schema::check(schema, &arguments)?;
        }
        let given = arguments.as_object().expect("it was made of one");
        let message = match (&entry.message_property, schema) {
            // Whoever wants more than a message is told all of it, unless one of the arguments is the message. What fits
            // the schema is never refused: it is all that the model was shown.
            (property, Some(_)) => Some(match given.get(property.as_deref().unwrap_or("message")) {
                Some(Value::String(message)) if !message.trim().is_empty() => message.clone(),
                None | Some(Value::Null | Value::String(_)) => pretty(&arguments),
                Some(other) if property.is_some() => pretty(other),
                Some(_) => pretty(&arguments),
            }),
            (Some(property), None) => Some(text(given, property)?),
            (None, None) if entry.attachments_property.is_none() && entry.name_property.is_none() => {
                Some(text(given, "message")?)
            }
            (None, None) => None,
        };
        let attachments = self.attachments(given, entry.attachments_property.as_deref())?;
        let name = entry.name_property.as_deref().and_then(|property| given_text(given, property));
        // A child that is addressed later has a name.
        let name = name.or_else(|| entry.resumable.is_some().then(|| entry.name().to_string()));
        Ok(Wish::Spawn(Order {
            dialect: Dialect::Standard,
            message,
            name,
            attachments,
            arguments: schema.map(|_| arguments),
            patience: Patience::of(entry.blocking),
            dowry: self.dowry(entry),
            entry: Cow::Borrowed(entry),
        }))
    }

    fn create(&self, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
        let agent = text(arguments, "agent")?;
        let resumable = || self.by.children(self.prompt).filter(|entry| entry.resumable.is_some());
        let Some(entry) = resumable().find(|entry| entry.name().as_str() == agent) else {
            let enabled = |entry: &&ChildEntry| self.enabled(entry.name(), entry.optional.as_deref()).is_ok();
            let allowed: Vec<_> = resumable().filter(enabled).map(|entry| entry.name().as_str()).collect();
            let advice = match allowed.as_slice() {
                [] => "none can be started now".to_owned(),
                names => format!("use one of: {}", names.join(", ")),
            };
            return Err(Refusal::invalid(format!("there is no subagent `{agent}`; {advice}")));
        };
        self.enabled(entry.name(), entry.optional.as_deref())?;
        let Some(name) = given_text(arguments, "name") else {
            return Err(Refusal::new("subagent_name_required", "`name` must be a text that is not blank"));
        };
        let given = match arguments.get("arguments") {
            None | Some(Value::Null) => None,
            Some(Value::Object(given)) => Some(Value::Object(given.clone())),
            Some(_) => return Err(Refusal::invalid("`arguments` must be an object")),
        };
        if let Some(schema) = wanted(self.world, entry) {
            schema::check(schema, given.as_ref().unwrap_or(&json!({})))?;
        }
        Ok(Wish::Spawn(Order {
            entry: Cow::Borrowed(entry),
            dialect: Dialect::Standard,
            message: Some(text(arguments, "message")?),
            name: Some(name),
            attachments: self.attachments(arguments, Some("attachments"))?,
            arguments: given,
            patience: Patience::of(entry.blocking),
            dowry: self.dowry(entry),
        }))
    }

    /// An agent of this dialect has said all of itself but what a folder says of it.
    fn dowry(&self, entry: &ChildEntry) -> Dowry {
        let agent = self.world.team.agent(&entry.agent);
        Dowry { instructions: agent.and_then(|agent| defined(self.world, agent)), ..Dowry::default() }
    }

    fn send(&self, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
        let reference = text(arguments, "referenceId")?;
        let known = reference.parse().ok().and_then(|id| self.state.children.get_key_value::<ThreadId>(&id));
        let active = known.filter(|(_, child)| is_instance(child));
        let Some((id, child)) = active else { return Err(not_active(&reference)) };
        if !is_on(self.world, self.state, self.prompt, child) {
            return Err(disabled(child.link.alias.as_ref().unwrap_or(&child.link.agent)));
        }
        Ok(Wish::Send(Note {
            child: *id,
            message: text(arguments, "message")?,
            attachments: self.attachments(arguments, Some("attachments"))?,
            patience: Patience::of(child.link.blocking),
        }))
    }

    fn hand_off(&self, entry: &'a HandoffEntry, arguments: &Map<String, Value>) -> Result<Wish<'a>, Refusal> {
        self.enabled(&entry.agent, entry.optional.as_deref())?;
        if let Some(property) = &entry.message_property {
            text(arguments, property)?;
        }
        self.attachments(arguments, entry.attachments_property.as_deref())?;
        Ok(Wish::HandOff(entry))
    }

    fn enabled(&self, name: &Name, flag: Option<&str>) -> Result<(), Refusal> {
        if is_enabled(self.world, self.state, self.prompt, flag) {
            return Ok(());
        }
        Err(disabled(name))
    }

    fn attachments(&self, arguments: &Map<String, Value>, property: Option<&str>) -> Result<Vec<Attachment>, Refusal> {
        let Some(property) = property else { return Ok(Vec::new()) };
        attachment::find(self.world.files, arguments.get(property)).map_err(Refusal::invalid)
    }
}

fn parse(arguments: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(if arguments.trim().is_empty() { "{}" } else { arguments }) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Refusal::invalid("the arguments must be a JSON object")),
        Err(fault) => Err(Refusal::invalid(format!("the arguments are not valid JSON: {fault}"))),
    }
}

fn disabled(name: &Name) -> Refusal {
    Refusal::new("subagent_disabled", format!("subagent `{name}` is switched off"))
}

pub(crate) fn not_active(reference: &str) -> Refusal {
    Refusal::new("subagent_not_active", format!("there is no active subagent `{reference}`"))
}

fn given_text(arguments: &Map<String, Value>, property: &str) -> Option<String> {
    let text = arguments.get(property)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn text(arguments: &Map<String, Value>, property: &str) -> Result<String, Refusal> {
    match arguments.get(property) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        _ => Err(Refusal::invalid(format!("`{property}` must be a text that is not blank"))),
    }
}

/// JSON for people and models to read.
pub(crate) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// What the parent's call is answered with when it does not wait.
pub(crate) fn accepted(told: &Told<'_>) -> String {
    let child = told.link.thread;
    if told.call.name.as_str() == MESSAGE {
        return format!("The message was queued. Reference: {child}");
    }
    format!("The subagent was initiated successfully. Reference: {child}")
}

/// What a waiting call is answered with.
pub(crate) fn answer(child: &ChildLink, ending: &Ending) -> String {
    let mut text = ending.text.clone();
    attach(&mut text, &ending.attachments);
    if child.resumable {
        _ = write!(text, "\n\nReference: {}", child.thread);
    }
    text
}

/// As much of a result as a model is shown, where that is not all of it; all of it is in this file of the thread.
pub(crate) fn cut(text: &str, bytes_max: usize, file: &str) -> Option<String> {
    let shown = (text.len() > bytes_max).then(|| text.floor_char_boundary(bytes_max))?;
    let rest = format!("all of it is in `{file}`, which `read_file` reads");
    Some(format!("{}\n[cut: {shown} of {} bytes shown; {rest}]", &text[..shown], text.len()))
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

/// The system message that lists the children, a line each; absent while there are none. Those of other dialects are told
/// of there.
pub(crate) fn registry(state: &ThreadState) -> Option<Arc<str>> {
    let mut children = state.children.values().filter(|child| child.is_listed() && is_ours(child)).peekable();
    children.peek()?;
    let mut text = "Subagents of this conversation:".to_owned();
    for Child { link, status, .. } in children {
        let name = link.given_name.as_deref().unwrap_or(link.agent.as_str());
        // What a child says of itself makes no further lines.
        let about = format!("{name} ({}), {status}: {}", link.agent, link.description);
        _ = write!(text, "\n- {}: {}", link.thread, one_line(&about));
    }
    Some(text.into())
}
