//! What a thread is at one moment: the fold of its journal.

use crate::doings::Doings;
use entourage_model::{
    Ask, CallId, ChildLink, Communication, Dialect, Event, Message, Name, Outcome, RegistryEntry, RequestId, Rest,
    RunId, RunStatus, Side, Started, TaskItem, Team, ThreadId, ThreadStatus, Timestamp, ToolCall, Usage, VariableValue,
    VariablesRequest, Wait,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct ThreadState {
    pub started: Started,
    /// The agent at work, which a handoff may change.
    pub agent: Name,
    /// How many events were folded in.
    pub seq: u64,
    pub transcript: Vec<Arc<Message>>,
    /// The sequence number of the event that brought each line of the transcript.
    pub numbers: Vec<u64>,
    /// What is being worked on; nothing while the thread rests.
    pub session: Option<Session>,
    /// How many sessions were begun.
    pub sessions: u64,
    pub rest: Rest,
    pub children: BTreeMap<ThreadId, Child>,
    /// Children with a run that has not ended.
    pub children_live: u32,
    /// The runs that children were asked for in a dialect that lists them, oldest first. Of old ones that have ended
    /// only the store knows.
    pub delegated: BTreeMap<RunId, Delegated>,
    /// The task list.
    pub tasks: Vec<TaskItem>,
    /// What was done for the current run, where the thread is one whose caller wants to know.
    pub doings: Doings,
    pub usage: Usage,
    pub terminated: Option<Timestamp>,
    /// The thread's own variables, which go before all others.
    pub variables: BTreeMap<String, VariableValue>,
    /// What tools put aside for later calls.
    pub values: BTreeMap<String, Value>,
    /// Children that wait for variables.
    pub requests: BTreeMap<RequestId, VariablesRequest>,
    /// Whether each side's immediate children were started since its agent took the thread.
    pub activated: [bool; 2],
    /// Whether hooks have heard of the thread's creation, where they are to.
    pub creation_heard: bool,
    /// Where in the transcript the results lie that immediate children brought before anybody had said anything.
    pub prelude: Option<usize>,
}

/// The turns from a message until a terminal binding or a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Where in the transcript it begins.
    pub first: usize,
    /// Where in the transcript the current turn begins.
    pub turn_first: usize,
    pub deadline: Timestamp,
    /// The runs that this session answers, and whom.
    pub asks: Vec<Ask>,
    /// Somebody said something, or asked: without that there is nothing to answer.
    pub is_asked: bool,
    pub acting: Side,
    pub turns: u32,
    pub steps: [u32; 2],
    /// How many of those were taken before the agent at work took over: its own limit does not count them.
    pub handed_off_at: [u32; 2],
    /// The acting side's last answer in this turn.
    pub answer: Option<Arc<Message>>,
    /// The calls of that answer, in call order.
    pub calls: Vec<Call>,
    /// Where each of them stands.
    pub places: BTreeMap<CallId, usize>,
    /// How many of `calls` have no result.
    pub open: usize,
    /// How many of `calls` are tools that were not asked to run yet.
    pub unstarted: usize,
    /// How many of `calls` wait for a child.
    pub waiting: usize,
    /// Until when some of those wait at the longest.
    pub untils: BTreeMap<CallId, Timestamp>,
    /// The children that some of them wait for to come to rest.
    pub joins: BTreeMap<CallId, BTreeSet<ThreadId>>,
    /// It stands still until it is resumed.
    pub interrupted: bool,
    /// The calls are those of immediate children, which no model has made.
    pub activating: bool,
    /// The last text that any side said.
    pub last_text: Option<Arc<Message>>,
    /// The requests for variables that it led to.
    pub requests: BTreeSet<RequestId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub call: ToolCall,
    pub state: CallState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Nothing was recorded of it; a pure tool may be running.
    Asked,
    /// Recorded before it began: if its process dies, nobody knows what became of it.
    Started,
    /// Waits for this child's ending.
    Waiting(ThreadId),
    /// Waits until several children have come to rest.
    Joining,
    /// This child, for which it waited, has come to rest; what its run came to is being read.
    Reading(ThreadId),
    Ended(Outcome),
}

/// A child as its parent knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    pub link: ChildLink,
    /// The runs that have not ended, in the order they were asked for, and whether a call waits for each. A run for which
    /// several calls wait stands here for each of them.
    pub runs: Vec<(RunId, Wait)>,
    /// Its runs were asked to end: their endings are no news.
    pub muted: bool,
    /// It stands still in the middle of its run and takes up no room.
    pub interrupted: bool,
    /// A word or the child's own text.
    pub status: String,
    pub terminated: bool,
}

/// What is said of a child that rests after this.
pub(crate) fn rest_word(outcome: Outcome) -> &'static str {
    if outcome == Outcome::Failed { "failed" } else { "idle" }
}

