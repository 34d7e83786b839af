//! What a task's client is told of a thread's journal: numbered from 1, the same at every reading.

use super::context::Detail;
use entourage_model::{Digest, Ending, Event, Message, Outcome, RunId, Timestamp, ToolStatus, Usage};
use serde_json::{Value, json};

/// Turns a journal into the events of one task.
#[derive(Debug)]
pub(super) struct Teller {
    task: String,
    run: RunId,
    agent: String,
    /// What its client wants to be told, as its request says; of the rest nothing is, not even a number.
    detail: Detail,
    /// How many were told so far.
    seq: u64,
    /// When the last thing happened of which that is known.
    at: Timestamp,
    /// When the run ended, once it has: the journal does not say.
    pub(super) ended_at: Option<Timestamp>,
    pub(super) has_begun: bool,
    pub(super) is_over: bool,
    told: Vec<Told>,
}

/// One event for the wire.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) seq: u64,
    pub(super) kind: &'static str,
    pub(super) body: Value,
}

impl Told {
    /// Of a task that was never begun.
    pub(super) fn refusal(task: &str, why: &str, at: Timestamp) -> Self {
        let body = json!({ "seq": 1, "type": "RUN_ERROR", "taskId": task, "timestamp": moment(at), "status": "error",
            "error": why });
        Self { seq: 1, kind: "RUN_ERROR", body }
    }
}

impl Teller {
    pub(super) fn new(task: String, (run, agent): (RunId, String)) -> Self {
        Self {
            task,
            run,
            agent,
            detail: Detail::default(),
            seq: 0,
            at: Timestamp::default(),
            ended_at: None,
            has_begun: false,
            is_over: false,
            told: Vec::new(),
        }
    }

    /// What the event means for the task's client.
    pub(super) fn tell(&mut self, event: &Event) -> Vec<Told> {
        if !self.is_over {
            self.hear(event);
        }
        std::mem::take(&mut self.told)
    }

    fn hear(&mut self, event: &Event) {
        self.at = event.message().map_or(self.at, |message| message.created_at);
        if !self.has_begun {
            if let Event::Posted(posted) = event
                && posted.run.as_ref() == Some(&self.run)
            {
                self.has_begun = true;
                self.detail = Detail::of_request(&posted.message);
                self.one("RUN_STARTED", Detail::Status, json!({}));
                self.source("AGENT_START", json!({ "sessionId": self.task, "name": self.agent, "role": "assistant" }));
            }
            return;
        }
        if let Event::Answered { message, usage } = event {
            return self.answered(message, *usage);
        }
        if let Event::CallEnded { message, outcome, .. } = event {
            return self.called(message, *outcome);
        }
        if let Event::SessionEnded(end) = event {
            return self.end(&end.ending);
        }
        // A task that is cancelled or terminated ends without a word; of everything else its client knows nothing.
        let is_cancelled = matches!(event, Event::RunCancelled { run } if *run == self.run);
        self.is_over = is_cancelled || matches!(event, Event::Terminated { .. });
    }

    fn answered(&mut self, message: &Message, usage: Usage) {
        let usage = json!({ "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens });
        self.source("MODEL_CALL_END", json!({ "replyId": message.id, "usage": usage }));
        if !message.content.is_empty() {
            self.one("TEXT_DELTA", Detail::Full, json!({ "text": message.content }));
        }
        for call in &message.tool_calls {
            let body = json!({ "toolCallId": call.id, "toolName": call.name });
            self.one("TOOL_CALL_START", Detail::Status, body.clone());
            self.one("TOOL_CALL_END", Detail::Status, body);
        }
    }

    fn called(&mut self, message: &Message, outcome: Outcome) {
        let status = match (message.tool_status, outcome) {
            (_, Outcome::Cancelled | Outcome::Unknown) => "INTERRUPTED",
            (Some(ToolStatus::Success), _) => "SUCCESS",
            (Some(ToolStatus::Error) | None, _) => "ERROR",
        };
        let (call, name) = (&message.tool_call_id, &message.tool_name);
        let body = json!({ "toolCallId": call, "toolName": name, "text": message.content, "status": status });
        self.one("TOOL_RESULT", Detail::Status, body);
    }

    fn end(&mut self, ending: &Ending) {
        self.is_over = true;
        self.at = self.ended_at.unwrap_or(self.at);
        match ending.outcome {
            // A cancelled task ends without a word.
            Outcome::Cancelled => {}
            Outcome::Done => {
                self.source("AGENT_END", json!({ "sessionId": self.task, "name": self.agent }));
                self.one("RUN_FINISHED", Detail::Status, json!({}));
                self.one("STATUS", Detail::Status, json!({ "status": "success" }));
            }
            Outcome::Failed | Outcome::Unknown => {
                self.source("AGENT_END", json!({ "sessionId": self.task, "name": self.agent }));
                self.one("RUN_ERROR", Detail::Status, json!({ "status": "error", "error": ending.fault() }));
            }
        }
    }

    /// Something that has no event of its own here: it is passed on as its source would tell it.
    fn source(&mut self, kind: &'static str, mut event: Value) {
        if self.detail < Detail::Verbose {
            return;
        }
        let id = Digest::of(format!("{}/{}", self.run, self.seq + 1).as_bytes());
        let id: String = id.as_bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        event["type"] = json!(kind);
        event["id"] = json!(id);
        event["createdAt"] = json!(moment(self.at));
        self.one("AGENT_EVENT", Detail::Verbose, json!({ "eventType": kind, "payload": event.to_string() }));
    }

    fn one(&mut self, kind: &'static str, detail: Detail, mut body: Value) {
        if detail > self.detail {
            return;
        }
        self.seq += 1;
        body["seq"] = json!(self.seq);
        body["type"] = json!(kind);
        body["taskId"] = json!(self.task);
        body["agentId"] = json!(self.agent);
        body["timestamp"] = json!(moment(self.at));
        self.told.push(Told { seq: self.seq, kind, body });
    }
}

/// In UTC, to the millisecond.
fn moment(at: Timestamp) -> String {
    let seconds = at.to_utc();
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), at.0.rem_euclid(1_000_000) / 1000)
}
