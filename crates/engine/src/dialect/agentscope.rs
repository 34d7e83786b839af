//! The `agentscope` dialect: three tools for subagents, three for the tasks that they work on.

mod answer;
mod system;
mod tool;

pub use answer::{Seen, output};
pub(crate) use answer::{accepted, answer, news, released};
pub(crate) use system::{prompt, system};
pub(crate) use tool::tools;

use super::{Dowry, Look, Note, Order, Patience, Refusal, STANDARD, Wish, defined, shared_tools};
use crate::offer::World;
use crate::state::{Child, Delegated, ThreadState};
use answer::{agent_id, agent_key, task};
use entourage_model::{
    Agent, ChildEntry, Communication, Dialect, Kind, Name, Prompt, Resumable, RunId, RunStatus, Side, ToolCall,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) const SPAWN: &str = "agent_spawn";
pub(crate) const SEND: &str = "agent_send";
pub(crate) const LIST: &str = "agent_list";
pub(crate) const OUTPUT: &str = "task_output";
pub(crate) const CANCEL: &str = "task_cancel";
pub(crate) const TASKS: &str = "task_list";

/// How long a call waits when it does not say, and at most.
const SECONDS: u64 = 30;
const SECONDS_MAX: u64 = 600;
const MILLIS: u64 = 30_000;
const MILLIS_MAX: u64 = 600_000;

/// The format whose agents this dialect is for, and one whose agents have a dialect of their own.
const FORMAT: &str = "agentscope";
const DEX: &str = "dex";
const GENERAL_PURPOSE: &str = "general-purpose";

/// The agents that a thread may start, by the ids that its model knows.
pub(crate) fn cast<'a>(world: &World<'a>) -> Vec<(&'a str, &'a Arc<Agent>)> {
    let starts = |agent: &Agent| match agent.source.format.as_str() {
        DEX => false,
        STANDARD => agent.expose_as_tool && agent.kind == Kind::DualAi,
        _ => !agent.unlisted,
    };
    let agents = world.team.agents.iter().filter(|(_, agent)| starts(agent));
    let mut cast: Vec<_> = agents.map(|(name, agent)| (id(name), agent)).collect();
    // Where an agent of another format has the plain name, the dialect sees its own.
    cast.sort_by_key(|(id, agent)| (*id, agent.source.format != FORMAT));
    cast.dedup_by_key(|(id, _)| *id);
    cast
}

/// Whether this is the built-in agent that works as its caller does.
fn is_mirror(agent: &Agent) -> bool {
    agent.source.file.is_none() && agent.source.format == FORMAT && id(&agent.name) == GENERAL_PURPOSE
}

/// The id that an agent has in this dialect, whatever the team had to call it.
pub fn id(name: &Name) -> &str {
    name.plain()
}

/// The tasks of a thread, oldest first: runs in the background, from the start or since a call gave up waiting.
pub fn tasks_of(state: &ThreadState) -> impl Iterator<Item = (&RunId, &Delegated)> {
    asked_of(state).filter(|(_, known)| known.background)
}

/// The same with what calls wait for.
fn asked_of(state: &ThreadState) -> impl Iterator<Item = (&RunId, &Delegated)> {
    state.delegated.iter().filter(|(_, known)| known.dialect == Dialect::AgentScope)
}

/// Whether the call only looks at a task.
pub(crate) fn is_look(call: &ToolCall) -> bool {
    call.name.as_str() == OUTPUT
}

/// Whether the thread lies too deep to have children.
fn is_too_deep(world: &World<'_>, state: &ThreadState) -> bool {
    state.started.depth >= world.limits.depth
}

/// What the call wants, where it is one of this dialect.
pub(crate) fn interpret<'a>(
    world: &World<'_>,
    state: &ThreadState,
    prompt: &Prompt,
    call: &ToolCall,
) -> Option<Result<Wish<'a>, Refusal>> {
    let scene = Scene { world, state, prompt };
    let means = match call.name.as_str() {
        SPAWN => Scene::spawn,
        SEND => Scene::send,
        LIST => Scene::list,
        OUTPUT => Scene::output,
        CANCEL => Scene::cancel,
        TASKS => Scene::tasks,
        _ => return None,
    };
    Some(Arguments::parse(&call.arguments).and_then(|given| means(&scene, &given)))
}

/// The folders that define the agents which these calls start.
pub(crate) fn definition_folders(world: &World<'_>, calls: &[&ToolCall]) -> Vec<String> {
    let spawns = calls.iter().filter(|call| call.name.as_str() == SPAWN);
    let ids: Vec<String> =
        spawns.filter_map(|call| Arguments::parse(&call.arguments).ok()?.text("agent_id").ok()?).collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let named = cast(world).into_iter().filter(|(id, _)| ids.iter().any(|wanted| wanted == id));
    named.filter_map(|(_, agent)| agent.workspace.as_ref()?.path.clone()).collect()
}

