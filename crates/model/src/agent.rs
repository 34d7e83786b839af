//! The canonical agent: what every declaration format is lowered to.

use crate::{Digest, Name, Program, ServerEntry, ToolSpec, VariableValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The agents that can meet in one tree of threads. A thread pins the team it was started from by digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Team {
    pub agents: BTreeMap<Name, Arc<Agent>>,
    /// The bundle that it was read from. Absent: a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Digest>,
    /// The tools that the project itself declares, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<Name, Arc<ScriptTool>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hooks: BTreeMap<Name, Arc<Hook>>,
    /// The prompts that other prompts may call. The prompts of agents lie within them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<Name, Arc<Prompt>>,
    /// Texts of the bundle that agents read while they work, by the path that they are told. They lie in no folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Arc<str>>,
}

impl Team {
    pub fn agent(&self, name: &Name) -> Option<&Arc<Agent>> {
        self.agents.get(name)
    }

    /// A variable's value for a new thread. One that is hidden is nobody else's business.
    pub fn variable(&self, name: &str, value: impl Into<String>) -> VariableValue {
        if self.hidden().any(|hidden| hidden == name) {
            VariableValue::secret(value)
        } else {
            VariableValue::text(value)
        }
    }

    /// The variables that no model may see: those that anybody declares as secret or scoped, or hands on. A name may come
    /// more than once.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let declared = self.variables().filter(|variable| variable.secret || variable.scoped);
        let agents = self.agents.values().flat_map(|agent| agent.prompts());
        let prompts = agents.chain(self.prompts.values().map(|prompt| &**prompt));
        let handed_on = prompts.flat_map(Prompt::children).flat_map(ChildEntry::handed_on);
        declared.map(|variable| variable.name.as_str()).chain(handed_on)
    }

    /// Every variable that anything in it asks for.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        let agents = self.agents.values().flat_map(|agent| agent.all_variables());
        let prompts = self.prompts.values().flat_map(|prompt| &prompt.variables);
        agents.chain(prompts).chain(self.tools.values().flat_map(|tool| &tool.variables))
    }
}

/// A tool that a project declares as code. A thread pins the code with its team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptTool {
    pub spec: Arc<ToolSpec>,
    pub program: Arc<Program>,
    /// The variables that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// What it may call or queue itself: tools, prompts and agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Name>,
    pub source: Source,
}

/// Code that a project declares to run when something happens on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// What has to happen, by its name in Standard Agents.
    pub event: String,
    pub program: Arc<Program>,
    pub source: Source,
}

/// A hook that an agent brings along for its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentHook {
    pub hook: Name,
    #[serde(default)]
    pub stage: HookStage,
}

/// When a hook that a child brings along runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookStage {
    BeforeParent,
    /// Behind the parent's own.
    #[default]
    AfterParent,
}

/// A variable that a declaration asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Reaches a child only if it is given to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scoped: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Who sits on the two sides of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Side A is a model, side B whoever talks to it: a person, or a parent that called it.
    #[default]
    AiHuman,
    /// Both sides are models.
    DualAi,
}

/// Where a declaration came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// `standard-agents`, `stax`, `dex`, `agentscope` …
    pub format: String,
    /// Relative to the project, or `~/…` for the user's; absent for built-ins.
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
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Name>,
    /// Hooks that run on the threads of agents that may start this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parent_hooks: Vec<ParentHook>,
    /// Nobody is offered it who may start any agent: only prompts that list it start it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlisted: bool,
    /// No model speaks for it: somebody outside makes its calls and reads their results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub driven: bool,
    /// How it drives children that it may start; empty: it starts none but those that its prompts list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<Dialect>,
    /// Absent: it works where its caller does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceWish>,
    /// Where it runs, if not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
    pub source: Source,
    /// What the declaration said beyond this, so that a round trip loses nothing.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A set of tools through which a model drives children that are not among its own tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    #[default]
    Standard,
    Dex,
    AgentScope,
}

impl Dialect {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(crate) fn is_standard(&self) -> bool {
        *self == Self::Standard
    }
}

/// The folder that an agent works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceWish {
    pub mode: WorkspaceMode,
    /// A folder with the agent's own definition: its `AGENTS.md` is the prompt. Relative to the project, or absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceMode {
    /// A folder of its own.
    #[default]
    Isolated,
    /// The project's folder.
    Shared,
}

