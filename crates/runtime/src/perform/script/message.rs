//! What a tool reads and changes of what was said.

use super::door::{ById, ThreadDoor, read};
use entourage_engine::ThreadState;
use entourage_model::{Act, FileRow, Message, MessageId, Role, ThreadId};
use entourage_outside::tool::Enclosure;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Which messages are wanted. Whoever does not ask for silent ones gets none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wanted {
    limit: Option<usize>,
    offset: usize,
    order: Option<String>,
    include_silent: bool,
}

#[derive(Deserialize)]
pub(super) struct Said {
    message: Words,
}

#[derive(Deserialize)]
struct Words {
    #[serde(default)]
    role: Option<Role>,
    content: String,
    #[serde(default)]
    silent: bool,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    attachments: Value,
}

#[derive(Deserialize)]
pub(super) struct Update {
    id: MessageId,
    updates: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    content: Option<String>,
    silent: Option<bool>,
    metadata: Option<Map<String, Value>>,
    attachments: Option<Value>,
}

/// The messages of a thread, of which so many events are durable.
pub(super) fn list(state: &ThreadState, durable: u64, wanted: &Wanted) -> Value {
    let lines = state.transcript.iter().zip(&state.numbers);
    let mut lines: Vec<_> = lines.filter(|(message, _)| wanted.include_silent || !message.silent).collect();
    if wanted.order.as_deref().is_some_and(|order| order.eq_ignore_ascii_case("desc")) {
        lines.reverse();
    }
    let total = lines.len();
    let page = lines.into_iter().skip(wanted.offset).take(wanted.limit.unwrap_or(usize::MAX));
    let messages: Vec<Value> = page.map(|(message, number)| shown(message, *number, durable)).collect();
    let has_more = wanted.offset.saturating_add(messages.len()) < total;
    json!({ "messages": messages, "total": total, "hasMore": has_more })
}

pub(super) fn one(state: &ThreadState, durable: u64, id: MessageId) -> Value {
    let mut lines = state.transcript.iter().zip(&state.numbers);
    let found = lines.find(|(message, _)| message.id == id);
    found.map_or(Value::Null, |(message, number)| shown(message, *number, durable))
}

fn shown(message: &Message, number: u64, durable: u64) -> Value {
    message.shown((number <= durable).then_some(number))
}

impl ThreadDoor {
    pub(super) fn messages(&self, wanted: &Wanted) -> Result<Value, String> {
        let desk = self.desk();
        Ok(list(&desk.state, desk.durable, wanted))
    }

    pub(super) fn message(&self, ById { id }: &ById) -> Result<Value, String> {
        let desk = self.desk();
        Ok(one(&desk.state, desk.durable, *id))
    }

    pub(super) async fn inject(&self, said: Said) -> Result<Value, String> {
        let (message, _) = self.spoken(said).await?;
        let message = self.hear_of_coming(Arc::new(message)).await?;
        let shown = message.shown(None);
        self.act(Act::InjectMessage(Arc::clone(&message)))?;
        self.hear_of("after_create_message", &message).await;
        Ok(shown)
    }

    pub(super) async fn update(&self, Update { id, updates }: Update) -> Result<Value, String> {
        let updates = Value::Object(self.hear_of_updates(id, updates).await);
        let updates: Changes = read(self.value_without_secrets(updates))?;
        let attachments = match updates.attachments {
            Some(list) => Some(self.enclose(Enclosure::read_all(Some(&list))?).await?),
            None => None,
        };
        let (message, shown) = {
            let mut desk = self.desk();
            let found = desk.state.transcript.iter().find(|message| message.id == id);
            let mut message = Message::clone(found.ok_or_else(|| format!("there is no message `{id}`"))?);
            message.content = updates.content.unwrap_or(message.content);
            message.silent = updates.silent.unwrap_or(message.silent);
            message.metadata.extend(updates.metadata.unwrap_or_default());
            if let Some(files) = attachments {
                message.attachments = files.iter().map(FileRow::attachment).collect();
            }
            let message = Arc::new(message);
            desk.act(&self.world(), Act::ReplaceMessage(Arc::clone(&message)))?;
            (message, one(&desk.state, desk.durable, id))
        };
        self.hear_of("after_update_message", &message).await;
        Ok(shown)
    }

    /// Whether there was one.
    pub(super) fn delete(&self, ById { id }: &ById) -> Result<Value, String> {
        let mut desk = self.desk();
        if !desk.state.transcript.iter().any(|message| message.id == *id) {
            return Ok(json!(false));
        }
        desk.act(&self.world(), Act::DeleteMessage { id: *id })?;
        Ok(json!(true))
    }

    /// Another thread gets its own copies of the attachments, under paths of its own.
    pub(super) async fn queue(&self, to: ThreadId, said: Said) -> Result<Value, String> {
        let (mut message, mut files) = self.spoken(said).await?;
        if !matches!(message.role, Role::User | Role::Assistant) {
            return Err("the role of a queued message must be `user` or `assistant`".to_owned());
        }
        if to == self.place.thread {
            files.clear();
        } else {
            for file in &mut files {
                file.path = super::file::fresh_path(file.name());
            }
            message.attachments = files.iter().map(FileRow::attachment).collect();
        }
        self.act(Act::QueueMessage { to, message: Arc::new(message), files })
    }

    /// A message as the tool wrote it, with files of this thread.
    async fn spoken(&self, Said { message: words }: Said) -> Result<(Message, Vec<FileRow>), String> {
        let files = self.enclose(Enclosure::read_all(Some(&words.attachments))?).await?;
        let role = words.role.unwrap_or(Role::User);
        let mut message = Message::new(self.ids().message(), role, words.content, self.inner.store.now());
        message.silent = words.silent;
        message.metadata = words.metadata.unwrap_or_default();
        message.attachments = files.iter().map(FileRow::attachment).collect();
        Ok((message, files))
    }
}
