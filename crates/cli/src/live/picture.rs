//! What a tree of threads is doing, folded from its journal and from what is just happening.

use entourage_model::{CallId, Event, Name, Outcome, SessionEnd, ThreadId, Timestamp, ToolCall, one_line};
use std::collections::HashMap;
use std::time::Duration;

/// How much of a text that is still coming is remembered: more than any line can show.
const TAIL_BYTES_MAX: usize = 400;

/// The threads of one tree. The root comes first; children keep the order in which they were started.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    pub(crate) nodes: HashMap<ThreadId, Node>,
    root: Option<ThreadId>,
}

/// One thread as people see it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) agent: Name,
    /// The name that its parent gave to it.
    pub(crate) given_name: Option<String>,
    pub(crate) children: Vec<ThreadId>,
    pub(crate) state: NodeState,
    pub(crate) tokens: u64,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    /// Calls without a result, in the order in which they were made.
    calls: Vec<ToolCall>,
    /// The end of the answer that is coming.
    tail: String,
    /// Why the model is being asked again.
    retrying: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeState {
    /// Exists, and nothing was asked of it yet.
    Waiting,
    Working,
    Ended(Outcome, String),
    Terminated,
}

/// Something that is worth a line of its own where no picture can be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Called { thread: ThreadId, tools: Vec<Name> },
    Retried { thread: ThreadId, why: String },
    Ended { thread: ThreadId },
}

impl Picture {
    /// Folds one event in. Events of a thread come in order; a child's first one may come before or after its parent
    /// tells of it.
    pub(crate) fn apply(&mut self, thread: ThreadId, event: &Event, now: Timestamp) -> Option<Step> {
        if let Event::Started(started) = event {
            self.add(thread, started.parent, &started.agent, started.at);
            return None;
        }
        if let Event::ChildStarted(link) = event {
            self.add(link.thread, Some(thread), &link.agent, link.at);
            let child = self.nodes.get_mut(&link.thread)?;
            child.given_name.clone_from(&link.given_name);
            return None;
        }
        self.nodes.get_mut(&thread)?.apply(thread, event, now)
    }

    fn add(&mut self, thread: ThreadId, parent: Option<ThreadId>, agent: &Name, at: Timestamp) {
        if self.nodes.contains_key(&thread) {
            return;
        }
        self.nodes.insert(thread, Node::new(agent.clone(), at));
        match parent.and_then(|parent| self.nodes.get_mut(&parent)) {
            Some(parent) => parent.children.push(thread),
            None => self.root = self.root.or(Some(thread)),
        }
    }

    /// A piece of an answer that is still coming.
    pub(crate) fn hear(&mut self, thread: ThreadId, text: &str) {
        let Some(node) = self.nodes.get_mut(&thread) else { return };
        node.retrying = None;
        node.tail.push_str(text);
        if node.tail.len() > 2 * TAIL_BYTES_MAX {
            let cut = node.tail.len() - TAIL_BYTES_MAX;
            let cut = (cut..).find(|cut| node.tail.is_char_boundary(*cut)).unwrap_or(0);
            node.tail.drain(..cut);
        }
    }

    /// The model is being asked again; what it said so far is void.
    pub(crate) fn retry(&mut self, thread: ThreadId, why: &str) -> Option<Step> {
        let node = self.nodes.get_mut(&thread)?;
        node.tail.clear();
        node.retrying = Some(why.to_owned());
        Some(Step::Retried { thread, why: why.to_owned() })
    }

    /// Every thread with its depth, parents before their children.
    pub(crate) fn walk(&self) -> Vec<Position<'_>> {
        let mut found = Vec::new();
        if let Some(root) = self.root {
            self.walk_from(root, &mut Vec::new(), &mut found);
        }
        found
    }

    fn walk_from<'a>(&'a self, thread: ThreadId, last: &mut Vec<bool>, found: &mut Vec<Position<'a>>) {
        let Some(node) = self.nodes.get(&thread) else { return };
        found.push(Position { node, last: last.clone() });
        for (place, child) in node.children.iter().enumerate() {
            last.push(place + 1 == node.children.len());
            self.walk_from(*child, last, found);
            last.pop();
        }
    }
}

/// A node and where it hangs.
#[derive(Clone, Debug)]
pub(crate) struct Position<'a> {
    pub(crate) node: &'a Node,
    /// For each generation from below the root down to this node: whether it is the last of its siblings.
    pub(crate) last: Vec<bool>,
}

impl Node {
    fn new(agent: Name, started_at: Timestamp) -> Self {
        Self {
            agent,
            given_name: None,
            children: Vec::new(),
            state: NodeState::Waiting,
            tokens: 0,
            started_at,
            ended_at: None,
            calls: Vec::new(),
            tail: String::new(),
            retrying: None,
        }
    }