/// An agent that another server runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    pub url: String,
    /// Values hold `${NAME}`, which is read from the environment when a request is sent and never stored. A value that a
    /// settings file writes out is not here, but with what was loaded: it is to be in no other file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl Remote {
    /// The server, without what a URL may hold beside it: keys belong in no text for people.
    pub fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    }

    /// Where the server is asked, with neither a password nor a key that the URL may hold.
    pub fn shown_url(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("http", self.url.as_str()));
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let path = path.find('/').map_or("", |slash| &path[slash..]);
        format!("{scheme}://{}{path}", self.host())
    }
}

impl Agent {
    /// Its own, and those of its sides.
    fn all_variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().chain(self.prompts().flat_map(|prompt| &prompt.variables))
    }

    /// One side that says everything it knows of itself by its prompt.
    pub fn one_sided(name: Name, description: impl Into<String>, prompt: Prompt, source: Source) -> Self {
        Self {
            name,
            kind: Kind::AiHuman,
            title: None,
            description: description.into(),
            side_a: SideConfig::new(prompt),
            side_b: None,
            session_turns_max: None,
            expose_as_tool: false,
            tool_description: None,
            env: BTreeMap::new(),
            variables: Vec::new(),
            hooks: Vec::new(),
            parent_hooks: Vec::new(),
            unlisted: false,
            driven: false,
            dialects: Vec::new(),
            workspace: None,
            remote: None,
            source,
            extra: Map::new(),
        }
    }

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

    /// The sides that a model sits on.
    pub fn sides(&self) -> impl Iterator<Item = &SideConfig> {
        std::iter::once(&self.side_a).chain(&self.side_b)
    }

    /// What the models on its sides are told.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.sides().map(|side| &side.prompt)
    }

    /// Whether its first side starts children as soon as the thread is there.
    pub fn has_immediate_children(&self) -> bool {
        self.side_a.prompt.children().any(|entry| entry.immediate.is_some())
    }

    /// Whether a session of this agent is meant to end by calling a tool.
    pub fn has_terminal_binding(&self) -> bool {
        self.sides().any(|side| side.session_stop.is_some() || side.session_fail.is_some())
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

impl SideConfig {
    /// A side that stops at its first text without tool calls.
    pub fn new(prompt: Prompt) -> Self {
        Self {
            prompt,
            label: None,
            stop_on_response: true,
            stop_tool: None,
            stop_tool_response_property: None,
            steps_max: None,
            session_stop: None,
            session_fail: None,
            session_status: None,
        }
    }
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
    pub instructions: Instructions,
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
    #[serde(default, skip_serializing_if = "Sampling::is_default")]
    pub sampling: Sampling,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Name>,
    /// A tool of an MCP server is named as models know it, or together with all others of its server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
    /// The MCP servers that some of its tools are of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerEntry>,
    /// Tools of servers that it may not call, although they are listed together with others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied_tools: Vec<Name>,
    /// Of the tools of servers it may call only those that change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// What some of its tools are given whenever it calls them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_configs: BTreeMap<Name, ToolConfig>,
    /// What the model's provider is told beyond all this, by the provider's own names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_options: Map<String, Value>,
}

/// What a prompt gives to a tool beside the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolConfig {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

/// How a model chooses its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
}

impl Sampling {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A prompt's text, in parts: only variables are still open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instructions(pub Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Text(Arc<str>),
    /// The value of the variable with this name.
    Env(String),
    /// The same; one that holds nothing renders as `{{name}}`.
    Variable(String),
}

impl Instructions {
    /// The text, with `value` giving what variables hold. An `Env` that holds nothing renders empty.
    pub fn render(&self, value: impl Fn(&str) -> Option<String>) -> Arc<str> {
        if let [Part::Text(text)] = self.0.as_slice() {
            return Arc::clone(text);
        }
        let part = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Env(name) => value(name).unwrap_or_default(),
            Part::Variable(name) => value(name).unwrap_or_else(|| format!("{{{{{name}}}}}")),
        };
        self.0.iter().map(part).collect::<String>().into()
    }
}

impl<T: Into<Arc<str>>> From<T> for Instructions {
    fn from(text: T) -> Self {
        Self(vec![Part::Text(text.into())])
    }
}

