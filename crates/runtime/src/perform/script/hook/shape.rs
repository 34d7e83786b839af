//! What hooks are told as JSON and what they give back, as the types of the thread.

use super::super::door::ThreadDoor;
use entourage_engine::CallResult;
use entourage_model::{Attachment, FileRow, Line, Message, Name, Outcome, Role, ToolCall, ToolStatus};
use entourage_outside::tool::{Enclosure, Given, Occasion};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What an occasion is about.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Subject<'a> {
    /// Nothing that could be changed, or a text.
    Plain,
    Message(&'a Message),
    Call(&'a ToolCall),
    Result(&'a CallResult),
    Transcript(&'a [Arc<Message>]),
    Lines(&'a [Line]),
}

/// What takes its place.
#[derive(Debug)]
pub(in super::super) enum Shape {
    Same,
    Removed,
    Text(String),
    Message(Arc<Message>),
    Call(ToolCall),
    Result(CallResult),
    Transcript(Vec<Arc<Message>>),
    Lines(Vec<Line>),
    Updates(Map<String, Value>),
}

/// Reads what a hook gave, or says why it cannot take the place of what the hook was given.
pub(super) async fn read(door: &ThreadDoor, occasion: &Occasion, subject: Subject<'_>) -> Result<Shape, String> {
    Ok(match (occasion, subject) {
        (Occasion::SystemMessage { text }, _) => Shape::Text(text.clone()),
        (Occasion::BeforeCreateMessage { message }, Subject::Message(original)) => {
            let mut changed = reworded(door, original, message)?;
            changed.attachments = attachments(door, message, "attachments", &original.attachments).await?;
            Shape::Message(Arc::new(changed))
        }
        (Occasion::BeforeUpdateMessage { updates, .. }, _) => Shape::Updates(updates.clone()),
        (Occasion::ToolCallDone { call }, Subject::Call(original)) => {
            let arguments = call.get("arguments").map_or_else(|| original.arguments.clone(), arguments_text);
            Shape::Call(ToolCall { arguments, ..original.clone() })
        }
        (
            Occasion::AfterToolCallSuccess { result, .. }
            | Occasion::AfterToolCallFailure { result, .. }
            | Occasion::BeforeStoreToolResult { result, .. },
            Subject::Result(original),
        ) => Shape::Result(call_result(door, original, result).await?),
        (Occasion::FilterMessages { messages }, Subject::Transcript(original)) => {
            let known = |id: &str| original.iter().find(|message| message.id.to_string() == id).map(|m| &**m);
            let rows = messages.iter().map(|row| said(door, row, known).map(Arc::new));
            Shape::Transcript(rows.collect::<Result<_, _>>()?)
        }
        (Occasion::PrefilterHistory { messages }, Subject::Lines(original)) => {
            Shape::Lines(messages.iter().map(|row| line(door, row, original)).collect::<Result<_, _>>()?)
        }
        _ => Shape::Same,
    })
}

/// A call as hooks are told of it.
pub(super) fn call(call: &ToolCall) -> Value {
    json!({ "id": call.id, "name": call.name, "arguments": call.arguments })
}

/// A result as Standard Agents has it.
pub(super) fn result(result: &CallResult) -> Map<String, Value> {
    let (status, key) = if result.outcome == Outcome::Done { ("success", "result") } else { ("error", "error") };
    let files: Vec<Value> = result.attachments.iter().map(file).collect();
    let members = [("status", json!(status)), (key, json!(result.text)), ("attachments", Value::Array(files))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A message as the API shows it.
pub(super) fn row(message: &Message, number: Option<u64>) -> Map<String, Value> {
    match message.shown(number) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// A line of a request as hooks are told of it.
pub(super) fn shown_line(line: &Line) -> Value {
    let mut shown = json!({ "role": line.role(), "content": line.text() });
    if let Line::Message { message, .. } = line {
        shown["id"] = json!(message.id);
        if let Some(id) = &message.tool_call_id {
            shown["tool_call_id"] = json!(id);
            shown["tool_name"] = json!(message.tool_name);
        }
    }
    if !line.tool_calls().is_empty() {
        shown["tool_calls"] = line.tool_calls().iter().map(call).collect();
    }
    shown
}

fn file(file: &Attachment) -> Value {
    json!({ "path": file.path, "name": file.name, "mimeType": file.mime_type, "size": file.size })
}

/// The message in the words of the hook. Who said it, when and under which id is not for hooks to change.
fn reworded(door: &ThreadDoor, original: &Message, given: &Map<String, Value>) -> Result<Message, String> {
    let mut message = original.clone();
    match given.get("content") {
        None => {}
        Some(Value::Null) => message.content.clear(),
        Some(Value::String(content)) => message.content.clone_from(content),
        Some(_) => return Err("`content` must be a text".to_owned()),
    }
    match given.get("silent") {
        None => {}
        Some(silent) => message.silent = silent.as_bool().unwrap_or_default(),
    }
    match given.get("metadata") {
        None => {}
        Some(Value::Null) => message.metadata.clear(),
        Some(Value::Object(metadata)) => message.metadata.clone_from(metadata),
        Some(_) => return Err("`metadata` must be an object".to_owned()),
    }
    if message.role == Role::Assistant {
        match given.get("tool_calls") {
            None => {}
            Some(Value::Null) => message.tool_calls.clear(),
            Some(Value::Array(calls)) => message.tool_calls = calls.iter().map(tool_call).collect::<Result<_, _>>()?,
            Some(_) => return Err("`tool_calls` must be a list".to_owned()),
        }
    }
    let (found, max) = (message.content.len(), door.inner.limits.message_bytes);
    if found > max && message.content != original.content {
        return Err(format!("the message has {found} bytes; at most {max} are allowed"));
    }
    Ok(message)
}

/// A call in either of its usual spellings: `{ id, name, arguments }`, or with the latter two inside `function`.
fn tool_call(value: &Value) -> Result<ToolCall, String> {
    let inner = value.get("function").unwrap_or(value);
    let (Some(id), Some(name)) = (value.get("id").and_then(Value::as_str), inner.get("name").and_then(Value::as_str))
    else {
        return Err("a call of `tool_calls` must have an `id` and a `name`".to_owned());
    };
    let arguments = inner.get("arguments").map_or_else(|| "{}".to_owned(), arguments_text);
    Ok(ToolCall { id: id.into(), name: Name::from(name), arguments })
}

/// Arguments are a text, as the model wrote them; a hook may give the object.
fn arguments_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The files that a hook gave; those that were there before stay what they are.
async fn attachments(
    door: &ThreadDoor,
    given: &Map<String, Value>,
    key: &str,
    known: &[Attachment],
) -> Result<Vec<Attachment>, String> {
    let Some(list) = given.get(key) else { return Ok(known.to_vec()) };
    let mut files = Vec::new();
    for enclosure in Enclosure::read_all(Some(list))? {
        let kept = match &enclosure {
            Enclosure::Kept { path } => known.iter().find(|file| file.path == *path),
            Enclosure::New { .. } => None,
        };
        match kept {
            Some(kept) => files.push(kept.clone()),
            None => files.extend(door.enclose(vec![enclosure]).await?.iter().map(FileRow::attachment)),
        }
    }
    Ok(files)
}

/// The result that a hook gave. One that still fails has failed as it did.
async fn call_result(
    door: &ThreadDoor,
    original: &CallResult,
    given: &Map<String, Value>,
) -> Result<CallResult, String> {
    if !matches!(given.get("status").and_then(Value::as_str), Some("success" | "error")) {
        return Err("`status` of a result must be `success` or `error`".to_owned());
    }
    let files = attachments(door, given, "attachments", &original.attachments).await?;
    let mut bare = given.clone();
    bare.remove("attachments");
    let Given { output, enclosures } = Given::read(Value::Object(bare))?;
    let pictures = door.enclose(enclosures).await?;
    let outcome = match (output.status, original.outcome) {
        (ToolStatus::Success, _) => Outcome::Done,
        (ToolStatus::Error, Outcome::Done) => Outcome::Failed,
        (ToolStatus::Error, failed) => failed,
    };
    let (found, max) = (output.text.len(), door.inner.limits.tool_output_bytes);
    if found > max {
        return Err(format!("the result has {found} bytes; at most {max} are allowed"));
    }
    let attachments = files.into_iter().chain(pictures.iter().map(FileRow::attachment)).collect();
    Ok(CallResult { outcome, text: output.text, attachments })
}

/// A row of a transcript: one that is known by its id, in the hook's words, or a new one.
fn said<'m>(door: &ThreadDoor, row: &Value, known: impl Fn(&str) -> Option<&'m Message>) -> Result<Message, String> {
    let Value::Object(members) = row else { return Err("a message must be an object".to_owned()) };
    if let Some(original) = row.get("id").and_then(Value::as_str).and_then(known) {
        return reworded(door, original, members);
    }
    let role = row.get("role").cloned().unwrap_or_else(|| json!("user"));
    let role: Role = serde_json::from_value(role).map_err(|_| "`role` of a message is none".to_owned())?;
    let mut new = Message::new(door.ids().message(), role, "", door.inner.store.now());
    new.tool_call_id = row.get("tool_call_id").and_then(Value::as_str).map(Into::into);
    reworded(door, &new, members)
}

fn line(door: &ThreadDoor, row: &Value, original: &[Line]) -> Result<Line, String> {
    let messages = original.iter().filter_map(|line| match line {
        Line::Message { message, role, .. } => Some((message, *role)),
        Line::System(_) => None,
    });
    let known = |id: &str| messages.clone().find(|(message, _)| message.id.to_string() == id);
    let id = row.get("id").and_then(Value::as_str);
    let message = said(door, row, |id| known(id).map(|(message, _)| &**message))?;
    // The same message may be somebody else's in this side's view.
    let role = id.and_then(known).map_or(message.role, |(_, role)| role);
    if role == Role::System {
        return Ok(Line::System(message.content.into()));
    }
    let calls = row.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    Ok(Line::Message { role, calls: calls && !message.tool_calls.is_empty(), message: Arc::new(message) })
}
