//! A team as text, and the thread that a test is about.
//!
//! One line per agent: `boss tools=look,pay children=writer,scout&`, `pair dual turns=4 a.session_stop=finish.summary`.
//! A key without `a.` or `b.` holds for both sides; a binding is `TOOL[.PROPERTY of the message[.PROPERTY of the files]]`.
//! `script/entry.rs` has what is said of children and handoffs. A child that no line declares is a plain `dual` one.
//! `temperature=0.5` and `top_p=1` are given to the model; `url=URL` makes an agent that another server runs.
//! `says=A,B` ends the prompt with these variables; `env=A:1,B:2` and `prompt_env=A:1` set some; `needs=A` declares scoped
//! ones that must be there; `schema=A,B` wants these texts as arguments.
//! `tool NAME [secret=A] [scoped=B] [uses=C]` is a tool of the team itself, with the variables that it declares.
//! `driven` has no model: somebody outside makes its calls. `dialects=agentscope` lets an agent start others; `format=agentscope`, `folder=PATH`, `unlisted` and `exposed` say what it
//! is to them. `definition PATH TEXT` is what the folder holds. `model=a:b` names a model.
//! `hook NAME EVENT DEED` is a hook, as `script/hook.rs` has them; `agent_hooks=A,B` are an agent's, `hooks=A` its prompts',
//! `first_parent_hooks=A` and `parent_hooks=A` those that it brings for its parent.
//! `everybody A=1` and `user NAME A=1` are settings.
//! `files /a.txt /b.txt` lie in the thread.
//! `limits depth=1 children_live=2 left=3 steps=4 session_turns=5 run_seconds=6 variables_seconds=7 queue_messages=8
//! message_bytes=9 tool_output_bytes=10`: `left` is the room in the tree.
//! `thread NAME [child] [resumable] [receives=b] [depth=N] [of=USER] [dialect=NAME] [mirrors=AGENT]`: by default the first agent, as a root.

use crate::{entry, hook};
use entourage_engine::{World, hears_birth};
use entourage_model::{
    Agent, Binding, Dialect, Digest, EffectClass, FileRow, HookStage, Ids, Instructions, Kind, Limits, ModelRef, Name,
    ParentHook, Part, Program, Prompt, Remote, Sampling, ScriptTool, Secret, Side, SideConfig, Source, Started, Team,
    ThreadId, Timestamp, ToolEntry, ToolSpec, Variable, Variables, Vault, WorkspaceWish,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every tool there is. The names of the later ones are those that agents use for bindings and stops.
const TOOLS: [(&str, EffectClass); 10] = [
    ("look", EffectClass::Pure),
    ("find", EffectClass::Pure),
    ("put", EffectClass::Idempotent),
    ("pay", EffectClass::AtMostOnce),
    ("ship", EffectClass::AtMostOnce),
    ("finish", EffectClass::Pure),
    ("give_up", EffectClass::Pure),
    ("approve", EffectClass::Pure),
    ("report", EffectClass::Pure),
    ("hand_over", EffectClass::Pure),
];

/// Everything that a decision may look at, and how the thread came to be.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) team: Team,
    pub(crate) tools: BTreeMap<Name, Arc<ToolSpec>>,
    pub(crate) variables: Variables,
    pub(crate) limits: Limits,
    pub(crate) files: BTreeMap<String, FileRow>,
    pub(crate) definitions: BTreeMap<String, Arc<str>>,
    pub(crate) tree_left: u32,
    /// When the process came that works on the thread now.
    pub(crate) since: Timestamp,
    pub(crate) started: Started,
}

impl Setup {
    pub(crate) fn read(text: &str) -> Self {
        let mut setup = Self {
            team: Team::default(),
            tools: TOOLS.iter().map(|(name, class)| (Name::from(*name), tool(name, *class))).collect(),
            variables: Variables::default(),
            limits: Limits::default(),
            files: BTreeMap::new(),
            definitions: BTreeMap::new(),
            tree_left: 200,
            since: Timestamp(0),
            started: started("nobody"),
        };
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        for words in lines.iter().filter(|words| !words.is_empty()) {
            match words[0] {
                "thread" => setup.read_thread(&words[1..]),
                "limits" => setup.read_limits(&words[1..]),
                "tool" => setup.read_tool(words[1], &words[2..]),
                "hook" => {
                    let hook = hook::hook(words[2], &words[3..].join(" "));
                    setup.team.hooks.insert(words[1].into(), Arc::new(hook));
                }
                "files" => setup.files.extend(words[1..].iter().map(|path| ((*path).to_owned(), file(path)))),
                "definition" => {
                    setup.definitions.insert(words[1].to_owned(), words[2..].join(" ").into());
                }
                "everybody" => setup.variables.instance.extend(words[1..].iter().map(|word| setting(word))),
                "user" => {
                    let own = words[2..].iter().map(|word| setting(word)).collect();
                    setup.variables.users.insert(words[1].to_owned(), own);
                }
                name => setup.read_agent(name, &words[1..]),
            }
        }
        setup.hire_children();
        let first = setup.started.receives.unwrap_or(Side::A);
        (setup.started.hooked, _) = hears_birth(&setup.team, &setup.started.agent, first);
        setup
    }

