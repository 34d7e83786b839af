//! What a running tool or hook does to its thread.

use crate::{Ending, FileRow, Message, MessageId, Name, RunId, ThreadId, Usage, VariableValue};
use serde_json::Value;
use std::sync::Arc;

/// One thing that a tool did to its thread while it ran.
///
/// Acts are collected, and become durable in one commit together with the end of the call: all of them or none, and
/// never twice. Whatever interrupts the call before that, none of them has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Puts a value aside for later calls; `null` forgets it.
    SetValue {
        key: String,
        value: Value,
    },
    /// Gives one of the thread's own variables a value.
    SetVariable {
        name: String,
        value: VariableValue,
    },
    /// Puts a message into the transcript. Nobody acts on it by itself.
    InjectMessage(Arc<Message>),
    /// Puts this message in the place of the one with the same id.
    ReplaceMessage(Arc<Message>),
    /// Takes a message out of the transcript, and with an answer the results of its calls.
    DeleteMessage {
        id: MessageId,
    },
    /// Queues a message to this thread, to its parent or to one of its children.
    /// `files` are its attachments where it goes to another thread, under the paths that they have there.
    QueueMessage {
        to: ThreadId,
        message: Arc<Message>,
        files: Vec<FileRow>,
    },
    /// Queues this text to the parent. Without a parent nothing happens.
    NotifyParent {
        text: String,
    },
    /// What the parent's registry says about this thread from now on. Without a parent nothing happens.
    SetStatus {
        status: String,
    },
    /// Points a path of the thread's file system at a blob, which is there already.
    PutFile(FileRow),
    RemoveFile {
        path: String,
    },
    /// Calls a tool behind the other calls of the same answer.
    QueueTool {
        name: Name,
        arguments: String,
    },
    /// Tells whoever watches the thread.
    Emit {
        name: String,
        data: Value,
    },
    /// A prompt of the team was asked within the call.
    AskPrompt {
        prompt: Name,
        answer: Arc<Message>,
        usage: Usage,
    },
    /// Ends the session behind this call. The other open calls of the answer are given up.
    StopSession(Box<StopSession>),
    /// Ends this thread, or one of its children, with everything below it.
    Terminate {
        thread: ThreadId,
    },
    /// Hands over the result of a run that this thread asked for: it arrives by this call and by nothing else.
    ReadRun {
        run: RunId,
    },
    /// Says that a hook came to no orderly end.
    NoteHookFailure {
        hook: Name,
        occasion: String,
        why: String,
    },
}

/// How a tool ends its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopSession {
    pub ending: Ending,
    /// What the parent's registry says afterwards, in place of the usual word.
    pub status: Option<String>,
    /// A parent that does not wait for the ending is not written to.
    pub quiet: bool,
}

impl Act {
    /// About how much room it takes: a call may not collect more than it may use itself.
    pub fn weight(&self) -> usize {
        const ITSELF: usize = 64;
        let text = match self {
            Self::SetValue { key, value } | Self::Emit { name: key, data: value } => key.len() + size(value),
            Self::SetVariable { name, value } => name.len() + value.reveal().len(),
            Self::InjectMessage(message)
            | Self::ReplaceMessage(message)
            | Self::QueueMessage { message, .. }
            | Self::AskPrompt { answer: message, .. } => {
                message.content.len() + message.metadata.values().map(size).sum::<usize>()
            }
            Self::NotifyParent { text } | Self::SetStatus { status: text } | Self::RemoveFile { path: text } => {
                text.len()
            }
            Self::PutFile(file) => file.path.len() + file.mime_type.len(),
            Self::QueueTool { name, arguments } => name.as_str().len() + arguments.len(),
            Self::StopSession(stop) => stop.ending.text.len(),
            Self::ReadRun { run } => run.as_str().len(),
            Self::NoteHookFailure { why, .. } => why.len(),
            Self::DeleteMessage { .. } | Self::Terminate { .. } => 0,
        };
        ITSELF + text
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(values) => 8 + values.iter().map(size).sum::<usize>(),
        Value::Object(members) => 8 + members.iter().map(|(key, value)| key.len() + size(value)).sum::<usize>(),
    }
}
