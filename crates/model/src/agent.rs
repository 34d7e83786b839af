//! The canonical agent: what every declaration format is lowered to.

use crate::Name;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The agents that can meet in one tree of threads. A thread pins the team it was started from by digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Team {
    pub agents: BTreeMap<Name, Arc<Agent>>,
}

impl Team {
    pub fn agent(&self, name: &Name) -> Option<&Arc<Agent>> {
        self.agents.get(name)
    }
}

/// Who sits on the two sides of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Side A is a model, side B a person.
    #[default]
    AiHuman,
    /// Both sides are models.
    DualAi,
}

/// Where a declaration came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `standard-agents`, `stax`, `dex`, `agentscope` … or `built-in`.
    pub format: String,
    /// Relative to the project; absent for built-ins.
    pub file: Option<String>,
}

/// A checked definition: later code takes it as it is and cannot fail on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub name: Name,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default)]
    pub description: String,
    pub side_a: SideConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_b: Option<SideConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_turns_max: Option<u32>,
    #[serde(default)]
    pub expose_as_tool: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_description: Option<String>,
    pub source: Source,
    /// What the declaration said beyond this, so that a round trip loses nothing.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Agent {
    /// What a parent's model is told about this agent.
    pub fn pitch(&self) -> &str {
        self.tool_description.as_deref().unwrap_or(&self.description)
    }

    /// The configuration of `side`; a person's side has none.
    pub fn side(&self, side: crate::Side) -> Option<&SideConfig> {
        match side {
            crate::Side::A => Some(&self.side_a),
            crate::Side::B => self.side_b.as_ref(),
        }
    }

    /// Whether a session of this agent is meant to end by calling a tool.
    pub fn has_terminal_binding(&self) -> bool {
        [Some(&self.side_a), self.side_b.as_ref()]
            .into_iter()
            .flatten()
            .any(|side| side.session_stop.is_some() || side.session_fail.is_some())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideConfig {
    pub prompt: Prompt,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A text without tool calls ends the side's turn.
    pub stop_on_response: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_tool: Option<Name>,
    /// The argument of the stop tool that becomes the turn's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_tool_response_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_max: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_stop: Option<Binding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_fail: Option<Binding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_status: Option<Binding>,
}

/// A tool whose success moves the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub tool: Name,
    /// The argument that is the message; without it the tool's result is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments_property: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub name: Name,
    pub instructions: Arc<str>,
    /// Absent: the project's own model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Asked in this order when `model` cannot answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<ModelRef>,
    /// Shows earlier sessions of the thread; without it a side sees the current one.
    pub include_chat: bool,
    /// Shows the tool traffic of earlier turns.
    pub include_past_tools: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The JSON Schema of what a caller must give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
}

impl Prompt {
    pub fn children(&self) -> impl Iterator<Item = &ChildEntry> {
        self.tools.iter().filter_map(|entry| match entry {
            ToolEntry::Child(child) => Some(child),
            ToolEntry::Tool(_) => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEntry {
    Tool(Name),
    Child(ChildEntry),
}

/// An agent that this prompt may start as a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEntry {
    pub agent: Name,
    /// The parent's call is answered by the child's ending.
    pub blocking: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_property: Option<String>,
    /// Absent: the child ends with its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumable: Option<Resumable>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumable {
    /// The side that a message from the parent is for.
    pub receives: crate::Side,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances_max: Option<u32>,
    pub communication: Communication,
}

/// Whether a child's endings are queued to its parent by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Communication {
    #[default]
    Implicit,
    Explicit,
}

/// `provider:model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelRef(Arc<str>);

impl ModelRef {
    /// Reads `provider:model`; neither part may be empty.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once(':')?;
        (!provider.is_empty() && !model.is_empty()).then(|| Self(text.into()))
    }

    pub fn provider(&self) -> &str {
        self.0.split_once(':').map_or("", |(provider, _)| provider)
    }

    pub fn model(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, model)| model)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
