//! The tools through which a model drives other agents: what they look like, what a call of them asks for, and how it
//! is answered.

pub(crate) mod agentscope;
pub(crate) mod dex;
pub(crate) mod refusal;
pub(crate) mod schema;
pub(crate) mod standard;

pub(crate) use refusal::Refusal;

use crate::offer::{World, handed_down};
use crate::state::{Child, ThreadState};
use crate::step::{Input, Mail};
use entourage_model::{
    Agent, Attachment, CallId, ChildEntry, ChildLink, Dialect, Ending, HandoffEntry, Item, ModelRef, Name, Prompt,
    RunId, RunStatus, ThreadId, Timestamp, ToolCall, ToolSpec,
};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What a call asks of the engine.
#[expect(clippy::large_enum_variant, reason = "a wish is granted at once and never kept")]
pub(crate) enum Wish<'a> {
    Spawn(Order<'a>),
    Send(Note),
    /// Another agent is to take the thread over once the calls of the answer have ended.
    HandOff(&'a HandoffEntry),
    /// The call is answered by the ending of a run that is under way, or when the time is over.
    Await {
        run: RunId,
        seconds: f64,
    },
    /// A run that is under way is to end. The call is answered with this.
    Cancel {
        run: RunId,
        answer: String,
    },
    /// The answer is known.
    Answer(String),
    /// The answer must be looked up: the call is performed like a tool that changes nothing.
    Look(Look),
    /// What only the dex dialect has.
    Dex(dex::Deed),
}

/// Something that the store knows and the thread does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The result of a run, for `task_output`, from this byte on.
    Output { run: RunId, from: usize },
    /// A run of the dex dialect: its events behind a number, or the text of its result from a byte on.
    Run { run: RunId, after: Option<u64>, from: Option<usize> },
    /// What became of these tasks.
    Joined { tasks: Vec<(String, RunId)> },
}

/// A child to be started.
pub(crate) struct Order<'a> {
    pub(crate) entry: Cow<'a, ChildEntry>,
    pub(crate) dialect: Dialect,
    /// Absent: its first side acts all the same.
    pub(crate) message: Option<String>,
    pub(crate) name: Option<String>,
    /// Files of this thread that it gets copies of.
    pub(crate) attachments: Vec<Attachment>,
    /// What the child was called with beyond a message.
    pub(crate) arguments: Option<Value>,
    pub(crate) patience: Patience,
    pub(crate) dowry: Dowry,
}

/// What a child is given by its caller, in place of what its agent says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dowry {
    pub(crate) instructions: Option<Arc<str>>,
    /// Of its own tools it may use only these.
    pub(crate) tools: Option<Vec<Name>>,
    /// For an agent that names no model.
    pub(crate) models: Vec<ModelRef>,
    /// Tools of servers that its caller may not call either.
    pub(crate) denied: Vec<Name>,
    /// The agent whose limits and ways it has.
    pub(crate) mirrors: Option<Name>,
}

/// The format whose agents list everything that they call: nothing is handed down to them.
pub(crate) const STANDARD: &str = "standard-agents";

/// The caller's tools, for an agent that would have others beside them: nobody gives more than it has.
pub(crate) fn shared_tools(state: &ThreadState, prompt: &Prompt, agent: &Agent) -> Option<Vec<Name>> {
    let mine = handed_down(state, prompt);
    let is_covered = agent.side_a.prompt.tools.iter().all(|entry| mine.contains(&entry.name()));
    (agent.source.format != STANDARD && !is_covered).then(|| mine.into_iter().cloned().collect())
}

/// A message to a child that there is already.
pub(crate) struct Note {
    pub(crate) child: ThreadId,
    pub(crate) message: String,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) patience: Patience,
}

/// How long the call waits for the ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Forever,
    /// Then the run goes on in the background.
    Seconds(u64),
    /// It is answered at once.
    None,
    /// The same, and the child is asked for nothing: it rests until somebody writes to it.
    Unasked,
}

impl Patience {
    pub(crate) fn of(blocking: bool) -> Self {
        if blocking { Self::Forever } else { Self::None }
    }
}

