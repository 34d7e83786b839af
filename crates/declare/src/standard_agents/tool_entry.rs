//! The `tools` of a prompt definition → entries.

use super::child::{self, COMMUNICATIONS};
use crate::draft::{Claim, EntryDraft, EntryKind, FullEntry};
use crate::faults::quoted;
use crate::fields::Fields;
use crate::tree::{At, Node, Tree};
use entourage_model::{ChildEntry, Name, Report, Resumable, Side, ToolConfig, server_name, server_tools};
use serde_json::{Map, Value};

const SIDES: [(&str, Side); 2] = [("side_a", Side::A), ("side_b", Side::B)];

const CHILD: &[EntryKind] = &[EntryKind::Child];
const CALLED: &[EntryKind] = &[EntryKind::Child, EntryKind::Handoff, EntryKind::Prompt];
const PROMPT: &[EntryKind] = &[EntryKind::Prompt];
const TOOL: &[EntryKind] = &[EntryKind::Tool];

/// What each field of an entry is for.
const PURPOSES: [(&str, &[EntryKind]); 16] = [
    ("blocking", CHILD),
    ("resumable", CHILD),
    ("immediate", CHILD),
    ("hidden", CHILD),
    ("as", CHILD),
    ("description", CHILD),
    ("scopedEnv", CHILD),
    ("initAgentNameProperty", CHILD),
    ("initUserMessageProperty", CALLED),
    ("initAttachmentsProperty", CALLED),
    ("optional", CALLED),
    ("includeTextResponse", PROMPT),
    ("includeToolCalls", PROMPT),
    ("includeErrors", PROMPT),
    ("env", TOOL),
    ("options", TOOL),
];

/// What is unknown in an entry is kept by the entry's name.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<EntryDraft> {
    let mut rests = Map::new();
    let mut entries = Vec::new();
    for (index, node) in fields.list("tools").unwrap_or_default().iter().enumerate() {
        let path = format!("tools[{index}]");
        let entry = match &node.tree {
            Tree::Text(_) => fields.name_of(&path, node).map(EntryDraft::Bare),
            Tree::Object(_) => {
                let full = fields.within(node, &path).and_then(|fields| full(fields, &mut rests));
                full.map(|entry| EntryDraft::Full(Box::new(entry)))
            }
            _ => fields.wrong(&path, "a name or an object", node),
        };
        if let Some(entry) = entry.filter(|entry| !is_elsewhere(fields, entry, node, &mut rests)) {
            entries.push(served(entry));
        }
    }
    fields.keep_rest("tools", rests);
    entries
}

/// `mcp:<server>` is every tool of that server.
fn served(entry: EntryDraft) -> EntryDraft {
    let Some(server) = entry.name().as_str().strip_prefix("mcp:") else { return entry };
    EntryDraft::Bare(At { value: server_tools(&server_name(server)), spot: entry.spot() })
}

/// Tools that a model's provider runs are not ours to offer.
fn is_elsewhere(fields: &mut Fields<'_>, entry: &EntryDraft, node: &Node, rests: &mut Map<String, Value>) -> bool {
    let name = entry.name().as_str();
    let is_elsewhere = name.starts_with("provider:");
    if is_elsewhere {
        let what = format!("the tool {} is not supported yet and has no effect", quoted(name));
        fields.report_at(entry.spot(), Report::warning("D009", what).hint(child::IDLE));
        rests.insert(name.to_owned(), node.value());
    }
    is_elsewhere
}

fn full(mut fields: Fields<'_>, rests: &mut Map<String, Value>) -> Option<FullEntry> {
    let name = name(&mut fields);
    let within = "in an entry of `tools` it lies within `resumable`";
    for key in ["receives_messages", "maxInstances", "parentCommunication"] {
        child::misplaced(&mut fields, key, within, "write `resumable: { … }` around it");
    }
    let claim = |(key, kinds)| Some(Claim { spot: fields.spot(key)?, field: fields.path(key), kinds });
    let claims = PURPOSES.into_iter().filter_map(claim).collect();
    let mut flag = |key| fields.flag(key).unwrap_or(true);
    let (include_text_response, include_tool_calls) = (flag("includeTextResponse"), flag("includeToolCalls"));
    let include_errors = flag("includeErrors");
    let env = fields.text_map("env").unwrap_or_default();
    let options = fields.object("options").unwrap_or_default();
    let child = started(&mut fields);
    let rest = fields.finish();
    let At { value: agent, spot } = name?;
    if !rest.is_empty() {
        rests.insert(agent.to_string(), Value::Object(rest));
    }
    Some(FullEntry {
        spot,
        child: ChildEntry { agent, ..child },
        include_text_response,
        include_tool_calls,
        include_errors,
        config: ToolConfig { env, options },
        claims,
    })
}

fn name(fields: &mut Fields<'_>) -> Option<At<Name>> {
    let says_agent = fields.spot("agent").is_some();
    let name = if says_agent { fields.name("name") } else { fields.require_name("name") };
    let why = "in an entry of `tools` an agent is called `name`";
    child::misplaced(fields, "agent", why, "write `name`, or move the entry to `subagents` of a side");
    name
}

/// How to start whatever the entry names, if that is an agent.
fn started(fields: &mut Fields<'_>) -> ChildEntry {
    let (immediate, scoped_env) = child::immediate(fields);
    ChildEntry {
        alias: fields.name("as").map(|alias| alias.value),
        description: fields.text("description"),
        hidden: fields.flag("hidden").unwrap_or_default(),
        optional: child::optional(fields),
        immediate,
        scoped_env,
        blocking: fields.flag("blocking").unwrap_or(true),
        message_property: fields.text("initUserMessageProperty"),
        attachments_property: fields.text("initAttachmentsProperty"),
        name_property: fields.text("initAgentNameProperty"),
        resumable: resumable(fields),
        ..ChildEntry::blocking(Name::from(""))
    }
}

fn resumable(fields: &mut Fields<'_>) -> Option<Resumable> {
    let node = fields.node("resumable")?;
    match &node.tree {
        Tree::Flag(false) => return None,
        Tree::Object(_) => {}
        _ => return fields.wrong("resumable", "`false` or an object such as `{ receives_messages: 'side_a' }`", node),
    }
    let mut inner = fields.within(node, "resumable")?;
    let receives = inner.require("receives_messages").and_then(|_| inner.choice("receives_messages", &SIDES));
    let instances_max = inner.count("maxInstances");
    let communication = inner.choice("parentCommunication", &COMMUNICATIONS).unwrap_or_default();
    let rest = inner.finish();
    fields.keep_rest("resumable", rest);
    Some(Resumable { receives: receives?, instances_max, communication })
}
