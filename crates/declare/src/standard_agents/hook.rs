//! A hook definition → draft.

use super::{Definition, Named, child, tool};
use crate::draft::HookDraft;
use crate::faults::{did_you_mean, quoted};
use crate::fields::Fields;
use crate::tree::Tree;
use entourage_model::{Program, Report};
use std::sync::Arc;

/// Everything that can happen on a thread.
const EVENTS: [&str; 14] = [
    "after_thread_created",
    "after_subagent_created",
    "after_system_message",
    "filter_messages",
    "prefilter_llm_history",
    "tool_call_started",
    "tool_call_done",
    "before_create_message",
    "after_create_message",
    "before_update_message",
    "after_update_message",
    "before_store_tool_result",
    "after_tool_call_success",
    "after_tool_call_failure",
];

/// What also has a name, and does not happen here.
const ELSEWHERE: [&str; 3] = ["user_client_attached", "user_client_detached", "user_value_changed"];

impl Definition for HookDraft {
    const FOLDER: &'static str = "agents/hooks";
    const NAMED: Named = Named::ByField("id");

    fn read(mut fields: Fields<'_>, code: Option<Arc<Program>>) -> Self {
        id(&mut fields);
        let draft = Self { event: event(&mut fields), program: tool::execute(&mut fields, code) };
        fields.finish();
        draft
    }
}

fn id(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("id") else { return };
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if matches!(&node.tree, Tree::Text(id) if !id.bytes().all(is_letter)) {
        fields.wrong::<()>("id", "small letters of a to z, digits and `_`", node);
    }
}

/// A name that nobody knows may be that of a later version: the hook is kept and never runs.
fn event(fields: &mut Fields<'_>) -> Option<String> {
    let node = fields.require("hook")?;
    let event = fields.name_of("hook", node)?.value;
    if ELSEWHERE.contains(&event.as_str()) {
        let what = format!("the hook {} is not supported yet and has no effect", quoted(event.as_str()));
        fields.report(node, Report::warning("D009", what).hint(child::IDLE));
    } else if !EVENTS.contains(&event.as_str()) {
        let what = format!("`hook` is {}, which never happens", quoted(event.as_str()));
        let hint = did_you_mean(event.as_str(), EVENTS);
        fields.report(node, Report { hint, ..Report::warning("D034", what) });
    }
    Some(event.to_string())
}