/// Where a call is made.
struct Scene<'c> {
    world: &'c World<'c>,
    state: &'c ThreadState,
    prompt: &'c Prompt,
}

impl Scene<'_> {
    fn spawn<'a>(&self, given: &Arguments) -> Result<Wish<'a>, Refusal> {
        if is_too_deep(self.world, self.state) {
            let max = self.world.limits.depth;
            return Err(error(format_args!("the spawn depth is exceeded (max={max}); do this work yourself")));
        }
        let wanted = given.needed("agent_id")?;
        let cast = cast(self.world);
        let Some((id, agent)) = cast.iter().find(|(id, _)| *id == wanted) else {
            let known: Vec<_> = cast.iter().map(|(id, _)| *id).collect();
            return Err(error(format_args!("unknown agent_id `{wanted}`; available: {}", known.join(", "))));
        };
        let label = given.text("label")?;
        if let Some(label) = label.as_deref().filter(|label| self.labelled(label).is_some()) {
            return Err(error(format_args!(
                "the label `{label}` is already in use; choose another one, or use {SEND}"
            )));
        }
        let message = given.words("task")?;
        let patience = if message.is_some() { given.patience()? } else { Patience::Unasked };
        let entry = ChildEntry {
            alias: (agent.name.as_str() != *id).then(|| Name::from(*id)),
            blocking: false,
            resumable: Some(Resumable {
                receives: Side::A,
                instances_max: None,
                communication: Communication::Implicit,
            }),
            ..ChildEntry::blocking(agent.name.clone())
        };
        Ok(Wish::Spawn(Order {
            entry: Cow::Owned(entry),
            dialect: Dialect::AgentScope,
            message,
            name: label,
            attachments: Vec::new(),
            arguments: None,
            patience,
            dowry: self.dowry(agent),
        }))
    }

    /// What the child inherits: the caller's tools, of which its own list is a part, and its model.
    fn dowry(&self, agent: &Agent) -> Dowry {
        let own = &agent.side_a.prompt;
        let inherits = agent.source.format != STANDARD;
        let given = self.state.started.models.iter().filter(|_| self.prompt.model.is_none());
        let models = self.prompt.model.iter().chain(given).chain(&self.prompt.fallbacks);
        // What the project says is said to who works there.
        let is_away = is_mirror(agent) && self.state.folder(self.world.team).is_some();
        Dowry {
            instructions: if is_away { Some("".into()) } else { defined(self.world, agent) },
            tools: shared_tools(self.state, self.prompt, agent),
            models: models.filter(|_| inherits && own.model.is_none()).cloned().collect(),
            denied: self.prompt.denied_tools.iter().filter(|_| inherits).cloned().collect(),
            mirrors: is_mirror(agent).then(|| self.state.agent.clone()),
        }
    }

    fn send<'a>(&self, given: &Arguments) -> Result<Wish<'a>, Refusal> {
        let child = match (given.text("agent_key")?, given.text("label")?) {
            (Some(_), Some(_)) => return Err(error("give either agent_key or label, not both")),
            (None, None) => return Err(error("agent_key or label is needed")),
            (Some(key), None) => {
                let found = self.children().find(|child| agent_key(&child.link) == key);
                found.ok_or_else(|| error(format_args!("unknown agent_key `{key}`; {LIST} shows the active ones")))?
            }
            (None, Some(label)) => {
                let found = self.labelled(&label);
                found
                    .ok_or_else(|| error(format_args!("unknown label `{label}`; {LIST} shows the active subagents")))?
            }
        };
        let message = given.words("message")?.ok_or_else(|| blank("message"))?;
        if child.terminated {
            return Err(error(format_args!("the subagent `{}` was terminated", agent_key(&child.link))));
        }
        let (child, attachments) = (child.link.thread, Vec::new());
        Ok(Wish::Send(Note { child, message, attachments, patience: given.patience()? }))
    }

    fn children(&self) -> impl Iterator<Item = &Child> {
        self.state.children.values().filter(|child| child.link.dialect == Dialect::AgentScope)
    }

    /// Labels are told apart without regard to case, and never free again.
    fn labelled(&self, label: &str) -> Option<&Child> {
        let label = label.to_lowercase();
        let is = |child: &&Child| child.link.given_name.as_ref().is_some_and(|name| name.to_lowercase() == label);
        self.children().find(is)
    }

    fn list<'a>(&self, _: &Arguments) -> Result<Wish<'a>, Refusal> {
        let active: Vec<_> = self.children().filter(|child| !child.terminated).collect();
        if active.is_empty() {
            return Ok(Wish::Answer("No subagents are active.".to_owned()));
        }
        let mut text = format!("{} active subagent(s):", active.len());
        for child in active {
            text += &format!("\n- agent_key: {}\n  agent_id: {}", agent_key(&child.link), agent_id(&child.link));
            text += &child.link.given_name.as_ref().map(|label| format!("\n  label: {label}")).unwrap_or_default();
            text += &format!("\n  spawn_depth: {}\n  status: {}", self.state.started.depth + 1, child.status);
        }
        Ok(Wish::Answer(text))
    }

    fn output<'a>(&self, given: &Arguments) -> Result<Wish<'a>, Refusal> {
        let run = RunId::from(given.needed("task_id")?);
        let block = given.flag("block")?.unwrap_or(true);
        let millis = given.number("timeout")?.map_or(MILLIS, |millis| u64::try_from(millis).unwrap_or(0));
        let from = given.number("offset")?.map_or(0, |from| usize::try_from(from).unwrap_or(0));
        let known = self.state.delegated.get(&run);
        if known.is_some_and(|known| known.dialect != Dialect::AgentScope) {
            return Err(error(format_args!("unknown task_id `{run}`; {TASKS} shows all of them")));
        }
        let Some(delegated) = known.filter(|_| self.is_live(&run)) else {
            return Ok(Wish::Look(Look::Output { run, from }));
        };
        if block {
            let seconds = Value::from(millis.min(MILLIS_MAX)).as_f64().unwrap_or(0.0) / 1000.0;
            return Ok(Wish::Await { run, seconds });
        }
        Ok(Wish::Answer(task::live(&run, delegated, self.world.is_driven(self.state))))
    }

    /// Whether the run's ending has not reached this thread.
    fn is_live(&self, run: &RunId) -> bool {
        let child = self.state.delegated.get(run).and_then(|known| self.state.children.get(&known.child));
        child.is_some_and(|child| child.runs.iter().any(|(known, _)| known == run))
    }

    fn cancel<'a>(&self, given: &Arguments) -> Result<Wish<'a>, Refusal> {
        let run = RunId::from(given.needed("task_id")?);
        let Some(delegated) = self.state.delegated.get(&run).filter(|known| known.dialect == Dialect::AgentScope)
        else {
            return Err(error(format_args!("unknown task_id `{run}`; {TASKS} shows all of them")));
        };
        if delegated.status.is_terminal() {
            return Ok(Wish::Answer(task::cannot_cancel(&run, delegated.status)));
        }
        let answer = task::cancelled(&run);
        Ok(Wish::Cancel { run, answer })
    }

    fn tasks<'a>(&self, given: &Arguments) -> Result<Wish<'a>, Refusal> {
        let word = given.text("status_filter")?.unwrap_or_default().to_lowercase();
        // A word that nobody knows filters nothing.
        let wanted = RunStatus::ALL.into_iter().find(|status| task::word(*status) == word);
        Ok(Wish::Answer(task::listed(self.state, wanted, self.world.is_driven(self.state))))
    }
}

