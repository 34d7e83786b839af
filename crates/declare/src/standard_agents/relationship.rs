//! The `subagents` of a side, as in 0.2.0 → children. Every one of them can be written to again, and its side A acts.

use super::child::{self, COMMUNICATIONS};
use crate::fields::Fields;
use crate::tree::{At, Tree};
use entourage_model::{ChildEntry, Resumable, Side};
use serde_json::{Map, Value};

/// What is unknown in an entry is kept by the entry's name; so is that an entry was here, and not in a prompt.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<At<ChildEntry>> {
    let mut rests = Map::new();
    let mut children = Vec::new();
    for (index, node) in fields.list("subagents").unwrap_or_default().iter().enumerate() {
        let path = format!("subagents[{index}]");
        let child = match &node.tree {
            Tree::Object(_) => fields.within(node, &path).and_then(|fields| entry(fields, &mut rests)),
            _ => fields.wrong(&path, "an object", node),
        };
        children.extend(child);
    }
    fields.keep_rest("subagents", rests);
    children
}

fn entry(mut fields: Fields<'_>, rests: &mut Map<String, Value>) -> Option<At<ChildEntry>> {
    let tells_name = fields.spot("name").is_some();
    let agent = if tells_name { fields.name("agent") } else { fields.require_name("agent") };
    child::misplaced(&mut fields, "name", "in `subagents` the agent is called `agent`", "write `agent` instead");
    for key in ["resumable", "receives_messages"] {
        let why = "every child in `subagents` is resumable, and its side A receives messages";
        child::misplaced(&mut fields, key, why, "remove it, or list the agent in the prompt's `tools`");
    }
    let (immediate, scoped_env) = child::immediate(&mut fields);
    let alias = fields.name("as");
    let resumable = Resumable {
        receives: Side::A,
        instances_max: fields.count("maxInstances"),
        communication: fields.choice("parentCommunication", &COMMUNICATIONS).unwrap_or_default(),
    };
    let optional = child::optional(&mut fields);
    let description = fields.text("description");
    let hidden = fields.flag("hidden").unwrap_or_default();
    let blocking = fields.flag("blocking").unwrap_or_default();
    let message_property = fields.text("initUserMessageProperty");
    let attachments_property = fields.text("initAttachmentsProperty");
    let name_property = fields.text("initAgentNameProperty");
    let rest = fields.finish();
    let At { value: agent, spot } = agent?;
    let value = ChildEntry {
        alias: alias.map(|alias| alias.value),
        description,
        hidden,
        optional,
        immediate,
        scoped_env,
        blocking,
        message_property,
        attachments_property,
        name_property,
        resumable: Some(resumable),
        ..ChildEntry::blocking(agent)
    };
    rests.insert(value.name().to_string(), Value::Object(rest));
    Some(At { value, spot })
}
