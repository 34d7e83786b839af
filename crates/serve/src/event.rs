//! What happened, as streams show it. Only what is in the journal may go in, so that a replay gives the same bytes.

use entourage_model::{ChildLink, Ending, Event, Started, VariablesRequest};
use entourage_runtime::StoredEvent;
use serde_json::{Value, json};

/// A durable event with its thread.
pub(crate) fn shown(stored: &StoredEvent) -> Value {
    let (event, seq) = (&stored.event, stored.seq);
    let mut document = match event.message() {
        Some(message) => json!({ "type": "message", "thread_id": stored.thread, "message": message.shown(Some(seq)) }),
        None => told(event),
    };
    document["thread_id"] = json!(stored.thread);
    document
}

/// What people and programs outside may know of it. Values of variables are nobody's business.
fn told(event: &Event) -> Value {
    match event {
        Event::Started(started) => begun(started),
        Event::SessionStarted { acting, .. } => json!({ "type": "session_started", "acting": acting }),
        Event::Activated { message } if message.tool_calls.is_empty() => json!({ "type": "activated" }),
        Event::Posted(_)
        | Event::Activated { .. }
        | Event::Answered { .. }
        | Event::CallEnded { .. }
        | Event::Injected { .. } => {
            json!({ "type": "message" })
        }
        Event::CallStarted { call } => json!({ "type": "call_started", "call_id": call }),
        Event::ChildStarted(link) => child_started(link),
        Event::ChildAsked { child, run, .. } => json!({ "type": "child_asked", "child": child, "run_id": run }),
        Event::ChildReleased { child, run, .. } => json!({ "type": "child_released", "child": child, "run_id": run }),
        Event::ChildAwaited { child, run, .. } => json!({ "type": "child_awaited", "child": child, "run_id": run }),
        Event::RunDismissed { child, run } => json!({ "type": "run_dismissed", "child": child, "run_id": run }),
        Event::RunRead { run } => json!({ "type": "run_read", "run_id": run }),
        Event::HandedOff { agent } => json!({ "type": "handed_off", "agent": agent }),
        Event::VariablesRequested(request) => variables_requested(request),
        Event::RequestClosed { request, child } => {
            json!({ "type": "request_closed", "request_id": request, "child": child })
        }
        Event::ChildEnded { child, run, outcome } => {
            json!({ "type": "child_ended", "child": child, "run_id": run, "outcome": outcome })
        }
        Event::ChildCancelled { child } => json!({ "type": "child_cancelled", "child": child }),
        Event::CallJoined { call, children } => json!({ "type": "call_joined", "call_id": call, "children": children }),
        Event::ChildInterrupted { child, run } => json!({ "type": "child_interrupted", "child": child, "run_id": run }),
        Event::ChildResumed { child, run, .. } => json!({ "type": "child_resumed", "child": child, "run_id": run }),
        Event::ChildTerminated { child } => json!({ "type": "child_terminated", "child": child }),
        Event::ChildReported { child, status } => {
            json!({ "type": "child_reported", "child": child, "status": status })
        }
        Event::RunCancelled { run } => json!({ "type": "run_cancelled", "run_id": run }),
        Event::TurnEnded { side, stop, next } => {
            json!({ "type": "turn_ended", "side": side, "stop": stop, "next": next })
        }
        Event::SessionInterrupted => json!({ "type": "session_interrupted" }),
        Event::SessionResumed { deadline } => json!({ "type": "session_resumed", "deadline": deadline }),
        Event::TaskSaved(item) => json!({ "type": "task_saved", "task": item }),
        Event::SessionEnded(end) => {
            let Ending { outcome, text, limit, .. } = &end.ending;
            json!({ "type": "session_ended", "outcome": outcome, "text": text, "limit": limit })
        }
        Event::Terminated { at } => json!({ "type": "terminated", "at": at }),
        Event::VariablesSet { variables } => {
            json!({ "type": "variables_set", "names": variables.keys().collect::<Vec<_>>() })
        }
        Event::ValueSet { key, .. } => json!({ "type": "value_set", "key": key }),
        Event::MessageReplaced { message } => json!({ "type": "message_replaced", "message": message.shown(None) }),
        Event::MessageDeleted { id } => json!({ "type": "message_deleted", "message_id": id }),
        Event::CallQueued { call } => json!({ "type": "call_queued", "call_id": call.id, "name": call.name }),
        Event::FilePut(row) => {
            json!({ "type": "file_put", "path": row.path, "size": row.size, "mime_type": row.mime_type })
        }
        Event::FileRemoved { path } => json!({ "type": "file_removed", "path": path }),
        Event::PromptAnswered { prompt, answer, .. } => {
            json!({ "type": "prompt_answered", "prompt": prompt, "answer": answer.shown(None) })
        }
        Event::Emitted { name, data } => json!({ "type": "emitted", "name": name, "data": data }),
        Event::CreationHeard => json!({ "type": "creation_heard" }),
        Event::HookFailed { hook, occasion, why } => {
            json!({ "type": "hook_failed", "hook": hook, "occasion": occasion, "why": why })
        }
    }
}

fn begun(started: &Started) -> Value {
    json!({
        "type": "started",
        "agent": started.agent,
        "parent": started.parent,
        "root": started.root,
        "depth": started.depth,
    })
}

fn child_started(link: &ChildLink) -> Value {
    json!({
        "type": "child_started",
        "child": link.thread,
        "run_id": link.run,
        "agent": link.agent,
        "name": link.given_name,
    })
}

fn variables_requested(request: &VariablesRequest) -> Value {
    json!({
        "type": "variables_requested",
        "request_id": request.id,
        "agent": request.entry.name(),
        "required": request.required,
        "missing": request.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Ids, Timestamp, VariableValue};
    use std::collections::BTreeMap;

    #[test]
    fn values_of_variables_are_not_shown() {
        let variables = BTreeMap::from([("KEY".to_owned(), VariableValue::text("hunter2"))]);
        let thread = Ids::new(Timestamp(1), 1).thread();
        let stored = StoredEvent { thread, seq: 2, position: 7, epoch: 0, event: Event::VariablesSet { variables } };
        let expected = json!({ "type": "variables_set", "names": ["KEY"], "thread_id": thread });
        assert_eq!(shown(&stored), expected);
    }
}