/// A run that this thread asked a child for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegated {
    pub child: ThreadId,
    pub dialect: Dialect,
    /// The child's agent, as this thread calls it.
    pub agent: Name,
    /// Pending while its child works on what it was asked for before, then running: whether the child has really begun is
    /// known to the child.
    pub status: RunStatus,
    /// No call waited for its ending, or none did so long enough.
    pub background: bool,
    /// It was asked to end, so that its ending is no news.
    pub dismissed: bool,
    /// Its result was given to a call, so that it is no news any more.
    pub read: bool,
    pub at: Timestamp,
}

impl ThreadState {
    /// The state after the first event; nothing else can come first.
    pub fn born(event: &Event) -> Option<Self> {
        let Event::Started(started) = event else { return None };
        Some(Self {
            started: started.clone(),
            agent: started.agent.clone(),
            seq: 1,
            transcript: Vec::new(),
            numbers: Vec::new(),
            session: None,
            sessions: 0,
            rest: Rest::Idle,
            children: BTreeMap::new(),
            children_live: 0,
            delegated: BTreeMap::new(),
            tasks: Vec::new(),
            doings: Doings::default(),
            usage: Usage::default(),
            terminated: None,
            variables: BTreeMap::new(),
            values: BTreeMap::new(),
            requests: BTreeMap::new(),
            activated: [false; 2],
            creation_heard: false,
            prelude: None,
        })
    }

    /// The folder that the thread works in; nothing means the project's own. An agent without one of its own works where
    /// its caller does.
    pub fn folder(&self, team: &Team) -> Option<String> {
        let own = team.agent(&self.agent).and_then(|agent| agent.workspace.as_ref()?.root(&agent.name));
        own.or_else(|| self.started.folder.clone())
    }

    /// The state after a whole journal; nothing if it does not begin with the beginning.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut state = Self::born(events.next()?)?;
        events.for_each(|event| crate::apply(&mut state, event));
        Some(state)
    }

    pub fn id(&self) -> ThreadId {
        self.started.thread
    }

    /// The side that acts first in a session. Which one receives messages was said of the agent that the thread began
    /// with; any other begins with its side A.
    pub(crate) fn first_side(&self) -> Side {
        let receives = self.started.receives.filter(|_| self.agent == self.started.agent);
        receives.unwrap_or(Side::A)
    }

    /// What the thread's row says once this state is durable. `Running` means that effects are in flight.
    pub fn status(&self) -> ThreadStatus {
        if self.terminated.is_some() {
            return ThreadStatus::Terminated;
        }
        match &self.session {
            // Nobody works on it, and nothing that it waits for comes by itself.
            Some(session) if session.interrupted => ThreadStatus::Idle,
            Some(session) if session.waits_for_children_only() => ThreadStatus::Waiting,
            Some(_) => ThreadStatus::Running,
            None => match self.rest {
                Rest::Idle => ThreadStatus::Idle,
                Rest::Done => ThreadStatus::Done,
                Rest::Failed => ThreadStatus::Failed,
            },
        }
    }

    /// When the thread must be looked at again even if nothing arrives.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let session = self.session.as_ref().filter(|session| !session.interrupted)?;
        Some(session.untils.values().fold(session.deadline, |first, until| first.min(*until)))
    }

    /// The children that people and models are shown: those that can be written to, and background ones at work.
    pub fn registry(&self) -> impl Iterator<Item = RegistryEntry> {
        self.children.values().filter(|child| child.is_listed()).map(|child| child.entry())
    }
}

impl Session {
    pub fn waits_for_children_only(&self) -> bool {
        self.open > 0 && self.open == self.waiting
    }

    /// The open call of this id.
    pub fn open_call(&self, id: &CallId) -> Option<usize> {
        let place = *self.places.get(id)?;
        (!matches!(self.calls[place].state, CallState::Ended(_))).then_some(place)
    }
}

impl Child {
    /// As its parent's registry has it.
    pub fn entry(&self) -> RegistryEntry {
        RegistryEntry {
            reference: self.link.thread,
            name: self.link.agent.clone(),
            title: self.link.title.clone(),
            description: self.link.description.clone(),
            resumable: self.link.resumable,
            blocking: self.link.blocking,
            thread_name: self.link.given_name.clone(),
            spawn_group_id: self.link.group.map(|group| group.to_string()),
            created_at: self.link.at,
            status: self.status.clone(),
            parent_communication: self.link.communication,
        }
    }

    /// Whether people and models are shown it.
    pub fn is_listed(&self) -> bool {
        let is_awaited = self.link.blocking && self.runs.iter().any(|(_, wait)| *wait != Wait::Background);
        self.link.resumable || (self.is_live() && !is_awaited)
    }

    /// Whether it has something to do.
    pub fn is_live(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether its endings reach the parent by themselves.
    pub fn speaks(&self) -> bool {
        self.link.communication == Communication::Implicit
    }
}
