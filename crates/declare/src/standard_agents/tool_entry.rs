//! The `tools` of a prompt definition → entries.

use crate::draft::EntryDraft;
use crate::fields::{Fields, Shape};
use crate::tree::{At, Node, Tree};
use entourage_model::{ChildEntry, Communication, Report, Resumable, Side};
use serde_json::{Map, Value};

const SIDES: [(&str, Side); 2] = [("side_a", Side::A), ("side_b", Side::B)];

const COMMUNICATIONS: [(&str, Communication); 2] =
    [("implicit", Communication::Implicit), ("explicit", Communication::Explicit)];

/// What has no place in an entry is kept by the entry's name.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<EntryDraft> {
    let mut rests = Map::new();
    let mut entries = Vec::new();
    for (index, node) in fields.list("tools").unwrap_or_default().iter().enumerate() {
        let path = format!("tools[{index}]");
        let entry = match &node.tree {
            Tree::Text(_) => fields.name_of(&path, node).map(EntryDraft::Bare),
            Tree::Object(_) => fields.within(node, &path).and_then(|fields| full(fields, &mut rests)),
            _ => fields.wrong(&path, "a name or an object", node),
        };
        entries.extend(entry);
    }
    fields.keep_rest("tools", rests);
    entries
}

fn full(mut fields: Fields<'_>, rests: &mut Map<String, Value>) -> Option<EntryDraft> {
    let name = fields.require_name("name");
    let blocking = fields.flag("blocking").unwrap_or(true);
    let message_property = fields.text("initUserMessageProperty");
    let attachments_property = fields.text("initAttachmentsProperty");
    let name_property = fields.text("initAgentNameProperty");
    let resumable = resumable(&mut fields);
    immediate(&mut fields);
    optional(&mut fields);
    // What a tool or a sub-prompt would be given.
    for key in ["includeTextResponse", "includeToolCalls", "includeErrors"] {
        fields.keep(key, Shape::Flag);
    }
    fields.keep("env", Shape::TextMap);
    fields.keep("options", Shape::Any);
    let rest = fields.finish();
    let At { value: agent, spot } = name?;
    if !rest.is_empty() {
        rests.insert(agent.to_string(), Value::Object(rest));
    }
    let value = ChildEntry { agent, blocking, message_property, attachments_property, name_property, resumable };
    Some(EntryDraft::Full(At { value, spot }))
}

fn resumable(fields: &mut Fields<'_>) -> Option<Resumable> {
    let node = fields.node("resumable")?;
    match &node.tree {
        Tree::Flag(false) => return None,
        Tree::Object(_) => {}
        _ => return fields.wrong("resumable", "`false` or an object", node),
    }
    let mut inner = fields.within(node, "resumable")?;
    let receives = inner.require("receives_messages").and_then(|_| inner.choice("receives_messages", &SIDES));
    let instances_max = inner.count("maxInstances");
    let communication = inner.choice("parentCommunication", &COMMUNICATIONS).unwrap_or_default();
    let rest = inner.finish();
    fields.keep_rest("resumable", rest);
    Some(Resumable { receives: receives?, instances_max, communication })
}

fn immediate(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("immediate") else { return };
    match &node.tree {
        Tree::Flag(false) => {}
        Tree::Flag(true) => unsupported(fields, "immediate", node),
        Tree::Object(_) => {
            unsupported(fields, "immediate", node);
            if let Some(mut inner) = fields.within(node, "immediate") {
                inner.keep("nameEnv", Shape::Text);
                inner.keep("descriptionEnv", Shape::Text);
                inner.keep("scopedEnv", Shape::Texts);
                inner.finish();
            }
        }
        _ => return fields.wrong("immediate", "`true`, `false` or an object", node).unwrap_or_default(),
    }
    fields.keep_value("immediate", node.value());
}

fn optional(fields: &mut Fields<'_>) {
    let Some(node) = fields.node("optional") else { return };
    if fields.text("optional").is_some() {
        unsupported(fields, "optional", node);
        fields.keep_value("optional", node.value());
    }
}

fn unsupported(fields: &mut Fields<'_>, key: &str, node: &Node) {
    fields.report(node, Report::warning("D009", format!("`{key}` is not supported yet and has no effect")));
}
