//! What happens in a run, as `events.jsonl` and the answers of `subagent` tell it.

use entourage_engine::{dex_word, profile_id};
use entourage_model::{Event, Message, Outcome, Role, RunStatus, Timestamp};
use serde_json::{Value, json};

/// One event. `seq` is its number in the thread's journal.
pub(crate) fn shown(event: &Event, seq: u64) -> Value {
    match event {
        Event::Started(started) => {
            with(seq, Some(started.at), "created", json!({"profile": profile_id(&started.agent)}))
        }
        Event::Posted(posted) => said(seq, &posted.message),
        Event::Injected { message } => said(seq, message),
        Event::Answered { message, .. } => {
            let call = |call: &entourage_model::ToolCall| json!({"id": call.id, "name": call.name, "arguments": call.arguments});
            let calls: Vec<Value> = message.tool_calls.iter().map(call).collect();
            with(seq, Some(message.created_at), "assistant", json!({"content": message.content, "toolCalls": calls}))
        }
        Event::CallStarted { call } => with(seq, None, "tool_started", json!({"toolCallId": call})),
        Event::CallEnded { message, outcome, facts } => {
            let mut told = json!({
                "toolCallId": message.tool_call_id,
                "toolName": message.tool_name,
                "status": if *outcome == Outcome::Done { "success" } else { "error" },
                "content": message.content,
            });
            if !facts.is_empty() {
                told["facts"] = json!(facts);
            }
            with(seq, Some(message.created_at), "tool_result", told)
        }
        Event::SessionStarted { .. } | Event::SessionResumed { .. } => status(seq, None, RunStatus::Running),
        Event::SessionInterrupted => status(seq, None, RunStatus::Interrupted),
        Event::SessionEnded(end) => status(seq, None, end.ending.outcome.run_status()),
        Event::Terminated { at } => status(seq, Some(*at), RunStatus::Cancelled),
        Event::Emitted { name, data } => with(seq, None, "progress", json!({"name": name, "data": data})),
        // Of what only the engine needs the kind is told, so that whoever reads can see that nothing is missing.
        Event::ChildStarted(_)
        | Event::CallJoined { .. }
        | Event::ChildAsked { .. }
        | Event::ChildAwaited { .. }
        | Event::ChildReleased { .. }
        | Event::ChildEnded { .. }
        | Event::ChildCancelled { .. }
        | Event::ChildInterrupted { .. }
        | Event::ChildResumed { .. }
        | Event::ChildTerminated { .. }
        | Event::ChildReported { .. }
        | Event::RunDismissed { .. }
        | Event::RunRead { .. }
        | Event::RunCancelled { .. }
        | Event::Activated { .. }
        | Event::HandedOff { .. }
        | Event::VariablesRequested(_)
        | Event::RequestClosed { .. }
        | Event::TurnEnded { .. }
        | Event::TaskSaved(_)
        | Event::VariablesSet { .. }
        | Event::ValueSet { .. }
        | Event::MessageReplaced { .. }
        | Event::MessageDeleted { .. }
        | Event::CallQueued { .. }
        | Event::CreationHeard
        | Event::HookFailed { .. }
        | Event::PromptAnswered { .. }
        | Event::FilePut(_)
        | Event::FileRemoved { .. } => with(seq, None, event.kind(), json!({})),
    }
}

fn said(seq: u64, message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    with(seq, Some(message.created_at), "message", json!({"role": role, "content": message.content}))
}

fn status(seq: u64, at: Option<Timestamp>, status: RunStatus) -> Value {
    with(seq, at, "status", json!({"status": dex_word(status)}))
}

fn with(seq: u64, at: Option<Timestamp>, kind: &str, told: Value) -> Value {
    let mut event = json!({"seq": seq, "type": kind});
    if let (Some(event), Some(at)) = (event.as_object_mut(), at) {
        event.insert("at".to_owned(), json!(at.to_utc()));
    }
    if let (Some(event), Value::Object(told)) = (event.as_object_mut(), told) {
        event.extend(told);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Digest, Ids, Started};

    #[test]
    fn a_profile_is_called_by_its_id_also_where_another_agent_has_that_name() {
        let thread = Ids::new(Timestamp(0), 1).thread();
        let started = Started::root(thread, "dex/reviewer".into(), Digest::of(&[]), Timestamp(0));
        assert_eq!(shown(&Event::Started(started), 1)["profile"], "reviewer");
    }
}
