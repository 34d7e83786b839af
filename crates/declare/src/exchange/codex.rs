//! Codex: a TOML file for each agent, or a role in `config.toml` that names such a file. Unknown keys are errors there.

mod shape;

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::entries::{entries, entry, sound, text};
use crate::exchange::servers::{self, Spelling};
use crate::exchange::{File, Record, Written, beside, complete, file_stem, keys, models, said, strict};
use crate::faults::{Faults, quoted};
use crate::fields::Fields;
use crate::solo::{ModelWish, Said, Server, Solo};
use crate::toml;
use crate::tree::{Node, Spot, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const FORMAT: Format = Format::Codex;

/// The prompt's key.
const BODY: &str = "developer_instructions";

const READ_ONLY: &str = "read-only";
const SANDBOXES: [&str; 3] = [READ_ONLY, "workspace-write", "danger-full-access"];

/// How hard a model may think, in the words of Codex.
const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let node = match toml::parse(file.text) {
        Ok(node) => node,
        Err(fault) => {
            let report = Report::error("D127", format!("this is not valid TOML: {}", fault.what));
            faults.push(
                fault.spot,
                report.hint("correct it there: a text stands in quotes, a table begins with `[name]`"),
            );
            return Vec::new();
        }
    };
    let is_configuration = entry(&node, "agents").is_some() && entry(&node, "name").or(entry(&node, BODY)).is_none();
    if is_configuration {
        return roles(file, &node, faults);
    }
    sound(faults, |faults| agent(&node, faults)).into_iter().collect()
}

/// The agent of a file of its own.
fn agent(node: &Node, faults: &mut Faults) -> Option<(Name, Solo)> {
    let mut fields = Fields::of(node, "", faults)?;
    let name = fields.require_name("name");
    let body = fields.require(BODY).and_then(|_| fields.text(BODY));
    let solo = reread(&Name::from(""), node, &body.unwrap_or_default(), faults)?;
    Some((name?.value, solo))
}

/// The agents that a configuration names.
fn roles(file: &File<'_>, node: &Node, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let tables = entry(node, "agents").map(entries).unwrap_or_default();
    let roles = tables.iter().filter(|(_, node)| matches!(node.tree, Tree::Object(_)));
    let mut found = Vec::new();
    for (name, node) in roles {
        found.extend(sound(faults, |faults| role(file, name, node, faults)));
    }
    if found.is_empty() && faults.reports.is_empty() {
        let report = Report::warning("D128", "this configuration names no agent");
        faults.push(node.spot, report.hint("give a file of `.codex/agents`, or one with `[agents.<name>]`"));
    }
    found
}

/// A role is its file, with what the configuration says about it on top.
fn role(file: &File<'_>, name: &str, node: &Node, faults: &mut Faults) -> Option<(Name, Solo)> {
    strict::check(node, &format!("agents.{name}"), &shape::ROLE, faults);
    let mut said: Vec<(String, Node)> = Vec::new();
    let mut body = String::new();
    if let Some(path) = entry(node, "config_file") {
        let own = role_file(file, name, path, faults)?;
        body = text(&own, BODY).unwrap_or_default().to_owned();
        said.extend(entries(&own).iter().filter(|(key, _)| !matches!(key.as_str(), "name" | BODY)).cloned());
    }
    for (key, node) in entries(node).iter().filter(|(key, _)| key != "config_file") {
        said.retain(|(known, _)| known != key);
        said.push((key.clone(), node.clone()));
    }
    let name = Name::from(name);
    let node = Node { spot: node.spot, tree: Tree::Object(said) };
    let solo = reread(&name, &node, &body, faults)?;
    Some((name, solo))
}

/// The file that a role names. Absent: reported, at the place where it is named.
fn role_file(file: &File<'_>, name: &str, path: &Node, faults: &mut Faults) -> Option<Node> {
    let text = beside::text(file, &format!("agents.{name}.config_file"), path, faults)?;
    match toml::parse(&text) {
        // Places within it would be taken for those of the configuration.
        Ok(node) => Some(Node::without_place(&node.value())),
        Err(fault) => {
            let Spot { line, column } = fault.spot;
            let what = format!("the file of role {} is not valid TOML: {}", quoted(name), fault.what);
            let hint = format!("mend line {line}, column {column} of that file");
            faults.push(path.spot, Report::error("D127", what).hint(hint));
            None
        }
    }
}

/// An agent from the keys of its file; the prompt is given.
pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    strict::check(node, "", &shape::FILE, faults);
    let mut fields = Fields::of(node, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    fields.require("description");
    solo.description = said(&mut fields, "description", Fields::text);
    let provider = fields.text("model_provider");
    let model = said(&mut fields, "model", Fields::text);
    solo.model = model.map(|said| said.map(|model| wish(model, provider.as_deref())));
    solo.effort = said(&mut fields, "model_reasoning_effort", Fields::text);
    let looks = keys::right(&mut fields, "sandbox_mode", &SANDBOXES).filter(|said| said.value == READ_ONLY);
    solo.read_only = looks.map(|said| said.map(|_| true));
    solo.servers = said(&mut fields, "mcp_servers", read_servers);
    // Without a model a provider says something by itself.
    let implied: &[&str] = if solo.model.is_some() { &["name", BODY, "model_provider"] } else { &["name", BODY] };
    complete(&mut solo, node, implied);
    solo.verbatim.remove(BODY);
    Some(solo)
}

