//! Declarations as a format's reader leaves them: each field of its type, nothing compared with other declarations.

use crate::faults::Faults;
use crate::solo::Solo;
use crate::tree::{At, Spot};
use entourage_model::{
    ChildEntry, HookStage, Kind, Name, Program, Reasoning, Report, ToolChoice, ToolConfig, Variable,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that a project declares. Of two declarations with one name the later is meant.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) agents: Vec<Declared<AgentDraft>>,
    pub(crate) prompts: Vec<Declared<PromptDraft>>,
    pub(crate) tools: Vec<Declared<ToolDraft>>,
    pub(crate) models: Vec<Declared<ModelDraft>>,
    pub(crate) hooks: Vec<Declared<HookDraft>>,
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

impl Declared<Solo> {
    /// The agent, unless it has an error; what is wrong with it joins `faults`.
    pub(crate) fn sound(self, faults: &mut Faults) -> Vec<(Name, Solo)> {
        let Self { name, faults: found, draft } = self;
        let is_sound = !found.has_error();
        faults.reports.extend(found.reports);
        draft.filter(|_| is_sound).map(|solo| (name.value, solo)).into_iter().collect()
    }
}

impl<D> Declared<D> {
    pub(crate) fn id_and_file(&self) -> (Name, String) {
        (self.name.value.clone(), self.faults.file.clone())
    }

    pub(crate) fn place(&self, spot: Spot) -> entourage_model::Place {
        self.faults.place(spot)
    }
}

#[derive(Debug)]
pub(crate) struct AgentDraft {
    pub(crate) format: &'static str,
    pub(crate) kind: Kind,
    /// Said by `type`, as in 0.1.0; else seen from the sides, as in 0.2.0, where an agent among a prompt's tools is
    /// always a handoff.
    pub(crate) says_type: bool,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// Absent: reported.
    pub(crate) side_a: Option<SideDraft>,
    /// Absent: the side is a person's, or reported.
    pub(crate) side_b: Option<SideDraft>,
    pub(crate) session_turns_max: Option<u32>,
    pub(crate) expose_as_tool: bool,
    pub(crate) tool_description: Option<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) hooks: Vec<At<Name>>,
    /// Those that run on a parent's thread.
    pub(crate) parent_hooks: Vec<ParentHookDraft>,
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
    /// Children beside those that the prompt lists.
    pub(crate) subagents: Vec<At<ChildEntry>>,
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
    /// A defined model's name, or `provider:model`.
    pub(crate) model: Option<At<Name>>,
    pub(crate) tool_description: Option<String>,
    pub(crate) include_chat: bool,
    pub(crate) include_past_tools: bool,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) tool_choice: ToolChoice,
    /// Where it says that its only tool is always called.
    pub(crate) only_tool: Option<Spot>,
    pub(crate) required_schema: Option<Value>,
    pub(crate) reasoning: Option<Reasoning>,
    /// Where it says how many tokens the model may think.
    pub(crate) budget: Option<Spot>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) hooks: Vec<At<Name>>,
    pub(crate) tools: Vec<EntryDraft>,
    pub(crate) extra: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) enum PartDraft {
    Text(String),
    /// The text of another prompt.
    Include(At<Name>),
    /// What a variable holds, or nothing.
    Env(At<Name>),
    /// What a variable holds, or its name in braces.
    Variable(At<Name>),
}

#[derive(Debug)]
pub(crate) enum EntryDraft {
    /// Only a name.
    Bare(At<Name>),
    /// A name, and how to use what has it.
    Full(Box<FullEntry>),
}

impl EntryDraft {
    pub(crate) fn name(&self) -> &Name {
        match self {
            Self::Bare(name) => &name.value,
            Self::Full(entry) => &entry.child.agent,
        }
    }

    pub(crate) fn spot(&self) -> Spot {
        match self {
            Self::Bare(name) => name.spot,
            Self::Full(entry) => entry.spot,
        }
    }
}

/// An entry of a prompt's tools that says more than a name. Which of it counts depends on what has that name.
#[derive(Debug)]
pub(crate) struct FullEntry {
    pub(crate) spot: Spot,
    /// How to start it, if it is an agent. A handoff and a prompt have some of the same fields.
    pub(crate) child: ChildEntry,
    pub(crate) include_text_response: bool,
    pub(crate) include_tool_calls: bool,
    pub(crate) include_errors: bool,
    /// What to give to it, if it is a tool.
    pub(crate) config: ToolConfig,
    /// Its fields, but for the name.
    pub(crate) claims: Vec<Claim>,
}

/// A field of an entry, which says what the entry may be.
#[derive(Debug)]
pub(crate) struct Claim {
    /// With the entry's own path.
    pub(crate) field: String,
    pub(crate) spot: Spot,
    pub(crate) kinds: &'static [EntryKind],
}

/// What an entry of a prompt's tools does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Tool,
    Child,
    Handoff,
    Prompt,
}

/// A tool that the project brings; its file's stem is its name.
#[derive(Debug)]
pub(crate) struct ToolDraft {
    pub(crate) description: String,
    /// The JSON Schema of an object.
    pub(crate) parameters: Value,
    pub(crate) variables: Vec<Variable>,
    pub(crate) uses: Vec<At<Name>>,
    /// Absent: the model's provider runs it.
    pub(crate) program: Option<Arc<Program>>,
}

/// A model under a name of the project's own.
#[derive(Debug)]
pub(crate) struct ModelDraft {
    /// Absent: reported.
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) fallbacks: Vec<At<Name>>,
    pub(crate) provider_options: Map<String, Value>,
    pub(crate) extra: Map<String, Value>,
}

/// A hook that an agent names for its parent.
#[derive(Debug)]
pub(crate) struct ParentHookDraft {
    pub(crate) hook: At<Name>,
    pub(crate) stage: HookStage,
}

/// Code that runs when something happens on a thread.
#[derive(Debug)]
pub(crate) struct HookDraft {
    /// Absent: reported.
    pub(crate) event: Option<String>,
    pub(crate) program: Option<Arc<Program>>,
}
