//! The door between a running tool and its thread: what `state` asks for in the script is answered here.
//!
//! `entourage:state` in the script crate has the protocol.

use super::super::Place;
use super::desk::Desk;
use super::file::own_key;
use crate::runtime::Inner;
use async_trait::async_trait;
use entourage_engine::{ThreadState, World, variables_for_tool};
use entourage_model::{
    Act, Digest, Ending, Fact, Ids, MessageId, ModelRef, Name, Outcome, Prompt, ScriptTool, Started, StopSession, Team,
    ThreadId, VariableValue,
};
use entourage_outside::tool::Door;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a session that a tool stops without a word is taken to have said.
const STOPPED: &str = "Session stopped.";

/// What is kept of the things that one call did through others.
const FACTS_MAX: usize = 1000;

/// Whose code runs.
#[derive(Clone, Debug)]
pub(super) enum Runner {
    Tool(Arc<ScriptTool>),
    Hook(Name),
}

impl Runner {
    pub(super) fn name(&self) -> &Name {
        match self {
            Self::Tool(tool) => &tool.spec.name,
            Self::Hook(name) => name,
        }
    }

    /// What it says that it calls. Whoever says nothing may call what its thread may.
    fn uses(&self) -> &[Name] {
        match self {
            Self::Tool(tool) => &tool.uses,
            Self::Hook(_) => &[],
        }
    }
}

/// One call's way to its thread. It lives as long as the call.
pub(super) struct ThreadDoor {
    pub(super) inner: Arc<Inner>,
    pub(super) place: Place,
    pub(super) team: Arc<Team>,
    pub(super) runner: Runner,
    /// The prompt that was called as a tool and has called this one; nothing where the acting side has.
    pub(super) subprompt: Option<Name>,
    /// It is that of a hook, or of a call inside one.
    pub(super) is_hook: bool,
    /// Of the call, and of none inside it.
    pub(super) key: String,
    /// How many calls this one is inside of.
    pub(super) depth: usize,
    /// Nobody holds it across an `await`.
    desk: Mutex<Desk>,
    /// What the runtime saw tools do that were called from here, and from calls inside this one. It happened, whatever
    /// becomes of the call.
    witnessed: Arc<Mutex<Vec<Fact>>>,
}

impl fmt::Debug for ThreadDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadDoor").field("thread", &self.place.thread).field("key", &self.key).finish_non_exhaustive()
    }
}

#[async_trait]
impl Door for ThreadDoor {
    fn facts(&self) -> Value {
        let desk = self.desk();
        let started = &desk.state.started;
        let prompts = || self.prompts();
        let models: BTreeSet<&str> = prompts().flat_map(models).map(ModelRef::as_str).collect();
        json!({
            "threadId": started.thread,
            "agentId": desk.state.agent,
            "userId": started.user_id,
            "createdAt": started.at,
            "terminated": desk.state.terminated,
            "status": desk.state.status(),
            "children": desk.state.registry().collect::<Vec<_>>(),
            "arguments": arguments_of(started),
            "context": {},
            "options": self.options(&desk.state),
            "env": self.variables(&desk.state),
            "agentNames": self.team.agents.keys().collect::<Vec<_>>(),
            "promptNames": prompts().map(|prompt| &prompt.name).collect::<BTreeSet<_>>(),
            "modelNames": models,
        })
    }

    async fn ask(&self, method: &str, arguments: Value) -> Result<Value, String> {
        let thread = arguments.get("thread").and_then(Value::as_str).map(str::parse::<ThreadId>);
        match thread {
            None => self.ask_own(method, arguments).await,
            Some(Ok(thread)) if thread == self.place.thread => self.ask_own(method, arguments).await,
            Some(Ok(thread)) => self.ask_relative(thread, method, arguments).await,
            Some(Err(fault)) => Err(format!("the thread of `{method}` is {fault}")),
        }
    }

