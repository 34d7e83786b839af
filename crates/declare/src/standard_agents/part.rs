//! The text of a prompt definition, whole or in parts → parts.

use crate::draft::PartDraft;
use crate::fields::Fields;
use crate::tree::{Node, Tree};

/// The first three are the specification's own, the others an earlier one's.
const KINDS: [(&str, PartKind); 6] = [
    ("text", PartKind::Text("content")),
    ("include", PartKind::Include("prompt")),
    ("env", PartKind::Env("property")),
    ("string", PartKind::Text("value")),
    ("prompt", PartKind::Include("id")),
    ("variable", PartKind::Variable("value")),
];

/// Each with the field that says what it is about.
#[derive(Clone, Copy)]
enum PartKind {
    Text(&'static str),
    Include(&'static str),
    Env(&'static str),
    Variable(&'static str),
}

/// The parts are kept beside the text that they make, which no longer shows them.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<PartDraft> {
    let Some(node) = fields.require("prompt") else { return Vec::new() };
    match &node.tree {
        Tree::Text(text) => vec![PartDraft::Text(text.clone())],
        Tree::List(items) => {
            fields.keep_value("prompt", node.value());
            let part = |(index, item): (usize, &Node)| match item.tree {
                Tree::Object(_) => part(fields.within(item, &format!("prompt[{index}]"))?),
                _ => {
                    fields.wrong(&format!("prompt[{index}]"), "an object such as `{ type: 'text', content: … }`", item)
                }
            };
            items.iter().enumerate().filter_map(part).collect()
        }
        _ => fields.wrong("prompt", "a string or an array of parts", node).unwrap_or_default(),
    }
}

fn part(mut fields: Fields<'_>) -> Option<PartDraft> {
    fields.require("type")?;
    let part = match fields.choice("type", &KINDS)? {
        PartKind::Text(key) => fields.require(key).and_then(|_| fields.text(key)).map(PartDraft::Text),
        PartKind::Include(key) => fields.require_name(key).map(PartDraft::Include),
        PartKind::Env(key) => fields.require_name(key).map(PartDraft::Env),
        PartKind::Variable(key) => fields.require_name(key).map(PartDraft::Variable),
    };
    // The whole part is kept by whoever reads the list.
    fields.finish();
    part
}
