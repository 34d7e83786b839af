//! What can lie in a thread's queue.

use crate::{Ending, Message, RequestId, RunId, ThreadId, ToolCall, VariableValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that reaches a thread from outside. It is durable before anybody is told that it was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Joins the transcript before the next model step, or starts a turn.
    Message(Posted),
    /// A child has ended one run. Comes once for each run.
    /// A `quiet` one is no news: another run of the same session brings the same ending.
    ChildEnded {
        child: ThreadId,
        run: RunId,
        ending: Ending,
        quiet: bool,
        /// What is to be known of how it came about, beside the ending itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A child has ended a session for which its parent had not asked: somebody else had written to it.
    ChildFinished { child: ThreadId, ending: Ending },
    /// A child was terminated; nothing else comes from it.
    ChildTerminated { child: ThreadId, run: Option<RunId> },
    /// A child has stopped in the middle of a run, which waits to be resumed.
    ChildInterrupted { child: ThreadId, run: RunId },
    /// A child says what it is doing.
    ChildReported {
        child: ThreadId,
        status: String,
        /// These are not its own words: they tell how it stands with what somebody else than its parent asked of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_others: bool,
    },
    /// The variables that a request asks for. Its child starts as `child`; an unknown request is a no-op.
    Variables {
        request: RequestId,
        child: ThreadId,
        variables: BTreeMap<String, VariableValue>,
        /// The same for the same values, of which nothing can be read. Sealed values are never the same twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    },
    /// Takes a request for variables back. An unknown or used one is a no-op.
    CloseRequest { request: RequestId },
    /// Somebody outside calls a tool in the place of a model. A thread whose agent is not driven so is called by nobody.
    Call { call: ToolCall },
    /// Ends one run of this thread.
    Cancel { run: RunId },
    /// Stops the work on one run of this thread until it is resumed. An ended run stays as it is.
    Interrupt { run: RunId },
    /// Goes on with an interrupted run. One that is not interrupted stays as it is.
    Resume { run: RunId, message: Option<Arc<Message>> },
    /// Ends the current turn.
    Stop,
    /// Ends the thread and everything below it, for good.
    Terminate,
}

impl Item {
    /// Messages wait for the next step; everything else is for now.
    pub fn is_message(&self) -> bool {
        matches!(self, Self::Message(_))
    }
}

/// A queued message and whose work it asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// Shared with the transcript that it joins.
    pub message: Arc<Message>,
    /// The run that this message is the request of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Who is told when that run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<ReplyTo>,
    /// The run whose result this message brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivers: Option<RunId>,
}

impl Posted {
    /// A message that nobody waits for.
    pub fn plain(message: Message) -> Self {
        Self { message: Arc::new(message), run: None, reply_to: None, delivers: None }
    }
}

/// A run that a session answers, and whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub run: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<ReplyTo>,
}

/// Who is told of a run's ending. What the ending answers there is known there: it is in the asker's own journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTo {
    pub thread: ThreadId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ids, Timestamp};
    use serde_json::json;

    #[test]
    fn a_report_of_an_earlier_version_is_the_child_s_own() {
        let child = Ids::new(Timestamp(0), 1).thread();
        let own = Item::ChildReported { child, status: "half way".to_owned(), for_others: false };
        let written = json!({"child_reported": {"child": child, "status": "half way"}});
        assert_eq!(serde_json::to_value(&own).expect("it can be written"), written);
        assert_eq!(serde_json::from_value::<Item>(written).expect("it can be read"), own);
    }
}
