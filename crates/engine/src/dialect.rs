//! The tools through which a model drives other agents: what they look like, what a call of them asks for, and how it
//! is answered.

pub(crate) mod refusal;
pub(crate) mod schema;
pub(crate) mod standard;

pub(crate) use refusal::Refusal;

use entourage_model::{Attachment, ChildEntry, Dialect, HandoffEntry, ThreadId};
use serde_json::Value;
use std::borrow::Cow;

/// What a call asks of the engine.
pub(crate) enum Wish<'a> {
    Spawn(Order<'a>),
    Send(Note),
    /// Another agent is to take the thread over once the calls of the answer have ended.
    HandOff(&'a HandoffEntry),
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
    #[expect(dead_code, reason = "the agentscope dialect waits for so long")]
    Seconds(u64),
    /// It is answered at once.
    None,
}

impl Patience {
    pub(crate) fn of(blocking: bool) -> Self {
        if blocking { Self::Forever } else { Self::None }
    }
}
