//! The journal: what happened on a thread, in order. The thread's state is the fold of these.

use crate::{
    Ask, Attachment, CallId, ChildEntry, Communication, Dialect, Digest, Ending, Fact, FileRow, Message, MessageId,
    ModelRef, Name, Outcome, Posted, RequestId, RunId, Side, TaskItem, ThreadId, Timestamp, ToolCall, Usage,
    VariableValue,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use strum::IntoStaticStr;

/// The form of every event that this program writes. A reader refuses a greater one.
pub const JOURNAL_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "type", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a journal has one large event, its first; the others are small")]
pub enum Event {
    /// Always the first event.
    Started(Started),
    /// A session began, with `acting` as the first side; it is over at `deadline` at the latest.
    SessionStarted {
        deadline: Timestamp,
        acting: Side,
        /// The run of a session that begins without a message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<Box<Ask>>,
    },
    /// A queued message joined the transcript.
    Posted(Box<Posted>),
    /// The model answered: one step of the acting side is done.
    Answered {
        message: Arc<Message>,
        usage: Usage,
    },
    /// A call that must not happen twice unseen is about to be made.
    CallStarted {
        call: CallId,
    },
    /// A call has its result, as the message that the model will see.
    CallEnded {
        message: Arc<Message>,
        outcome: Outcome,
        /// What the runtime saw it do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        facts: Vec<Fact>,
    },
    /// A call waits until none of these children works on anything.
    CallJoined {
        call: CallId,
        children: Vec<ThreadId>,
    },
    /// A child exists, with its first run.
    ChildStarted(Box<ChildLink>),
    /// An existing child was given another run.
    ChildAsked {
        child: ThreadId,
        run: RunId,
        wait: Wait,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    /// A call waits for a run that was in the background.
    ChildAwaited {
        child: ThreadId,
        run: RunId,
        wait: Wait,
    },
    /// A call waits no longer for this run, which goes on in the background unless others wait for it.
    ChildReleased {
        child: ThreadId,
        run: RunId,
        /// Absent in older journals: one call at most waited for a run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// A child ended a run.
    ChildEnded {
        child: ThreadId,
        run: RunId,
        outcome: Outcome,
    },
    /// A child's run was asked to end, so that its ending is no news.
    ChildCancelled {
        child: ThreadId,
    },
    /// One run of a child was asked to end, so that its ending is no news; other runs of the child go on.
    RunDismissed {
        child: ThreadId,
        run: RunId,
    },
    /// A call was given the run's result, so that it is no news any more.
    RunRead {
        run: RunId,
    },
    /// A child has stopped in the middle of a run.
    ChildInterrupted {
        child: ThreadId,
        run: RunId,
    },
    /// A child was told to go on with a run that was interrupted.
    ChildResumed {
        child: ThreadId,
        run: RunId,
        wait: Wait,
    },
    ChildTerminated {
        child: ThreadId,
    },
    ChildReported {
        child: ThreadId,
        status: String,
    },
    /// The acting side's immediate children are started, by the calls of this message; with none it is no line of the
    /// transcript.
    Activated {
        message: Arc<Message>,
    },
    /// Another agent works on from here, with the same conversation.
    HandedOff {
        agent: Name,
    },
    /// A child cannot start before somebody gives these variables.
    VariablesRequested(Box<VariablesRequest>),
    /// The request was used for this child, or is over without one.
    RequestClosed {
        request: RequestId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<ThreadId>,
    },
    /// One of the session's runs was cancelled; the session goes on for the others.
    RunCancelled {
        run: RunId,
    },
    /// The acting side's turn is over; the other side, or a person, is next.
    TurnEnded {
        side: Side,
        stop: Stop,
        next: Side,
    },
    /// The session stands still until it is resumed.
    SessionInterrupted,
    /// It goes on, until `deadline` at the latest.
    SessionResumed {
        deadline: Timestamp,
    },
    SessionEnded(Box<SessionEnd>),
    /// An entry of the task list is new, or has changed.
    TaskSaved(Box<TaskItem>),
    Terminated {
        at: Timestamp,
    },
    /// These variables of the thread hold something else now.
    VariablesSet {
        variables: BTreeMap<String, VariableValue>,
    },
    /// A tool put a value aside; `null` forgets it.
    ValueSet {
        key: String,
        value: Value,
    },
    /// A tool put a message into the transcript.
    Injected {
        message: Arc<Message>,
    },
    /// A tool put this message in the place of the one with the same id.
    MessageReplaced {
        message: Arc<Message>,
    },
    /// A tool took a message out of the transcript, and with an answer the results of its calls.
    MessageDeleted {
        id: MessageId,
    },
    /// A tool asked for another call, behind those of the current answer.
    CallQueued {
        call: ToolCall,
    },
    /// A tool wrote a file of the thread. What there is now is said by the file's row, not by this.
    FilePut(FileRow),
    FileRemoved {
        path: String,
    },
    /// A prompt of the team was asked within a call, and answered so. Only its caller is told, by the call's result.
    PromptAnswered {
        prompt: Name,
        answer: Arc<Message>,
        usage: Usage,
    },
    /// A tool told whoever watches the thread.
    Emitted {
        name: String,
        data: Value,
    },
    /// The hooks that wait for a thread's creation have heard of this one's.
    CreationHeard,
    /// A hook came to no orderly end: what it heard of went on without it.
    HookFailed {
        hook: Name,
        /// By its name in Standard Agents.
        occasion: String,
        why: String,
    },
}

impl Event {
    /// What the journal calls it: its `type`.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The transcript's new line, where this event is one.
    pub fn message(&self) -> Option<&Arc<Message>> {
        match self {
            Self::Posted(posted) => Some(&posted.message),
            // Nobody was called: there is nothing to read.
            Self::Activated { message } => (!message.tool_calls.is_empty()).then_some(message),
            Self::Answered { message, .. } | Self::CallEnded { message, .. } | Self::Injected { message } => {
                Some(message)
            }
            Self::Started(_)
            | Self::SessionStarted { .. }
            | Self::CallStarted { .. }
            | Self::ChildStarted(_)
            | Self::CallJoined { .. }
            | Self::ChildAsked { .. }
            | Self::ChildReleased { .. }
            | Self::ChildAwaited { .. }
            | Self::RunDismissed { .. }
            | Self::RunRead { .. }
            | Self::HandedOff { .. }
            | Self::VariablesRequested(_)
            | Self::RequestClosed { .. }
            | Self::ChildEnded { .. }
            | Self::ChildCancelled { .. }
            | Self::ChildInterrupted { .. }
            | Self::ChildResumed { .. }
            | Self::ChildTerminated { .. }
            | Self::ChildReported { .. }
            | Self::RunCancelled { .. }
            | Self::TurnEnded { .. }
            | Self::SessionInterrupted
            | Self::SessionResumed { .. }
            | Self::SessionEnded(_)
            | Self::TaskSaved(_)
            | Self::Terminated { .. }
            | Self::VariablesSet { .. }
            | Self::ValueSet { .. }
            | Self::MessageReplaced { .. }
            | Self::MessageDeleted { .. }
            | Self::CallQueued { .. }
            | Self::FilePut(_)
            | Self::FileRemoved { .. }
            | Self::PromptAnswered { .. }
            | Self::Emitted { .. }
            | Self::CreationHeard
            | Self::HookFailed { .. } => None,
        }
    }
}

/// How a thread came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub thread: ThreadId,
    pub agent: Name,
    pub bundle: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ThreadId>,
    pub root: ThreadId,
    pub depth: u32,
    /// Keeps living after a session, to be written to again.
    #[serde(default)]
    pub resumable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<Side>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// How its parent drives it. Absent for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// What its parent called it with, where the agent asks for more than a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Tools that neither it nor anything below it may call, whatever its agent says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Name>,
    /// The prompt as it was read when the thread was made, in place of what the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// The tools that its caller has: of its own it may use these. Absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Name>>,
    /// The models of its caller, for an agent that names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelRef>,
    /// The agent whose limits and ways it has, where its own says nothing of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirrors: Option<Name>,
    /// Hooks of its agent are to hear of its creation before anything else happens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooked: bool,
    /// Where its caller works, for an agent that does not say where it does. Absent: in the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    pub at: Timestamp,
}

impl Started {
    /// How a thread without a parent comes to be.
    pub fn root(thread: ThreadId, agent: Name, bundle: Digest, at: Timestamp) -> Self {
        Self {
            thread,
            agent,
            bundle,
            parent: None,
            root: thread,
            depth: 0,
            resumable: false,
            receives: None,
            user_id: None,
            dialect: None,
            arguments: None,
            denied: Vec::new(),
            instructions: None,
            tools: None,
            models: Vec::new(),
            mirrors: None,
            hooked: false,
            folder: None,
            at,
        }
    }
}

/// What is known of a child that waits for variables: enough to start it as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariablesRequest {
    pub id: RequestId,
    pub entry: ChildEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The answer that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<MessageId>,
    /// The dialect that the child was asked for in.
    #[serde(default, skip_serializing_if = "Dialect::is_standard")]
    pub dialect: Dialect,
    /// What the child is given in place of what its agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Name>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelRef>,
    /// Tools that nobody may call for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Name>,
    /// Every scoped variable that the child and what it can start must have, and those of them that hold nothing.
    pub required: Vec<String>,
    pub missing: Vec<String>,
    /// Kept until then.
    pub until: Timestamp,
}

/// Whether a parent's call waits for a child's run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// The run's ending answers this call.
    Call(CallId),
    /// The same, but not for longer: then the run goes on in the background.
    Timed { call: CallId, until: Timestamp },
    /// The run's ending becomes a queued message.
    Background,
}

impl Wait {
    /// The call that the run's ending answers.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Call(call) | Self::Timed { call, .. } => Some(call),
            Self::Background => None,
        }
    }
}

/// A child as its parent keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildLink {
    pub thread: ThreadId,
    /// Absent: it was given nothing to do yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub wait: Wait,
    pub agent: Name,
    /// What the parent calls it, if not as the agent: instances are counted by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// The answer whose calls started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<MessageId>,
    #[serde(default, skip_serializing_if = "Dialect::is_standard")]
    pub dialect: Dialect,
    pub resumable: bool,
    pub blocking: bool,
    pub communication: Communication,
    pub at: Timestamp,
}

/// Why a side's turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    StopTool,
    Response,
    /// A side without any stop rule hands over after every step.
    EveryStep,
    /// A limit, by its name.
    Limit(String),
    /// Somebody asked for it.
    Asked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    pub ending: Ending,
    pub rest: Rest,
}

/// How a thread rests between sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    #[default]
    Idle,
    Done,
    Failed,
}