/// A call, and the child's run that it is about.
pub(crate) struct Told<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) link: &'a ChildLink,
    /// Absent: the child was asked for nothing.
    pub(crate) run: Option<&'a RunId>,
    /// When the run was asked for.
    pub(crate) at: Timestamp,
    /// How it stands, as far as is known.
    pub(crate) status: RunStatus,
    /// Another server works on it.
    pub(crate) is_remote: bool,
    /// Nobody brings results to whoever made the call.
    pub(crate) is_driven: bool,
    /// What there is to say of how the answer came about.
    pub(crate) note: Option<&'a str>,
}

impl Told<'_> {
    /// What a call that does not wait is answered with: the child is there, or has the message.
    pub(crate) fn accepted(&self) -> String {
        match self.link.dialect {
            Dialect::Standard => standard::accepted(self),
            Dialect::Dex => dex::accepted(self),
            Dialect::AgentScope => agentscope::accepted(self),
        }
    }

    /// What a waiting call is answered with.
    pub(crate) fn answer(&self, ending: &Ending) -> String {
        match self.link.dialect {
            Dialect::Standard => standard::answer(self.link, ending),
            // It is read from the store instead.
            Dialect::Dex => dex::accepted(self),
            Dialect::AgentScope => agentscope::answer(self, ending),
        }
    }

    /// What a waiting call is answered with when the child will never answer: its runs end like this.
    pub(crate) fn terminated(&self, ending: &Ending) -> String {
        let child = self.link.thread;
        let refusal = Refusal::new("subagent_terminated", format!("subagent `{child}` was terminated"));
        match self.link.dialect {
            // Whoever looks at a task is told how it stands, whatever became of it.
            Dialect::AgentScope if agentscope::is_look(self.call) => agentscope::answer(self, ending),
            Dialect::AgentScope | Dialect::Standard | Dialect::Dex => refusal.spoken(self.link.dialect).text(),
        }
    }

    /// What a call is answered with that has waited long enough: the run goes on.
    pub(crate) fn released(&self) -> String {
        match self.link.dialect {
            Dialect::Standard => standard::accepted(self),
            Dialect::Dex => dex::accepted(self),
            Dialect::AgentScope => agentscope::released(self),
        }
    }
}

/// What is queued to a parent that did not wait for the run.
pub(crate) fn news(link: &ChildLink, (run, at): (&RunId, Timestamp), ending: &Ending) -> String {
    match link.dialect {
        Dialect::Standard => standard::news(link.thread, ending),
        Dialect::Dex => dex::news(link, run, ending),
        Dialect::AgentScope => agentscope::news(link, (run, at), ending),
    }
}

/// The tools that drive children, beside the prompt's own.
pub(crate) fn tools(world: &World<'_>, state: &ThreadState, prompt: &Prompt) -> Vec<Arc<ToolSpec>> {
    let mut tools = standard::tools(world, state, prompt);
    for dialect in spoken(world, state) {
        match dialect {
            Dialect::Standard => {}
            Dialect::Dex => tools.extend(dex::tools(world, state)),
            Dialect::AgentScope => tools.extend(agentscope::tools(world, state)),
        }
    }
    tools
}

/// What the call wants, where it is one that drives children.
pub(crate) fn interpret<'a>(
    world: &World<'_>,
    state: &ThreadState,
    prompt: &'a Prompt,
    call: &ToolCall,
) -> Option<Result<Wish<'a>, Refusal>> {
    let own = spoken(world, state).iter().find_map(|dialect| match dialect {
        Dialect::Standard => None,
        Dialect::Dex => dex::interpret(world, state, call),
        Dialect::AgentScope => agentscope::interpret(world, state, prompt, call),
    });
    own.or_else(|| standard::interpret(world, state, prompt, call, standard::Caller::Model))
}

/// Whether a call of this name is performed by looking something up.
pub(crate) fn looks(world: &World<'_>, state: &ThreadState, tool: &Name) -> bool {
    spoken(world, state).iter().any(|dialect| match dialect {
        Dialect::Standard => false,
        Dialect::Dex => dex::looks(tool),
        Dialect::AgentScope => tool.as_str() == agentscope::OUTPUT,
    })
}