    pub(crate) fn world(&self) -> World<'_> {
        World {
            team: &self.team,
            tools: &self.tools,
            served: &entourage_model::Unserved,
            variables: &self.variables,
            vault: &Glass,
            limits: &self.limits,
            files: &self.files,
            definitions: &self.definitions,
            echoes: &[],
            tree_left: self.tree_left,
            since: self.since,
        }
    }

    fn read_agent(&mut self, name: &str, words: &[&str]) {
        if self.started.agent.as_str() == "nobody" {
            self.started = started(name);
        }
        let agent = agent(name, words);
        self.team.agents.insert(agent.name.clone(), Arc::new(agent));
    }

    fn read_thread(&mut self, words: &[&str]) {
        self.started = started(words[0]);
        if words.contains(&"child") {
            self.started.parent = Some(parent());
            self.started.root = parent();
            self.started.depth = 1;
        }
        self.started.resumable = words.contains(&"resumable");
        self.started.receives = value(words, "receives").map(side_named);
        self.started.user_id = value(words, "of").map(str::to_owned);
        self.started.dialect = value(words, "dialect").map(dialect_named);
        self.started.mirrors = value(words, "mirrors").map(Name::from);
        if let Some(depth) = value(words, "depth") {
            self.started.depth = number(depth);
        }
    }

    fn read_tool(&mut self, name: &str, words: &[&str]) {
        let list = |key| value(words, key).into_iter().flat_map(|names| names.split(','));
        let declared = |(name, secret): (&str, bool)| Variable { secret, scoped: !secret, ..variable(name) };
        let tool = ScriptTool {
            spec: tool(name, EffectClass::AtMostOnce),
            program: Arc::new(Program { entry: String::new(), modules: BTreeMap::new() }),
            variables: list("secret")
                .map(|n| (n, true))
                .chain(list("scoped").map(|n| (n, false)))
                .map(declared)
                .collect(),
            uses: list("uses").map(Name::from).collect(),
            source: Source { format: "standard-agents".to_owned(), file: None },
        };
        self.team.tools.insert(name.into(), Arc::new(tool));
    }

    fn read_limits(&mut self, words: &[&str]) {
        let set = |limit: &mut u32, key| *limit = value(words, key).map_or(*limit, number);
        set(&mut self.limits.depth, "depth");
        set(&mut self.limits.children_live, "children_live");
        set(&mut self.limits.steps, "steps");
        set(&mut self.limits.session_turns, "session_turns");
        set(&mut self.limits.queue_messages, "queue_messages");
        set(&mut self.tree_left, "left");
        let set = |limit: &mut u64, key| *limit = value(words, key).map_or(*limit, |text| number(text).into());
        set(&mut self.limits.run_seconds, "run_seconds");
        set(&mut self.limits.variables_seconds, "variables_seconds");
        let bytes = |key| value(words, key).map(|text| text.parse().expect("a number"));
        self.limits.tool_output_bytes = bytes("tool_output_bytes").unwrap_or(self.limits.tool_output_bytes);
        self.limits.message_bytes = bytes("message_bytes").unwrap_or(self.limits.message_bytes);
    }

    /// Makes an agent of every child that is named and not declared.
    fn hire_children(&mut self) {
        let prompts = self.team.agents.values().flat_map(|agent| agent.prompts());
        let named: Vec<Name> = prompts.flat_map(|prompt| prompt.children().map(|child| child.agent.clone())).collect();
        for name in named {
            self.team.agents.entry(name.clone()).or_insert_with(|| Arc::new(agent(name.as_str(), &["dual"])));
        }
    }
}

/// A vault that hides nothing: what it opens is what was put in, turned around.
#[derive(Debug)]
struct Glass;

impl Vault for Glass {
    fn open(&self, sealed: &str) -> Option<String> {
        Some(sealed.chars().rev().collect())
    }
}

/// The thread itself.
pub(crate) fn this_thread() -> ThreadId {
    Ids::new(Timestamp(0), 1).thread()
}

/// The thread above it, where it is a child.
pub(crate) fn parent() -> ThreadId {
    Ids::new(Timestamp(0), 2).thread()
}

fn started(agent: &str) -> Started {
    Started::root(this_thread(), agent.into(), Digest::of(b"team"), Timestamp(0))
}

fn tool(name: &str, class: EffectClass) -> Arc<ToolSpec> {
    let parameters = Arc::new(serde_json::json!({"type": "object"}));
    Arc::new(ToolSpec { name: name.into(), description: format!("Does {name}."), parameters, class })
}

