//! Rows as JSON, in the shapes that the HTTP routes give.

use entourage_model::{Agent, Message, RegistryEntry};
use entourage_store::{RunRow, ThreadRow};
use serde_json::{Value, json};

/// A thread as `GET /threads` lists it.
pub(crate) fn thread(row: &ThreadRow) -> Value {
    json!({
        "thread_id": row.id,
        "agent": row.agent,
        "bundle": row.bundle,
        "status": row.status,
        "parent": row.parent,
        "root": row.root,
        "depth": row.depth,
        "created_at": row.created_at,
        "terminated": row.terminated_at,
        "tags": row.tags,
        "user_id": row.user_id,
        "usage": row.usage,
    })
}

/// A thread as `GET /threads/{id}` shows it.
pub(crate) fn thread_with_children(row: &ThreadRow, children: &[RegistryEntry]) -> Value {
    let mut shown = thread(row);
    shown["children"] = json!(children);
    shown
}

/// A run as `GET /runs` lists it.
pub(crate) fn run(row: &RunRow) -> Value {
    json!({
        "run_id": row.id,
        "thread_id": row.thread,
        "parent_thread_id": row.parent,
        "agent": row.agent,
        "status": row.status,
        "result": row.result,
        "error": row.error,
        "created_at": row.created_at,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "delivered_at": row.delivered_at,
        "cancel_requested": row.cancel_requested,
    })
}

/// A message as `GET /threads/{id}/messages` gives it: every key, also where there is nothing to say.
pub(crate) fn message(seq: u64, message: &Message) -> Value {
    json!({
        "id": message.id,
        "seq": seq,
        "side": message.side,
        "role": message.role,
        "content": message.content,
        "tool_calls": message.tool_calls,
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "tool_status": message.tool_status,
        "silent": message.silent,
        "attachments": message.attachments,
        "metadata": message.metadata,
        "created_at": message.created_at,
    })
}

/// An agent as `GET /agents` lists it.
pub(crate) fn agent(agent: &Agent) -> Value {
    json!({
        "name": agent.name,
        "title": agent.title,
        "description": agent.description,
        "kind": agent.kind,
        "format": agent.source.format,
        "file": agent.source.file,
    })
}
