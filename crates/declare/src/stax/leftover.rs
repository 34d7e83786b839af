//! What a subagent of a bundle said beyond the words of the harness that it was written for: the harness's file keeps it
//! under `x-stax`, and whoever reads the file takes it over.

use super::subagents::{INVOCATIONS, handoff, said};
use crate::exchange::Record;
use crate::faults::Faults;
use crate::fields::Fields;
use crate::solo::{Said, Solo};
use crate::tree::{Node, Tree};
use serde_json::{Value, json};

/// The same as `Format::Stax.vendor_key()`.
pub(crate) const LEFTOVER: &str = "x-stax";

/// What the harness's own keys say, and what no subagent has.
const NEVER: [&str; 5] = ["description", "instructions", "model", "agents", "subagents"];

/// Takes it over from the front matter. What the harness itself says counts before it; what has no effect here, or
/// cannot be read, is kept as it is. Who may call an agent is decided by a bundle, so that `handoff` has none.
pub(crate) fn take(solo: &mut Solo, node: &Node) {
    let Some(kept @ Node { tree: Tree::Object(entries), .. }) = node.field(LEFTOVER) else { return };
    let mut unread = Faults::new("");
    let Some(mut fields) = Fields::of(kept, "", &mut unread) else { return };
    let invocation = said(&mut fields, "invocation", |fields| fields.choice("invocation", &INVOCATIONS));
    let tags = said(&mut fields, "tags", |fields| fields.texts("tags"));
    let metadata = said(&mut fields, "metadata", |fields| fields.text_map("metadata"));
    solo.invocation = solo.invocation.take().or(invocation.map(nested));
    solo.tags = solo.tags.take().or(tags.map(nested));
    solo.metadata = solo.metadata.take().or(metadata.map(nested));
    solo.rest.retain(|said| said.key != LEFTOVER);
    let left: Vec<_> = {
        let keys = solo.keys();
        let entries = entries.iter().map(|(key, node)| (path(key), node));
        let left = entries.filter(|(key, _)| !keys.contains(key.as_str()));
        left.map(|(key, node)| Said { key, spot: node.spot, value: node.value() }).collect()
    };
    solo.rest.extend(left);
}

/// Writes it where stax has it, and takes it out of what is left to be said.
pub(super) fn give_back(solo: &Solo, left: &mut Solo, record: &mut Record) {
    let Some(Value::Object(kept)) = solo.verbatim.get(LEFTOVER) else { return };
    let keys = solo.keys();
    for (key, value) in kept {
        let is_said = match key.as_str() {
            "invocation" | "tags" | "metadata" => keys.contains(path(key).as_str()),
            "handoff" => is_handoff(value),
            other => !NEVER.contains(&other) && !record.keys.contains_key(other),
        };
        if is_said {
            record.set(key, value.clone());
            left.rest.retain(|said| said.key != path(key));
        }
    }
}

fn path(key: &str) -> String {
    format!("{LEFTOVER}.{key}")
}

fn nested<T>(said: Said<T>) -> Said<T> {
    Said { key: path(&said.key), ..said }
}

fn is_handoff(value: &Value) -> bool {
    let node = Node::without_place(&json!({ "handoff": value }));
    let mut faults = Faults::new("");
    let read = Fields::of(&node, "", &mut faults).and_then(|mut fields| handoff(&mut fields));
    read.is_some() && !faults.has_error()
}