    fn apply(&mut self, thread: ThreadId, event: &Event, now: Timestamp) -> Option<Step> {
        match event {
            Event::SessionStarted { .. } => {
                self.state = NodeState::Working;
                self.ended_at = None;
                None
            }
            Event::PromptAnswered { usage, .. } => {
                self.tokens += usage.input_tokens + usage.output_tokens;
                None
            }
            Event::Answered { message, usage } => {
                self.tokens += usage.input_tokens + usage.output_tokens;
                self.tail.clear();
                self.retrying = None;
                self.calls.clone_from(&message.tool_calls);
                let tools: Vec<_> = message.tool_calls.iter().map(|call| call.name.clone()).collect();
                (!tools.is_empty()).then_some(Step::Called { thread, tools })
            }
            Event::CallEnded { message, .. } => {
                self.end_call(message.tool_call_id.as_ref());
                None
            }
            Event::SessionEnded(end) => {
                self.end(end, now);
                Some(Step::Ended { thread })
            }
            Event::Terminated { .. } => {
                self.state = NodeState::Terminated;
                self.ended_at = Some(now);
                Some(Step::Ended { thread })
            }
            Event::Started(_)
            | Event::Posted(_)
            | Event::CallStarted { .. }
            | Event::ChildStarted(_)
            | Event::ChildAsked { .. }
            | Event::ChildReleased { .. }
            | Event::ChildAwaited { .. }
            | Event::RunDismissed { .. }
            | Event::RunRead { .. }
            | Event::Activated { .. }
            | Event::HandedOff { .. }
            | Event::VariablesRequested(_)
            | Event::RequestClosed { .. }
            | Event::ChildEnded { .. }
            | Event::ChildCancelled { .. }
            | Event::CallJoined { .. }
            | Event::ChildInterrupted { .. }
            | Event::ChildResumed { .. }
            | Event::SessionInterrupted
            | Event::SessionResumed { .. }
            | Event::TaskSaved(_)
            | Event::ChildTerminated { .. }
            | Event::ChildReported { .. }
            | Event::RunCancelled { .. }
            | Event::TurnEnded { .. }
            | Event::VariablesSet { .. }
            | Event::ValueSet { .. }
            | Event::Injected { .. }
            | Event::MessageReplaced { .. }
            | Event::MessageDeleted { .. }
            | Event::CallQueued { .. }
            | Event::FilePut(_)
            | Event::FileRemoved { .. }
            | Event::Emitted { .. }
            | Event::CreationHeard
            | Event::HookFailed { .. } => None,
        }
    }

    fn end_call(&mut self, call: Option<&CallId>) {
        self.calls.retain(|open| Some(&open.id) != call);
    }

    fn end(&mut self, end: &SessionEnd, now: Timestamp) {
        self.calls.clear();
        self.tail.clear();
        self.state = NodeState::Ended(end.ending.outcome, end.ending.text.clone());
        self.ended_at = Some(now);
    }

    /// How long it has been at work, or was.
    pub(crate) fn worked(&self, now: Timestamp) -> Duration {
        self.ended_at.unwrap_or(now).since(self.started_at)
    }

    /// What it is doing right now, in a few words; a line cuts them.
    pub(crate) fn activity(&self) -> String {
        match &self.state {
            NodeState::Waiting => "waits".to_owned(),
            NodeState::Terminated => "terminated".to_owned(),
            NodeState::Ended(Outcome::Done, _) => "done".to_owned(),
            NodeState::Ended(Outcome::Cancelled, _) => "cancelled".to_owned(),
            NodeState::Ended(Outcome::Failed | Outcome::Unknown, why) => format!("failed: {}", first_line(why)),
            NodeState::Working if !self.calls.is_empty() => self.calling(),
            NodeState::Working => match &self.retrying {
                Some(why) => format!("asks again: {}", first_line(why)),
                None if self.tail.is_empty() => "thinks".to_owned(),
                None => one_line(&self.tail),
            },
        }
    }

    /// The open calls by name; several of the same tool are counted.
    fn calling(&self) -> String {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        for call in &self.calls {
            match counted.iter_mut().find(|(name, _)| *name == call.name.as_str()) {
                Some((_, count)) => *count += 1,
                None => counted.push((call.name.as_str(), 1)),
            }
        }
        let shown = counted
            .into_iter()
            .map(|(name, count)| if count == 1 { name.to_owned() } else { format!("{count}× {name}") });
        format!("calls {}", shown.collect::<Vec<_>>().join(", "))
    }

    /// Whether its words are the end of an answer, of which the last part matters.
    pub(crate) fn is_speaking(&self) -> bool {
        self.state == NodeState::Working && self.calls.is_empty() && self.retrying.is_none() && !self.tail.is_empty()
    }

    /// The agent, and the name that this instance was given.
    pub(crate) fn title(&self) -> String {
        match &self.given_name {
            Some(name) => format!("{} ({name})", self.agent),
            None => self.agent.to_string(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
