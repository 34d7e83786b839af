//! Declarations as a format's reader leaves them: each field of its type, nothing compared with other declarations.

use crate::faults::Faults;
use crate::tree::{At, Spot};
use entourage_model::{ChildEntry, Kind, ModelRef, Name, Reasoning, Report, ToolChoice};
use serde_json::{Map, Value};

/// Everything that a project declares. Of two declarations with one name the later is meant.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) agents: Vec<Declared<AgentDraft>>,
    pub(crate) prompts: Vec<Declared<PromptDraft>>,
    /// What is wrong beyond a single file.
    pub(crate) reports: Vec<Report>,
}

impl Drafts {
    /// Broken declarations count: whoever wrote one did not mean ours.
    pub(crate) fn declares_agent(&self, name: &str) -> bool {
        self.agents.iter().any(|declared| declared.name.value.as_str() == name)
    }
}

/// One file that declares something.
#[derive(Debug)]
pub(crate) struct Declared<D> {
    /// The file's stem, if the file is too broken to say its name.
    pub(crate) name: At<Name>,
    pub(crate) faults: Faults,
    /// Absent: too broken to be compared with others. It may be there and be broken.
    pub(crate) draft: Option<D>,
}

impl<D> Declared<D> {
    pub(crate) fn place(&self, spot: Spot) -> entourage_model::Place {
        self.faults.place(spot)
    }
}

#[derive(Debug)]
pub(crate) struct AgentDraft {
    pub(crate) format: &'static str,
    pub(crate) kind: Kind,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// Absent: reported.
    pub(crate) side_a: Option<SideDraft>,
    /// Absent: the side is a person's, or reported.
    pub(crate) side_b: Option<SideDraft>,
    pub(crate) session_turns_max: Option<u32>,
    pub(crate) expose_as_tool: bool,
    pub(crate) tool_description: Option<String>,
    pub(crate) extra: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct SideDraft {
    /// How the format calls this side: in reports, and as the key of what is kept of it.
    pub(crate) key: &'static str,
    /// Absent: reported.
    pub(crate) prompt: Option<At<Name>>,
    pub(crate) label: Option<String>,
    pub(crate) stop_on_response: bool,
    pub(crate) stop_tool: Option<At<Name>>,
    pub(crate) stop_tool_response_property: Option<String>,
    pub(crate) steps_max: Option<u32>,
    pub(crate) session_stop: Option<BindingDraft>,
    pub(crate) session_fail: Option<BindingDraft>,
    pub(crate) session_status: Option<BindingDraft>,
    pub(crate) extra: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct BindingDraft {
    pub(crate) tool: At<Name>,
    pub(crate) message_property: Option<String>,
    pub(crate) attachments_property: Option<String>,
}

#[derive(Debug)]
pub(crate) struct PromptDraft {
    pub(crate) parts: Vec<PartDraft>,
    pub(crate) model: Option<ModelRef>,
    pub(crate) include_chat: bool,
    pub(crate) include_past_tools: bool,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) required_schema: Option<Value>,
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) tools: Vec<EntryDraft>,
    pub(crate) extra: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) enum PartDraft {
    Text(String),
    /// The text of another prompt.
    Include(At<Name>),
}

#[derive(Debug)]
pub(crate) enum EntryDraft {
    /// Only a name.
    Bare(At<Name>),
    /// A name, and how to start it if it is an agent.
    Full(At<ChildEntry>),
}

impl EntryDraft {
    pub(crate) fn name(&self) -> &Name {
        match self {
            Self::Bare(name) => &name.value,
            Self::Full(child) => &child.value.agent,
        }
    }

    pub(crate) fn spot(&self) -> Spot {
        match self {
            Self::Bare(name) => name.spot,
            Self::Full(child) => child.spot,
        }
    }
}
