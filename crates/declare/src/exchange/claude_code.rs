//! Claude Code: `.claude/agents/**/*.md`, and the JSON of its `--agents`.

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::entries::sound;
use crate::exchange::servers::Spelling;
use crate::exchange::vocabulary::{self, Grant};
use crate::exchange::{File, Record, Written, complete, file_stem, keys, models, neutral, page, said, servers};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::front::Reading;
use crate::json;
use crate::solo::{Said, Server, Solo};
use crate::stax;
use crate::tree::{At, Node, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const FORMAT: Format = Format::ClaudeCode;

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    if file.path.ends_with(".json") {
        return read_json(file, faults);
    }
    let Some((node, body)) = page::read(file, Reading::Lax, faults) else { return Vec::new() };
    if neutral::is_kept(&node) {
        let stem = file.stem(&[".md"]);
        let kept = sound(faults, |faults| neutral::read(stem, &node, body, faults));
        return kept.map(|(name, solo)| (name.value, solo)).into_iter().collect();
    }
    let name = Fields::of(&node, "", faults).and_then(|mut fields| fields.require_name("name"));
    let Some(solo) = name.as_ref().and_then(|name| reread(&name.value, &node, body, faults)) else { return Vec::new() };
    name.filter(|_| !faults.has_error()).map(|name| (name.value, solo)).into_iter().collect()
}