/// A refusal as this dialect says it.
fn error(text: impl std::fmt::Display) -> Refusal {
    Refusal::Plain(format!("Error: {text}"))
}

fn blank(name: &str) -> Refusal {
    error(format_args!("{name} is needed and must be a text that is not blank"))
}

/// What a call was given.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn parse(text: &str) -> Result<Self, Refusal> {
        match serde_json::from_str(if text.trim().is_empty() { "{}" } else { text }) {
            Ok(Value::Object(given)) => Ok(Self(given)),
            Ok(_) => Err(error("the arguments must be a JSON object")),
            Err(fault) => Err(error(format_args!("the arguments are not valid JSON: {fault}"))),
        }
    }

    /// A text that is not blank, exactly as it was written. A blank one is as good as none.
    fn words(&self, name: &str) -> Result<Option<String>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(error(format_args!("{name} must be a text"))),
        }
    }

    /// An id or a label: space around it means nothing.
    fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        Ok(self.words(name)?.map(|text| text.trim().to_owned()))
    }

    fn needed(&self, name: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| blank(name))
    }

    /// Models now and then write numbers as texts.
    fn number(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let read = |value: &Value| match value {
            Value::Number(number) => number.as_i64().or_else(|| Some(number.as_f64()?.trunc() as i64)),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| error(format_args!("{name} must be a whole number"))),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(error(format_args!("{name} must be true or false"))),
        }
    }

    fn patience(&self) -> Result<Patience, Refusal> {
        let Some(seconds) = self.number("timeout_seconds")? else { return Ok(Patience::Seconds(SECONDS)) };
        Ok(match u64::try_from(seconds) {
            Err(_) | Ok(0) => Patience::None,
            Ok(seconds) => Patience::Seconds(seconds.min(SECONDS_MAX)),
        })
    }
}
