//! What a model is asked, and what it answers.

use crate::{
    Message, ModelRef, Name, Reasoning, Remote, Role, Sampling, Side, ThreadId, ToolCall, ToolChoice, ToolSpec, Usage,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One model call. Messages are shared with the thread's state, never copied.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub agent: Name,
    pub side: Side,
    /// Which step of its session and side this is, from 0.
    pub step: u32,
    /// Whether a root thread asks, which its children must not keep waiting.
    pub is_root: bool,
    /// Asked in this order; the later ones when the earlier cannot answer.
    pub models: Vec<ModelRef>,
    pub lines: Vec<Line>,
    pub tools: Vec<Arc<ToolSpec>>,
    pub tool_choice: ToolChoice,
    pub parallel_tool_calls: Option<bool>,
    pub reasoning: Option<Reasoning>,
    pub sampling: Sampling,
    /// What the first of the models is told beyond all this, by its provider's own names.
    pub provider_options: Map<String, Value>,
    /// Where another server does the work, in place of any model.
    pub remote: Option<Box<RemoteTask>>,
}

/// A piece of work for an agent that another server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteTask {
    pub agent: Name,
    pub remote: Remote,
    /// The same however often it is asked for: what was begun before a crash is found again.
    pub id: String,
    /// Tasks of one session are one conversation.
    pub session: ThreadId,
    pub parent: Option<ThreadId>,
    pub user_id: Option<String>,
    /// Tools that whoever started this work has denied: a server that heeds it denies them as well.
    pub denied: Vec<Name>,
    pub input: String,
    /// Somebody may have asked for it before a crash: the server is asked whether it knows it, before it is submitted.
    pub resumed: bool,
}

impl ModelRequest {
    /// The options that are meant for this model: those of the first, and of none that answers in its place.
    pub fn options_for(&self, model: &str) -> Option<&Map<String, Value>> {
        let is_first = self.models.first().is_some_and(|first| first.model() == model);
        Some(&self.provider_options).filter(|options| is_first && !options.is_empty())
    }
}

/// One line of the context.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    System(Arc<str>),
    /// A message as this side sees it: `role` is its own view, and `calls` says whether its tool calls are shown.
    Message {
        role: Role,
        message: Arc<Message>,
        calls: bool,
    },
}

impl Line {
    pub fn role(&self) -> Role {
        match self {
            Self::System(_) => Role::System,
            Self::Message { role, .. } => *role,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::System(text) => text,
            Self::Message { message, .. } => &message.content,
        }
    }

    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::Message { message, calls: true, .. } => &message.tool_calls,
            Self::Message { calls: false, .. } | Self::System(_) => &[],
        }
    }
}

/// One model step's outcome: a text, calls, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: Usage,
    /// Whoever was asked has cancelled the work: the text says so, and nothing else will come.
    pub cancelled: bool,
    /// What the asker is to know of how the answer came about.
    pub note: Option<String>,
}