/// Agents by their names, each with its text as `prompt`.
fn read_json(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let agents = match json::parse(file.text) {
        Ok(Node { tree: Tree::Object(agents), .. }) => agents,
        Ok(node) => {
            let what = format!("the agents must be an object with one under each name, not {}", node.describe());
            faults.push(node.spot, Report::error("D006", what).hint("write `{ \"name\": { … } }`"));
            return Vec::new();
        }
        Err(fault) => {
            faults.push(fault.spot, fault.report());
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for (name, node) in agents {
        let mut own = Faults::new(&faults.file);
        let name = Name::from(name);
        let prompt = Fields::of(&node, name.as_str(), &mut own).and_then(|mut fields| fields.text("prompt"));
        let solo = reread(&name, &without_prompt(node), &prompt.unwrap_or_default(), &mut own);
        let solo = solo.filter(|_| !own.has_error());
        faults.reports.extend(own.reports);
        found.extend(solo.map(|solo| (name, solo)));
    }
    found
}

fn without_prompt(node: Node) -> Node {
    match node.tree {
        Tree::Object(mut entries) => {
            entries.retain(|(key, _)| key != "prompt");
            Node { spot: node.spot, tree: Tree::Object(entries) }
        }
        tree => Node { spot: node.spot, tree },
    }
}

pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = super::without_nulls(node);
    let mut fields = Fields::of(&kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    fields.require("description");
    solo.description = said(&mut fields, "description", Fields::text);
    solo.tools = said(&mut fields, "tools", keys::listed_texts);
    solo.denied_tools = said(&mut fields, "disallowedTools", keys::listed_texts);
    solo.children = children(solo.tools.as_ref());
    solo.model = said(&mut fields, "model", Fields::text).map(|said| said.map(|text| models::of_claude(&text)));
    let plan = keys::right(&mut fields, "permissionMode", &MODES).filter(|said| said.value == "plan");
    solo.read_only = plan.map(|said| said.map(|_| true));
    solo.steps_max = said(&mut fields, "maxTurns", keys::lax_count);
    solo.skills = said(&mut fields, "skills", keys::listed_texts).map(|said| said.map(keys::values));
    solo.servers = said(&mut fields, "mcpServers", read_servers);
    solo.background = said(&mut fields, "background", keys::lax_flag);
    solo.effort = said(&mut fields, "effort", Fields::text);
    solo.color = said(&mut fields, "color", Fields::text);
    solo.opening = said(&mut fields, "initialPrompt", Fields::text);
    for key in ["name", "hooks", "memory", "isolation", stax::LEFTOVER] {
        fields.node(key);
    }
    fields.finish();
    complete(&mut solo, node, &["name"]);
    stax::take_leftover(&mut solo, &kept);
    Some(solo)
}

/// The agents that the list of tools allows by name.
fn children(tools: Option<&Said<Vec<At<String>>>>) -> Option<Said<Vec<At<Name>>>> {
    let tools = tools?;
    let named = |entry: &At<String>| match vocabulary::grant(FORMAT, &entry.value) {
        Grant::Agents(names) => names.into_iter().map(|value| At { value, spot: entry.spot }).collect(),
        Grant::Works(_) | Grant::Server { .. } | Grant::Everything | Grant::Unknown => Vec::new(),
    };
    let names: Vec<_> = tools.value.iter().flat_map(named).collect();
    (!names.is_empty()).then(|| Said { key: tools.key.clone(), spot: tools.spot, value: names })
}

/// A list of names and of objects with a server under its name, or one such object.
fn read_servers(fields: &mut Fields<'_>, key: &'static str) -> Option<BTreeMap<String, Server>> {
    let node = fields.node(key)?;
    let Tree::List(items) = &node.tree else { return servers::map(fields, key) };
    let mut found = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        match &item.tree {
            Tree::Text(name) => {
                found.insert(name.clone(), Server::Known);
            }
            Tree::Object(entries) => {
                for (name, node) in entries {
                    let path = format!("{key}[{index}].{name}");
                    let server = servers::of_node(node);
                    let server = server.or_else(|| fields.wrong(&path, "a server with `command` or `url`", node));
                    found.insert(name.clone(), server?);
                }
            }
            Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Function | Tree::Alien(_) | Tree::List(_) => {
                fields.wrong::<()>(&format!("{key}[{index}]"), "a server's name, or an object with a server", item);
            }
        }
    }
    Some(found)
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { keys, losses } = record(name, solo).settle(FORMAT, beyonds.get(name));
        let path = format!(".claude/agents/{}.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

fn record(name: &Name, solo: &Solo) -> Record {
    if solo.format == FORMAT {
        return Record::verbatim(solo, Some(name));
    }
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("name", name.as_str());
    record.describe(name, &mut left);
    record.tools("tools", &mut left, FORMAT);
    name_children(&mut record, &mut left);
    record.denied_tools("disallowedTools", &mut left, FORMAT);
    record.model(&mut left, models::in_claude);
    if left.read_only.take_if(|said| said.value).is_some() {
        record.set("permissionMode", "plan");
    } else if left.take_free_edits() {
        record.set("permissionMode", "acceptEdits");
    }
    record.copy("maxTurns", left.steps_max.take());
    record.copy("skills", left.skills.take());
    if let Some(servers) = record.servers(&mut left, SERVERS) {
        let item = |(name, server)| match server {
            Value::Null => Value::String(name),
            config => Value::Object(Map::from_iter([(name, config)])),
        };
        record.set("mcpServers", servers.into_iter().map(item).collect::<Vec<_>>());
    }
    record.copy("background", left.background.take());
    record
        .put("effort", left.effort.take(), |effort| EFFORTS.contains(&effort.as_str()).then(|| effort.as_str().into()));
    record.put("color", left.color.take(), |color| COLORS.contains(&color.as_str()).then(|| color.as_str().into()));
    record.copy("initialPrompt", left.opening.take());
    record.lose(left)
}

const SERVERS: Spelling = Spelling { command_type: None, url_type: Some("http"), all_tools: false, known: true };

const MODES: [&str; 7] = ["default", "manual", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "plan"];

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

const COLORS: [&str; 8] = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/// Agents are allowed by name within the list of tools. Without a list everything is allowed, and an entry would make
/// it the only one.
fn name_children(record: &mut Record, left: &mut Solo) {
    let Some(Value::Array(tools)) = record.keys.get_mut("tools") else { return };
    let Some(children) = left.children.take_if(|said| !said.value.is_empty()) else { return };
    let names: Vec<_> = children.value.iter().map(|child| child.value.as_str()).collect();
    tools.retain(|tool| tool != "Agent");
    tools.push(format!("Agent({})", names.join(", ")).into());
}
