//! Messages: what a transcript is made of.

use crate::{CallId, Digest, FileRow, MessageId, Name, Side, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Success,
    Error,
}

/// A call as the model wrote it. `arguments` is its text, which need not be JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: Name,
    pub arguments: String,
}

/// A file of the thread that holds the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub path: String,
    pub name: String,
    pub mime_type: String,
    pub size: u64,
    /// Its bytes, so that a copy is a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl Attachment {
    /// As everybody outside is shown it: how its bytes are kept is nobody's business.
    fn shown(&self) -> Value {
        json!({ "path": self.path, "name": self.name, "mime_type": self.mime_type, "size": self.size })
    }

    /// The same file in another thread, under a path of its own there. Nothing for one whose bytes are not known.
    pub fn copied(&self, path: String, at: Timestamp) -> Option<FileRow> {
        let (digest, mime_type) = (self.digest?, self.mime_type.clone());
        Some(FileRow { path, digest, size: self.size, mime_type, created_at: at })
    }
}

/// One line of a transcript. Its number is the sequence number of the event that holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    /// The side that said it; nobody's for messages from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    pub role: Role,
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<CallId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_status: Option<ToolStatus>,
    /// Models see it, people by default do not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub silent: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
}

impl Message {
    /// A message with this content and nothing else.
    pub fn new(id: MessageId, role: Role, content: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            id,
            side: None,
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            tool_name: None,
            tool_status: None,
            silent: false,
            attachments: Vec::new(),
            metadata: Map::new(),
            created_at,
        }
    }

    /// The message as everybody outside is shown it: every key, also where there is nothing to say. `seq` is its
    /// number, which it has once it is durable.
    pub fn shown(&self, seq: Option<u64>) -> Value {
        json!({
            "id": self.id,
            "seq": seq,
            "side": self.side,
            "role": self.role,
            "content": self.content,
            "tool_calls": self.tool_calls,
            "tool_call_id": self.tool_call_id,
            "tool_name": self.tool_name,
            "tool_status": self.tool_status,
            "silent": self.silent,
            "attachments": self.attachments.iter().map(Attachment::shown).collect::<Vec<_>>(),
            "metadata": self.metadata,
            "created_at": self.created_at,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(flag: &bool) -> bool {
    !flag
}