/// The prompt of a thread whose caller speaks a dialect: what that adds comes behind the agent's own words.
pub(crate) fn prompt(world: &World<'_>, state: &ThreadState, own: Arc<str>) -> Arc<str> {
    match state.started.dialect {
        None | Some(Dialect::Standard) => own,
        Some(Dialect::Dex) => dex::prompt(state, &own),
        Some(Dialect::AgentScope) => agentscope::prompt(world, state, &own),
    }
}

/// What the model is told about children, anew at every step.
pub(crate) fn system(world: &World<'_>, state: &ThreadState) -> Vec<Arc<str>> {
    let mut texts: Vec<Arc<str>> = Vec::new();
    for dialect in spoken(world, state) {
        match dialect {
            Dialect::Standard => {}
            Dialect::Dex => texts.extend(dex::system(world, state)),
            Dialect::AgentScope => texts.extend(agentscope::system(world, state)),
        }
    }
    texts.extend(standard::registry(state));
    texts
}

/// The folders that define agents which this input may start: the caller reads their prompts into the world.
pub fn definition_folders(world: &World<'_>, state: &ThreadState, mail: &Mail, input: &Input) -> Vec<String> {
    let answered = match input {
        Input::Answered(Ok(answer)) | Input::Advised { answer: Ok(answer), .. } => answer.calls.as_slice(),
        Input::Answered(Err(_))
        | Input::Advised { answer: Err(_), .. }
        | Input::Resumed
        | Input::Mail
        | Input::ToolEnded { .. }
        | Input::Tick
        | Input::Broke { .. } => &[],
    };
    let called =
        mail.iter().filter_map(|letter| if let Item::Call { call } = &letter.item { Some(call) } else { None });
    let calls: Vec<&ToolCall> = answered.iter().chain(called).collect();
    let listed = world.prompt(state).map(|prompt| standard::definition_folders(world, prompt, &calls));
    let spoken = spoken(world, state).iter().flat_map(|dialect| match dialect {
        Dialect::Standard | Dialect::Dex => Vec::new(),
        Dialect::AgentScope => agentscope::definition_folders(world, &calls),
    });
    listed.into_iter().flatten().chain(spoken).collect()
}

/// The prompt of an agent that a folder defines, as the folder says it now.
pub(crate) fn defined(world: &World<'_>, agent: &Agent) -> Option<Arc<str>> {
    world.definitions.get(agent.workspace.as_ref()?.path.as_ref()?).cloned()
}

/// The agents that these calls would start.
pub fn summoned(world: &World<'_>, state: &ThreadState, calls: &[ToolCall]) -> Vec<Name> {
    let Some(prompt) = world.prompt(state) else { return Vec::new() };
    let agent = |call: &ToolCall| match interpret(world, state, prompt, call)?.ok()? {
        Wish::Spawn(order) => Some(order.entry.agent.clone()),
        Wish::Send(_)
        | Wish::HandOff(_)
        | Wish::Await { .. }
        | Wish::Cancel { .. }
        | Wish::Answer(_)
        | Wish::Look(_)
        | Wish::Dex(_) => None,
    };
    calls.iter().filter_map(agent).collect()
}

/// The agents that the thread may start by their ids, and what each is good at.
pub fn startable<'a>(world: &World<'a>) -> Vec<(&'a str, &'a str)> {
    agentscope::cast(world).into_iter().map(|(id, agent)| (id, agent.pitch())).collect()
}

/// The dialects of the agent at work.
fn spoken<'a>(world: &World<'a>, state: &ThreadState) -> &'a [Dialect] {
    world.agent(state).map(|agent| agent.dialects.as_slice()).unwrap_or_default()
}

impl Child {
    /// The run that answers this call.
    pub(crate) fn run_of(&self, call: &CallId) -> Option<&RunId> {
        self.runs.iter().find(|(_, wait)| wait.call() == Some(call)).map(|(run, _)| run)
    }
}