    fn hear(&self, level: &str, text: String) {
        // The secrets are looked for only where somebody reads the log.
        tracing::debug!(level, "{}", self.without_secrets(text));
    }
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct Keyed {
    pub(super) key: String,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
pub(super) struct ById {
    pub(super) id: MessageId,
}

#[derive(Deserialize)]
struct SetEnv {
    name: String,
    value: Value,
    r#type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stop {
    result: Value,
    status: Option<String>,
    notify_parent: Option<bool>,
}

#[derive(Deserialize)]
struct Emit {
    event: String,
    #[serde(default)]
    data: Value,
}

/// What a method is given, as its own type.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|fault| format!("this cannot be asked for: {fault}"))
}

impl ThreadDoor {
    pub(super) fn new(
        inner: Arc<Inner>,
        (place, team, runner): (Place, Arc<Team>, Runner),
        desk: Desk,
        key: String,
        depth: usize,
    ) -> Self {
        let is_hook = matches!(runner, Runner::Hook(_));
        let witnessed = Arc::default();
        Self { inner, place, team, runner, subprompt: None, is_hook, key, depth, desk: Mutex::new(desk), witnessed }
    }

    /// The door of a call inside this one.
    pub(super) fn inside(&self, tool: &Arc<ScriptTool>) -> Self {
        let desk = self.desk().inner();
        let scene = (self.place, Arc::clone(&self.team), Runner::Tool(Arc::clone(tool)));
        let door = Self::new(Arc::clone(&self.inner), scene, desk, self.inner_key(), self.depth + 1);
        let subprompt = self.subprompt.clone();
        Self { is_hook: self.is_hook, subprompt, witnessed: Arc::clone(&self.witnessed), ..door }
    }

    /// Keeps what a call inside this one did, as others may read it.
    pub(super) fn witness(&self, facts: Vec<Fact>) {
        let facts: Vec<Fact> = facts.into_iter().map(|fact| self.fact_without_secrets(fact)).collect();
        let mut witnessed = self.witnessed.lock().unwrap_or_else(PoisonError::into_inner);
        let room = FACTS_MAX.saturating_sub(witnessed.len());
        witnessed.extend(facts.into_iter().take(room));
    }

    pub(super) fn take_witnessed(&self) -> Vec<Fact> {
        std::mem::take(&mut self.witnessed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        // Every act is checked before the desk changes: it is whole even after a panic.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the acts are judged by. Children that a tool asks for start when its call has ended: whether there is room
    /// for them below the root is looked at then.
    pub(super) fn world(&self) -> World<'_> {
        self.inner.world(&self.team, 0)
    }

    /// The prompt at work.
    fn prompt(&self, state: &ThreadState) -> Option<&Prompt> {
        match &self.subprompt {
            Some(name) => self.team.prompts.get(name).map(|prompt| &**prompt),
            None => self.world().prompt(state),
        }
    }

    /// What it gives to this very tool.
    fn options(&self, state: &ThreadState) -> Option<&Map<String, Value>> {
        let Runner::Tool(tool) = &self.runner else { return None };
        let config = self.prompt(state)?.tool_configs.get(&tool.spec.name)?;
        Some(&config.options)
    }

    /// Every variable that the code may read.
    pub(super) fn variables(&self, state: &ThreadState) -> BTreeMap<String, String> {
        variables_for_tool(&self.world(), state, self.prompt(state), self.runner.name())
    }

    /// A tool that says what it uses is held to it.
    pub(super) fn may_use(&self, name: &Name) -> Result<(), String> {
        let uses = self.runner.uses();
        if uses.is_empty() || uses.contains(name) {
            return Ok(());
        }
        Err(format!("`{}` does not list `{name}` among what it `uses`", self.runner.name()))
    }

    pub(super) fn bundle(&self) -> Digest {
        self.desk().state.started.bundle
    }

    pub(super) fn ids(&self) -> Ids {
        Ids::new(self.inner.store.now(), fastrand::u64(..))
    }

    pub(super) fn act(&self, act: Act) -> Result<Value, String> {
        let act = self.act_without_secrets(act);
        self.desk().act(&self.world(), act).map(|()| Value::Null)
    }

    async fn ask_own(&self, method: &str, arguments: Value) -> Result<Value, String> {
        match method {
            "setEnv" => self.set_env(read(arguments)?),
            "getValue" => {
                let Keyed { key, .. } = read(arguments)?;
                Ok(self.desk().state.values.get(&own_key(key)?).cloned().unwrap_or_default())
            }
            "setValue" => {
                let Keyed { key, value } = read(arguments)?;
                self.act(Act::SetValue { key: own_key(key)?, value })
            }
            "getMessages" => self.messages(&read(arguments)?),
            "getMessage" => self.message(&read(arguments)?),
            "injectMessage" => self.inject(read(arguments)?).await,
            "updateMessage" => self.update(read(arguments)?).await,
            "deleteMessage" => self.delete(&read(arguments)?),
            "queueMessage" => self.queue(self.place.thread, read(arguments)?).await,
            "notifyParent" => self.notify(&arguments),
            "setStatus" => self.act(Act::SetStatus { status: text_of(&arguments, "status")? }),
            "stopSession" => self.stop(read(arguments)?),
            "terminate" => self.terminate(self.place.thread),
            "getChildThread" => self.child(&text_of(&arguments, "reference")?).await,
            "getParentThread" => self.parent().await,
            "writeFile" | "readFile" | "statFile" | "readdirFile" | "unlinkFile" | "mkdirFile" | "rmdirFile"
            | "moveFile" | "findFiles" | "grepFiles" | "getFileStats" => self.ask_file(method, arguments).await,
            "queueTool" => self.queue_tool(read(arguments)?),
            "invokeTool" => self.invoke(read(arguments)?).await,
            "emit" => {
                let Emit { event, data } = read(arguments)?;
                self.act(Act::Emit { name: event, data })
            }
            "loadAgent" => Ok(json!(self.team.agents.get(named(arguments)?.as_str()))),
            "loadPrompt" => {
                let name = named(arguments)?;
                Ok(json!(self.prompts().find(|prompt| prompt.name == name)))
            }
            "loadModel" => {
                let name = named(arguments)?;
                let found = self.prompts().flat_map(models).find(|model| model.as_str() == name.as_str());
                Ok(json!(found.map(|model| json!({
                    "name": model, "provider": model.provider(), "model": model.model()
                }))))
            }
            _ => Err(format!("`state.{method}` is not offered here")),
        }
    }

    fn set_env(&self, SetEnv { name, value, r#type }: SetEnv) -> Result<Value, String> {
        let value = match value {
            Value::String(text) => text,
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(format!("the value of the variable `{name}` must be a text"));
            }
        };
        let value = match r#type.as_deref() {
            Some("secret") => VariableValue::secret(value),
            Some(_) | None => self.team.variable(&name, value),
        };
        self.act(Act::SetVariable { name, value: self.inner.vault.seal(value)? })
    }

