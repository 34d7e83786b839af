//! What a task's client is told of a thread's journal: numbered from 1, the same at every reading.

use super::context::Detail;
use entourage_model::{Event, Message, Outcome, RunId, ToolStatus};
use serde_json::{Value, json};

/// Turns a journal into the events of one task.
#[derive(Debug)]
pub(super) struct Teller {
    task: String,
    run: RunId,
    agent: String,
    /// How many were told so far, whether or not anybody wanted to hear them.
    seq: u64,
    has_begun: bool,
    pub(super) is_over: bool,
}

/// One event for the wire.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) seq: u64,
    pub(super) kind: &'static str,
    pub(super) detail: Detail,
    pub(super) body: Value,
}

impl Told {
    /// Of a task that was never begun.
    pub(super) fn refusal(task: &str, why: &str) -> Self {
        let body = json!({ "seq": 1, "type": "RUN_ERROR", "taskId": task, "status": "error", "error": why });
        Self { seq: 1, kind: "RUN_ERROR", detail: Detail::Status, body }
    }
}

impl Teller {
    pub(super) fn new(task: String, run: RunId, agent: String) -> Self {
        Self { task, run, agent, seq: 0, has_begun: false, is_over: false }
    }

    /// What the event means for the task's client.
    pub(super) fn tell(&mut self, event: &Event) -> Vec<Told> {
        if self.is_over {
            return Vec::new();
        }
        if !self.has_begun {
            let begins = matches!(event, Event::Posted(posted) if posted.run.as_ref() == Some(&self.run));
            self.has_begun = begins;
            return if begins { vec![self.one("RUN_STARTED", Detail::Status, json!({}))] } else { Vec::new() };
        }
        if let Event::Answered { message, .. } = event {
            return self.answered(message);
        }
        if let Event::CallEnded { message, outcome, .. } = event {
            return vec![self.called(message, *outcome)];
        }
        if let Event::SessionEnded(end) = event {
            return self.end(end.ending.outcome, &end.ending.text);
        }
        // A task that is cancelled or terminated ends without a word; of everything else its client knows nothing.
        let is_cancelled = matches!(event, Event::RunCancelled { run } if *run == self.run);
        self.is_over = is_cancelled || matches!(event, Event::Terminated { .. });
        Vec::new()
    }

    fn answered(&mut self, message: &Message) -> Vec<Told> {
        let mut told = Vec::new();
        if !message.content.is_empty() {
            told.push(self.one("TEXT_DELTA", Detail::Full, json!({ "text": message.content })));
        }
        for call in &message.tool_calls {
            let body = json!({ "toolCallId": call.id, "toolName": call.name });
            told.push(self.one("TOOL_CALL_START", Detail::Status, body.clone()));
            told.push(self.one("TOOL_CALL_END", Detail::Status, body));
        }
        told
    }

    fn called(&mut self, message: &Message, outcome: Outcome) -> Told {
        let status = match (message.tool_status, outcome) {
            (_, Outcome::Cancelled | Outcome::Unknown) => "INTERRUPTED",
            (Some(ToolStatus::Success), _) => "SUCCESS",
            (Some(ToolStatus::Error) | None, _) => "ERROR",
        };
        let (call, name) = (&message.tool_call_id, &message.tool_name);
        let body = json!({ "toolCallId": call, "toolName": name, "text": message.content, "status": status });
        self.one("TOOL_RESULT", Detail::Status, body)
    }

    fn end(&mut self, outcome: Outcome, text: &str) -> Vec<Told> {
        self.is_over = true;
        match outcome {
            // A cancelled task ends without a word.
            Outcome::Cancelled => Vec::new(),
            Outcome::Done => {
                let finished = self.one("RUN_FINISHED", Detail::Status, json!({}));
                vec![finished, self.one("STATUS", Detail::Status, json!({ "status": "success" }))]
            }
            Outcome::Failed | Outcome::Unknown => {
                vec![self.one("RUN_ERROR", Detail::Status, json!({ "status": "error", "error": text }))]
            }
        }
    }

    fn one(&mut self, kind: &'static str, detail: Detail, mut body: Value) -> Told {
        self.seq += 1;
        body["seq"] = json!(self.seq);
        body["type"] = json!(kind);
        body["taskId"] = json!(self.task);
        body["agentId"] = json!(self.agent);
        Told { seq: self.seq, kind, detail, body }
    }
}