impl Prompt {
    /// One that shows its whole conversation and has no tools.
    pub fn new(name: Name, instructions: impl Into<Instructions>) -> Self {
        Self {
            name,
            instructions: instructions.into(),
            model: None,
            fallbacks: Vec::new(),
            include_chat: true,
            include_past_tools: true,
            parallel_tool_calls: None,
            tool_choice: ToolChoice::Auto,
            required_schema: None,
            reasoning: None,
            sampling: Sampling::default(),
            env: BTreeMap::new(),
            variables: Vec::new(),
            hooks: Vec::new(),
            tools: Vec::new(),
            servers: Vec::new(),
            denied_tools: Vec::new(),
            read_only: false,
            tool_configs: BTreeMap::new(),
            provider_options: Map::new(),
        }
    }

    pub fn children(&self) -> impl Iterator<Item = &ChildEntry> {
        self.tools.iter().filter_map(|entry| match entry {
            ToolEntry::Child(child) => Some(child),
            ToolEntry::Tool(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEntry {
    Tool(Name),
    Child(ChildEntry),
    Handoff(HandoffEntry),
    Prompt(PromptEntry),
}

impl ToolEntry {
    /// The name by which the prompt's model knows it.
    pub fn name(&self) -> &Name {
        match self {
            Self::Tool(name) => name,
            Self::Child(child) => child.name(),
            Self::Handoff(handoff) => &handoff.agent,
            Self::Prompt(prompt) => &prompt.prompt,
        }
    }
}

/// An agent that takes the thread over when this prompt calls it. The conversation stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffEntry {
    pub agent: Name,
    /// The variable that switches it on. Absent: it is always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<String>,
    /// The argument that becomes a message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments_property: Option<String>,
}

impl HandoffEntry {
    /// One that says nothing to the agent.
    pub fn new(agent: Name) -> Self {
        Self { agent, optional: None, message_property: None, attachments_property: None }
    }
}

/// A prompt of the team that is asked once, on the same thread, and answers as a tool does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptEntry {
    pub prompt: Name,
    /// What the calling model is told.
    #[serde(default)]
    pub description: String,
    /// The variable that switches it on. Absent: it is always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_property: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments_property: Option<String>,
    /// Which parts of what it said and did are its answer.
    pub include_text_response: bool,
    pub include_tool_calls: bool,
    pub include_errors: bool,
}

impl PromptEntry {
    /// One that answers with everything it said and did.
    pub fn new(prompt: Name, description: impl Into<String>) -> Self {
        Self {
            prompt,
            description: description.into(),
            optional: None,
            message_property: None,
            attachments_property: None,
            include_text_response: true,
            include_tool_calls: true,
            include_errors: true,
        }
    }
}

/// An agent that this prompt may start as a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEntry {
    pub agent: Name,
    /// What the parent calls it. Absent: as the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    /// What the parent's model is told. Absent: what the agent says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Never shown to the model: only code starts it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The variable that switches it on. Absent: it is always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<String>,
    /// Started by itself when its parent becomes active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub immediate: Option<Immediate>,
    /// The variables that its parent hands on to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scoped_env: Vec<String>,
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

impl ChildEntry {
    /// A child that its parent waits for and that ends with its result.
    pub fn blocking(agent: Name) -> Self {
        Self {
            agent,
            alias: None,
            description: None,
            hidden: false,
            optional: None,
            immediate: None,
            scoped_env: Vec::new(),
            blocking: true,
            message_property: None,
            attachments_property: None,
            name_property: None,
            resumable: None,
        }
    }

    /// The name by which the parent's model knows it.
    pub fn name(&self) -> &Name {
        self.alias.as_ref().unwrap_or(&self.agent)
    }

    /// The variables that it is given without any model's knowledge.
    pub fn handed_on(&self) -> impl Iterator<Item = &str> {
        let told = self.immediate.iter().flat_map(|immediate| [&immediate.name_env, &immediate.description_env]);
        let told: Vec<&str> = told.flatten().map(String::as_str).collect();
        self.scoped_env.iter().map(String::as_str).filter(move |name| !told.contains(name))
    }
}

/// Where an immediate child's name and first message come from, beside what the parent's model says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Immediate {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_env: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description_env: Option<String>,
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
