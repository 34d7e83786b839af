//! What a call asks for.

use super::tools::{ACTIONS, ASSIGN, CREATE, DELEGATE, ITEMS, JOIN, START, SUBAGENT, UPDATE};
use super::{Deed, profile, profile_id, task, word};
use crate::dialect::{Dowry, Look, Order, Patience, Refusal, STANDARD, Wish, shared_tools};
use crate::offer::World;
use crate::state::{Delegated, ThreadState};
use entourage_model::{Agent, ChildEntry, Dialect, Name, RunId, RunStatus, ToolCall};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

pub(super) type Wanted = Result<Wish<'static>, Refusal>;

/// Where a call is made.
pub(super) struct Call<'c> {
    pub(super) world: &'c World<'c>,
    pub(super) state: &'c ThreadState,
    /// The run that it waited for and that has come to rest.
    pub(super) reading: Option<RunId>,
}

impl Call<'_> {
    pub(super) fn interpret(&self, call: &ToolCall) -> Wanted {
        if let Some(run) = self.reading.clone() {
            return Ok(look(run, None, None));
        }
        let given = Given::parse(&call.arguments)?;
        match call.name.as_str() {
            SUBAGENT => self.subagent(&given),
            ASSIGN => task::assign(self, &given),
            CREATE => task::create(self, &given),
            UPDATE => task::update(self, &given),
            ITEMS => task::items(self, &given),
            START => task::start(self, &given),
            DELEGATE => task::delegate(self, &given),
            JOIN => task::join(self, &given),
            _ => Ok(task::delegations(self.state)),
        }
    }

    fn subagent(&self, given: &Given) -> Wanted {
        let action = given.text("action")?;
        match action.as_str() {
            "run" => self.run(given),
            "list" => Ok(self.list()),
            "status" | "result" => {
                let from = given.number("offset")?.map(|from| usize::try_from(from).unwrap_or(usize::MAX));
                Ok(look(given.run()?, given.number("after")?, from))
            }
            "interrupt" => self.interrupt(given.run()?),
            "resume" => self.resume(given),
            other => {
                Err(refused(format!("There is no action `{other}` of `subagent`; use one of: {}.", ACTIONS.join(", "))))
            }
        }
    }

    fn run(&self, given: &Given) -> Wanted {
        let agent = self.profile(&given.text("profile")?)?;
        let background = given.flag("background")?;
        Ok(Wish::Spawn(self.order(agent, given.text("task")?, Patience::of(!background))))
    }

    pub(super) fn order(&self, agent: &Agent, task: String, patience: Patience) -> Order<'static> {
        let entry = ChildEntry { blocking: patience == Patience::Forever, ..ChildEntry::blocking(agent.name.clone()) };
        Order {
            entry: Cow::Owned(entry),
            dialect: Dialect::Dex,
            message: Some(task),
            name: None,
            attachments: Vec::new(),
            arguments: None,
            patience,
            dowry: self.dowry(agent),
        }
    }

    /// A profile says which tools it has, and has no more than its caller. One that lists what it calls, as Standard Agents
    /// do, has said nothing about the toolkit.
    fn dowry(&self, agent: &Agent) -> Dowry {
        let caller = self.world.team.agent(&self.state.agent).filter(|caller| caller.source.format != STANDARD);
        match caller.and(self.world.prompt(self.state)) {
            Some(prompt) => Dowry {
                tools: shared_tools(self.state, prompt, agent),
                denied: prompt.denied_tools.clone(),
                ..Dowry::default()
            },
            None => Dowry::default(),
        }
    }

    /// The agent of that profile.
    pub(super) fn profile(&self, id: &str) -> Result<&Agent, Refusal> {
        let found = profile::find(self.world.team, id);
        found.map(|agent| &**agent).ok_or_else(|| {
            let ids: Vec<_> = profile::all(self.world.team).map(|agent| profile_id(&agent.name)).collect();
            refused(format!("There is no profile `{id}`. Profiles: {}.", ids.join(", ")))
        })
    }

    fn list(&self) -> Wish<'static> {
        let runs: Vec<Value> = own(self.state).map(|(run, delegated)| entry(run, delegated)).collect();
        Wish::Answer(json!({"runs": runs}).to_string())
    }

    fn interrupt(&self, run: RunId) -> Wanted {
        Ok(match self.delegated(&run)?.status {
            RunStatus::Running | RunStatus::Pending => Wish::Dex(Deed::Interrupt { run }),
            RunStatus::Interrupted | RunStatus::Done | RunStatus::Failed | RunStatus::Cancelled => {
                look(run, None, None)
            }
        })
    }

    fn resume(&self, given: &Given) -> Wanted {
        let run = given.run()?;
        let status = self.delegated(&run)?.status;
        if status != RunStatus::Interrupted {
            let text = format!("Run `{run}` is {}; only an interrupted run can be resumed.", word(status));
            return Err(refused(text));
        }
        let (message, background) = (given.text_or_none("message")?, given.flag("background")?);
        Ok(Wish::Dex(Deed::Resume { run, message, background }))
    }

    fn delegated(&self, run: &RunId) -> Result<&Delegated, Refusal> {
        let found = self.state.delegated.get(run).filter(|delegated| delegated.dialect == Dialect::Dex);
        found.ok_or_else(|| refused(format!("There is no run `{run}`.")))
    }
}