fn agent(name: &str, words: &[&str]) -> Agent {
    let kind = if words.contains(&"dual") { Kind::DualAi } else { Kind::AiHuman };
    let side_a = side(name, "a", words);
    let format = value(words, "format").unwrap_or("standard-agents");
    let source = Source { format: format.to_owned(), file: None };
    let prompt = side_a.prompt.clone();
    Agent {
        kind,
        side_a,
        side_b: (kind == Kind::DualAi).then(|| side(name, "b", words)),
        hooks: names(value(words, "agent_hooks")),
        parent_hooks: parent_hooks(words),
        session_turns_max: value(words, "turns").map(number),
        env: pairs(value(words, "env")),
        dialects: value(words, "dialects").into_iter().flat_map(|names| names.split(',')).map(dialect_named).collect(),
        workspace: value(words, "folder")
            .map(|path| WorkspaceWish { path: Some(path.to_owned()), ..Default::default() }),
        unlisted: words.contains(&"unlisted"),
        driven: words.contains(&"driven"),
        expose_as_tool: words.contains(&"exposed"),
        remote: value(words, "url").map(|url| Remote { url: url.to_owned(), headers: BTreeMap::new() }),
        ..Agent::one_sided(name.into(), format!("Good at {name}."), prompt, source)
    }
}

fn side(agent: &str, side: &str, words: &[&str]) -> SideConfig {
    let own = |key: &str| value(words, &format!("{side}.{key}")).or_else(|| value(words, key));
    let (stop_tool, property) = own("stop_tool").map(dotted).unzip();
    SideConfig {
        prompt: prompt(agent, side, &own),
        label: None,
        stop_on_response: own("on_text") != Some("go_on"),
        stop_tool: stop_tool.map(Name::from),
        stop_tool_response_property: property.flatten(),
        steps_max: own("steps").map(number),
        session_stop: own("session_stop").map(binding),
        session_fail: own("session_fail").map(binding),
        session_status: own("session_status").map(binding),
    }
}

fn prompt<'a>(agent: &str, side: &str, own: &impl Fn(&str) -> Option<&'a str>) -> Prompt {
    let list = |key| own(key).into_iter().flat_map(|names| names.split(','));
    let tools = list("tools").map(|name| ToolEntry::Tool(name.into()));
    let said = list("says").flat_map(|name| [Part::Text(" ".into()), Part::Env(name.to_owned())]);
    let instructions = [Part::Text(format!("You are {agent}/{side}.").into())].into_iter().chain(said).collect();
    Prompt {
        include_chat: own("chat") != Some("no"),
        include_past_tools: own("past_tools") != Some("no"),
        tools: tools.chain(entry::entries(own)).collect(),
        hooks: names(own("hooks")),
        env: pairs(own("prompt_env")),
        variables: list("needs").map(|name| Variable { scoped: true, required: true, ..variable(name) }).collect(),
        required_schema: own("schema").map(|_| schema(list("schema"))),
        model: own("model").and_then(ModelRef::parse),
        sampling: Sampling { temperature: own("temperature").map(decimal), top_p: own("top_p").map(decimal) },
        ..Prompt::new(agent.into(), Instructions(instructions))
    }
}

fn names(list: Option<&str>) -> Vec<Name> {
    list.into_iter().flat_map(|names| names.split(',')).map(Name::from).collect()
}

fn parent_hooks(words: &[&str]) -> Vec<ParentHook> {
    let brought = |key, stage| names(value(words, key)).into_iter().map(move |hook| ParentHook { hook, stage });
    let early = brought("first_parent_hooks", HookStage::BeforeParent);
    early.chain(brought("parent_hooks", HookStage::AfterParent)).collect()
}

/// An object that must have these texts.
fn schema<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    let names: Vec<&str> = names.collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "required": names})
}

fn variable(name: &str) -> Variable {
    Variable { name: name.to_owned(), secret: false, required: false, scoped: false, description: None }
}

/// A file of one byte.
pub(crate) fn file(path: &str) -> FileRow {
    FileRow {
        path: path.to_owned(),
        digest: Digest::of(b"content"),
        size: 1,
        mime_type: "text/plain".to_owned(),
        created_at: Timestamp(0),
    }
}

fn binding(text: &str) -> Binding {
    let (tool, properties) = dotted(text);
    let (message, files) = properties.as_deref().map(dotted).unzip();
    let message_property = message.filter(|message| !message.is_empty()).map(str::to_owned);
    Binding { tool: tool.into(), message_property, attachments_property: files.flatten() }
}

fn dotted(text: &str) -> (&str, Option<String>) {
    text.split_once('.').map_or((text, None), |(tool, property)| (tool, Some(property.to_owned())))
}

/// `A:1,B:2`.
fn pairs(text: Option<&str>) -> BTreeMap<String, String> {
    let pair = |text: &str| text.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.into_iter().flat_map(|text| text.split(',')).map(|text| pair(text).expect("NAME:VALUE")).collect()
}

/// `A=1`.
fn setting(text: &str) -> (String, Secret) {
    let (name, value) = text.split_once('=').expect("NAME=VALUE");
    (name.to_owned(), Secret::new(value))
}

fn value<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

pub(crate) fn side_named(text: &str) -> Side {
    if text == "b" { Side::B } else { Side::A }
}

fn dialect_named(text: &str) -> Dialect {
    serde_json::from_value(text.into()).expect("a dialect")
}

fn decimal(text: &str) -> f64 {
    text.parse().expect("a number")
}

pub(crate) fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}