/// A provider that only Codex's own configuration explains makes the model a word of Codex.
fn wish(model: String, provider: Option<&str>) -> ModelWish {
    match provider.unwrap_or("openai") {
        known @ ("openai" | "ollama") => ModelWish::Named { provider: known.to_owned(), model },
        other => ModelWish::Word(format!("{other}/{model}")),
    }
}

/// A server that says neither what to start nor what to reach changes one that is configured elsewhere: then the table
/// as a whole makes sense to nobody else.
fn read_servers(fields: &mut Fields<'_>, key: &'static str) -> Option<BTreeMap<String, Server>> {
    let node = fields.node(key)?;
    let Tree::Object(tables) = &node.tree else {
        return fields.wrong(key, "a table with a server under each name", node);
    };
    let server = |(name, table): &(String, Node)| {
        Some((name.clone(), servers::of_node(&renamed(table, "http_headers", "headers"))?))
    };
    tables.iter().map(server).collect()
}

fn renamed(node: &Node, from: &str, to: &str) -> Node {
    let rename = |(key, node): &(String, Node)| (if key == from { to.to_owned() } else { key.clone() }, node.clone());
    match &node.tree {
        Tree::Object(entries) => Node { spot: node.spot, tree: Tree::Object(entries.iter().map(rename).collect()) },
        _ => node.clone(),
    }
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let record = if solo.format == FORMAT { own(name, solo) } else { record(name, solo) };
        let mut record = record.settle(FORMAT, beyonds.get(name));
        record.set(BODY, solo.body.as_str());
        let (text, unsaid) = text_of(&record.keys);
        unsaid.iter().for_each(|key| record.losses.name(key));
        let path = format!(".codex/agents/{}.toml", file_stem(name.as_str()));
        written.add(name, path, text, record.losses);
    }
    written
}

/// What Codex itself said, without the keys that it would refuse.
fn own(name: &Name, solo: &Solo) -> Record {
    let mut record = Record::verbatim(solo, Some(name));
    let mut keys = Value::Object(std::mem::take(&mut record.keys));
    strict::prune(&mut keys, "", &shape::FILE).iter().for_each(|key| record.losses.name(key));
    if let Value::Object(keys) = keys {
        record.keys = keys;
    }
    record
}

fn record(name: &Name, solo: &Solo) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("name", name.as_str());
    record.describe(name, &mut left);
    let is_local = |said: &Said<ModelWish>| models::id_of(&said.value, "ollama").is_some();
    if left.model.as_ref().is_some_and(is_local) {
        record.set("model_provider", "ollama");
    }
    record.model(&mut left, |wish| models::id_of(wish, "openai").or_else(|| models::id_of(wish, "ollama")));
    record.put("model_reasoning_effort", left.effort.take(), |effort| effort_word(effort).map(Value::from));
    if record.only_looks(&mut left) {
        record.set("sandbox_mode", READ_ONLY);
    } else if left.take_free_edits() {
        record.set("sandbox_mode", "workspace-write");
    }
    if let Some(servers) = record.servers(&mut left, SERVERS) {
        record
            .set("mcp_servers", servers.into_iter().map(|(name, server)| (name, spelt(server))).collect::<Map<_, _>>());
    }
    record.lose(left)
}

const SERVERS: Spelling = Spelling { command_type: None, url_type: None, all_tools: false, known: false };

fn spelt(server: Value) -> Value {
    let Value::Object(mut keys) = server else { return server };
    if let Some(headers) = keys.remove("headers") {
        keys.insert("http_headers".to_owned(), headers);
    }
    Value::Object(keys)
}

/// The word for the most that there is differs.
fn effort_word(effort: &str) -> Option<&str> {
    let effort = if effort == "max" { "xhigh" } else { effort };
    EFFORTS.contains(&effort).then_some(effort)
}

/// TOML, and the keys whose values it cannot say.
fn text_of(keys: &Map<String, Value>) -> (String, Vec<String>) {
    let (said, unsaid): (Vec<_>, Vec<_>) = keys.iter().partition(|(_, value)| can_say(value));
    let said: Map<String, Value> = said.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let text = ::toml::to_string(&said).expect("a table of what TOML can say is TOML");
    (text, unsaid.into_iter().map(|(key, _)| key.clone()).collect())
}

/// TOML has no null, and its integers have 64 bits and a sign.
fn can_say(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => !number.is_u64() || number.is_i64(),
        Value::Bool(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(can_say),
        Value::Object(entries) => entries.values().all(can_say),
    }
}
