//! A one-sided agent as any format declares it: what it says, under which key, and where.
//!
//! Every format but Standard Agents is read into this, checked from this, and written from this. Since each field
//! remembers the key it was read from, whoever writes another format can name what it had to leave out.

use crate::format::Format;
use crate::tree::{At, Spot};
use entourage_model::{Name, WorkspaceWish};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What one key of a declaration says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said<T> {
    /// As the declaration spells it; nested as `a.b`.
    pub(crate) key: String,
    pub(crate) spot: Spot,
    pub(crate) value: T,
}

impl<T> Said<T> {
    /// The same key, with what its value means.
    pub(crate) fn map<U>(self, meaning: impl FnOnce(T) -> U) -> Said<U> {
        Said { key: self.key, spot: self.spot, value: meaning(self.value) }
    }
}

/// A model as a declaration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelWish {
    /// Whatever the caller, or the project, uses.
    Inherit,
    /// A model of a provider that we know.
    Named { provider: String, model: String },
    /// A word that only the declaration's own harness can resolve, such as `sonnet` or `fast`.
    Word(String),
}

/// What an MCP server is started or reached by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Server {
    /// One that is configured elsewhere under this name.
    Known,
    Command {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        secrets: Vec<ServerSecret>,
        rest: Map<String, Value>,
    },
    Url {
        url: String,
        headers: BTreeMap<String, String>,
        rest: Map<String, Value>,
    },
}

impl Server {
    /// What its entry says beyond how it is started or reached.
    pub(crate) fn rest(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Known => None,
            Self::Command { rest, .. } | Self::Url { rest, .. } => Some(rest),
        }
    }
}

/// A secret that a server wants to find in a variable. Only who runs the server has its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerSecret {
    pub(crate) key: String,
    pub(crate) variable: String,
    pub(crate) required: bool,
}

/// Whether a parent calls the agent only when it is asked to, when the work fits, or of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    Manual,
    Delegate,
    Automatic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnMode {
    Report,
    Patch,
    Continue,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handoff {
    /// Who may call it; `primary` is the bundle's root. Absent: anybody.
    pub(crate) allowed_from: Option<Vec<String>>,
    pub(crate) return_mode: Option<ReturnMode>,
}

/// A declaration of one agent with one side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solo {
    pub(crate) format: Format,
    /// The prompt.
    pub(crate) body: String,
    pub(crate) description: Option<Said<String>>,
    /// The name shown to people, where it is not the agent's own.
    pub(crate) title: Option<Said<String>>,
    pub(crate) model: Option<Said<ModelWish>>,
    /// Asked in this order when the model cannot answer.
    pub(crate) fallbacks: Option<Said<Vec<ModelWish>>>,
    pub(crate) effort: Option<Said<String>>,
    pub(crate) temperature: Option<Said<f64>>,
    pub(crate) top_p: Option<Said<f64>>,
    pub(crate) steps_max: Option<Said<u32>>,
    pub(crate) seconds_max: Option<Said<u64>>,
    /// The only tools that it may use, by whatever name the declaration has for them. Absent: all.
    pub(crate) tools: Option<Said<Vec<At<String>>>>,
    pub(crate) denied_tools: Option<Said<Vec<At<String>>>>,
    /// May look, but change nothing.
    pub(crate) read_only: Option<Said<bool>>,
    pub(crate) servers: Option<Said<BTreeMap<String, Server>>>,
    /// The agents that it may start. Absent: the format does not say.
    pub(crate) children: Option<Said<Vec<At<Name>>>>,
    pub(crate) skills: Option<Said<Vec<String>>>,
    pub(crate) workspace: Option<Said<WorkspaceWish>>,
    /// Where it names the folder that defines it, which is read and judged elsewhere.
    pub(crate) folder_spot: Option<Spot>,
    /// Where it runs, if not here.
    pub(crate) url: Option<Said<String>>,
    pub(crate) headers: Option<Said<BTreeMap<String, String>>>,
    pub(crate) invocation: Option<Said<Invocation>>,
    pub(crate) handoff: Option<Said<Handoff>>,
    /// Its caller does not wait for it.
    pub(crate) background: Option<Said<bool>>,
    /// Not offered to people.
    pub(crate) hidden: Option<Said<bool>>,
    pub(crate) color: Option<Said<String>>,
    /// The first message, said by the agent's own declaration.
    pub(crate) opening: Option<Said<String>>,
    /// What a caller must get back: a JSON Schema.
    pub(crate) result_schema: Option<Said<Value>>,
    pub(crate) tags: Option<Said<Vec<String>>>,
    pub(crate) metadata: Option<Said<BTreeMap<String, String>>>,
    /// What no other format has a word for, key by key; unknown keys too.
    pub(crate) rest: Vec<Said<Value>>,
    /// All keys with their values as they were read, so that the same format can be written back as it was.
    pub(crate) verbatim: Map<String, Value>,
}

impl Solo {
    /// One that says nothing but its prompt.
    pub(crate) fn new(format: Format, body: impl Into<String>) -> Self {
        Self {
            format,
            body: body.into(),
            description: None,
            title: None,
            model: None,
            fallbacks: None,
            effort: None,
            temperature: None,
            top_p: None,
            steps_max: None,
            seconds_max: None,
            tools: None,
            denied_tools: None,
            read_only: None,
            servers: None,
            children: None,
            skills: None,
            workspace: None,
            folder_spot: None,
            url: None,
            headers: None,
            invocation: None,
            handoff: None,
            background: None,
            hidden: None,
            color: None,
            opening: None,
            result_schema: None,
            tags: None,
            metadata: None,
            rest: Vec::new(),
            verbatim: Map::new(),
        }
    }

    /// Takes the wish to change files without asking, which two harnesses have: no other has a word for it.
    pub(crate) fn take_free_edits(&mut self) -> bool {
        let words =
            [(Format::ClaudeCode, "permissionMode", "acceptEdits"), (Format::Codex, "sandbox_mode", "workspace-write")];
        let says_so = |said: &Said<Value>| {
            words.iter().any(|(format, key, word)| self.format == *format && said.key == *key && said.value == *word)
        };
        let found = self.rest.iter().position(says_so);
        found.map(|at| self.rest.remove(at)).is_some()
    }

    /// The keys that its fields were read from, those of `rest` aside.
    pub(crate) fn keys(&self) -> BTreeSet<&str> {
        fn key<T>(said: &Option<Said<T>>) -> Option<&str> {
            said.as_ref().map(|said| said.key.as_str())
        }
        let Self {
            format: _,
            body: _,
            description,
            title,
            model,
            fallbacks,
            effort,
            temperature,
            top_p,
            steps_max,
            seconds_max,
            tools,
            denied_tools,
            read_only,
            servers,
            children,
            skills,
            workspace,
            folder_spot: _,
            url,
            headers,
            invocation,
            handoff,
            background,
            hidden,
            color,
            opening,
            result_schema,
            tags,
            metadata,
            rest: _,
            verbatim: _,
        } = self;
        let who = [key(description), key(title), key(color), key(tags), key(metadata), key(hidden), key(opening)];
        let model = [key(model), key(fallbacks), key(effort), key(temperature), key(top_p)];
        let may = [key(tools), key(denied_tools), key(read_only), key(servers), key(children), key(skills)];
        let run = [key(steps_max), key(seconds_max), key(workspace), key(url), key(headers), key(background)];
        let called = [key(invocation), key(handoff), key(result_schema)];
        [who.as_slice(), &model, &may, &run, &called].into_iter().flatten().copied().flatten().collect()
    }
}