/// The runs of this dialect, in the order in which they were asked for.
pub(super) fn own(state: &ThreadState) -> impl Iterator<Item = (&RunId, &Delegated)> {
    state.delegated.iter().filter(|(_, delegated)| delegated.dialect == Dialect::Dex)
}

fn entry(run: &RunId, delegated: &Delegated) -> Value {
    json!({"runId": run, "profile": profile_id(&delegated.agent), "status": word(delegated.status)})
}

fn look(run: RunId, after: Option<u64>, from: Option<usize>) -> Wish<'static> {
    Wish::Look(Look::Run { run, after, from })
}

pub(super) fn refused(text: impl Into<String>) -> Refusal {
    Refusal::Plain(text.into())
}

/// The arguments of a call.
pub(super) struct Given(Map<String, Value>);

impl Given {
    fn parse(text: &str) -> Result<Self, Refusal> {
        match serde_json::from_str(if text.trim().is_empty() { "{}" } else { text }) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(refused("The arguments must be a JSON object.")),
            Err(fault) => Err(refused(format!("The arguments are not valid JSON: {fault}."))),
        }
    }

    /// Absent, or `null`: nothing was given.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, key: &str) -> Result<String, Refusal> {
        self.text_or_none(key)?.ok_or_else(|| refused(format!("`{key}` must be a text that is not blank.")))
    }

    pub(super) fn text_or_none(&self, key: &str) -> Result<Option<String>, Refusal> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            Some(_) => Err(refused(format!("`{key}` must be a text."))),
        }
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, Refusal> {
        match self.value(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(refused(format!("`{key}` must be true or false."))),
        }
    }

    /// Texts of a list; a single one may stand alone.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let wrong = || refused(format!("`{key}` must be a list of texts that are not blank."));
        let one = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => values.iter().map(|value| one(value).ok_or_else(wrong)).collect(),
            Some(value) => one(value).map(|text| vec![text]).ok_or_else(wrong),
        }
    }

    pub(super) fn agent(&self) -> Result<Option<Name>, Refusal> {
        let Some(assignment) = self.value("assignment") else { return Ok(None) };
        match assignment.get("agent") {
            Some(Value::String(agent)) if !agent.trim().is_empty() => Ok(Some(Name::from(agent.as_str()))),
            _ => Err(refused("`assignment` must be an object with `agent`, the id of a profile.")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| refused(format!("`{key}` must be a number of 0 or more.")))
    }

    fn run(&self) -> Result<RunId, Refusal> {
        self.text("runId").map(|text| RunId::from(text.trim()))
    }
}