    fn notify(&self, arguments: &Value) -> Result<Value, String> {
        let text = text_of(arguments, "content")?;
        if self.desk().state.started.parent.is_none() {
            return Ok(Value::Null);
        }
        self.act(Act::NotifyParent { text })
    }

    fn stop(&self, Stop { result, status, notify_parent }: Stop) -> Result<Value, String> {
        let text = match result {
            Value::Null => STOPPED.to_owned(),
            Value::String(text) => text,
            other => format!("{other:#}"),
        };
        let (outcome, status) = match status.as_deref() {
            Some("error" | "failed" | "failure") => (Outcome::Failed, None),
            None | Some("" | "success" | "done" | "completed") => (Outcome::Done, None),
            Some(text) => (Outcome::Done, Some(text.to_owned())),
        };
        let ending = Ending { outcome, text, attachments: Vec::new(), limit: None };
        let quiet = notify_parent == Some(false);
        self.act(Act::StopSession(Box::new(StopSession { ending, status, quiet })))
    }

    /// Answers when it will have happened: with the end of the call.
    pub(super) fn terminate(&self, thread: ThreadId) -> Result<Value, String> {
        self.act(Act::Terminate { thread })?;
        Ok(json!(self.inner.store.now()))
    }

    fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        let own = self.team.agents.values().flat_map(|agent| agent.prompts());
        own.chain(self.team.prompts.values().map(|prompt| &**prompt))
    }
}

fn models(prompt: &Prompt) -> impl Iterator<Item = &ModelRef> {
    prompt.model.iter().chain(&prompt.fallbacks)
}

fn named(arguments: Value) -> Result<Name, String> {
    let Named { name } = read(arguments)?;
    Ok(name.into())
}

/// What a thread was made with beside its message, where its parent gave anything.
pub(super) fn arguments_of(started: &Started) -> Value {
    started.arguments.clone().unwrap_or_default()
}

/// An argument that must be a text.
pub(super) fn text_of(arguments: &Value, name: &str) -> Result<String, String> {
    let text = arguments.get(name).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("`{name}` must be a text"))
}
