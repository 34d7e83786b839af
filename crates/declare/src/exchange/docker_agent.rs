//! Docker Agent: a YAML file with several agents, and around them what they share. Unknown keys are errors there.

mod shape;
mod toolsets;
mod write;

use crate::Format;
use crate::exchange::entries::{data, entries, entry, rest, sound, text};
use crate::exchange::{File, beside, complete, keys, models, said, strict};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::solo::{ModelWish, Said, Solo};
use crate::tree::{At, Node, Tree};
use entourage_model::{Name, Report};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) use write::write;

const FORMAT: Format = Format::DockerAgent;

/// The prompt's keys.
const BODY: &str = "instruction";
const BODY_FILE: &str = "instruction_file";

/// Where an agent keeps what lies around it in its file, with the names of all agents there. No agent has this key.
const FILE: &str = "file";

const VERSION_MAX: u32 = 16;

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let Some(node) = data(file, faults) else { return Vec::new() };
    let agents = Fields::of(&node, "", faults).and_then(|mut fields| {
        fields.require("agents")?;
        fields.object("agents")
    });
    if agents.is_none() {
        return Vec::new();
    }
    let agents = entry(&node, "agents").map(entries).unwrap_or_default();
    version(entry(&node, "version"), faults);
    let around = around(&node, agents);
    strict::check(&around, "", &shape::FILE, faults);
    let mut found = Vec::new();
    for (name, agent) in agents {
        found.extend(sound(faults, |faults| read_agent(file, name, agent, &around, faults)));
    }
    found
}

/// A newer version may have keys that are not known here.
fn version(node: Option<&Node>, faults: &mut Faults) {
    let Some(node) = node else { return };
    let text = match &node.tree {
        Tree::Text(text) => text.trim_start_matches('v').to_owned(),
        Tree::Number(number) => number.to_string(),
        Tree::Null | Tree::Flag(_) | Tree::Function | Tree::Alien(_) | Tree::List(_) | Tree::Object(_) => String::new(),
    };
    if text.parse::<u32>().is_ok_and(|version| version <= VERSION_MAX) {
        return;
    }
    let what = format!("`version` is {}, which is not known here", node.describe());
    let hint = format!("the versions are \"0\" to \"{VERSION_MAX}\"");
    faults.push(node.spot, Report::warning("D130", what).hint(hint));
}

/// What lies around the agents, and their names in order: the first is the one that is talked to.
fn around(node: &Node, agents: &[(String, Node)]) -> Node {
    let name = |(name, agent): &(String, Node)| Node { spot: agent.spot, tree: Tree::Text(name.clone()) };
    let names = Node { spot: node.spot, tree: Tree::List(agents.iter().map(name).collect()) };
    let said = entries(node).iter().filter(|(key, _)| key != "agents").cloned();
    Node { spot: node.spot, tree: Tree::Object(said.chain([("agents".to_owned(), names)]).collect()) }
}

fn read_agent(file: &File<'_>, name: &str, node: &Node, around: &Node, faults: &mut Faults) -> Option<(Name, Solo)> {
    let path = format!("agents.{name}");
    if name.trim().is_empty() {
        let report = Report::error("D006", "an agent's name must not be blank");
        faults.push(node.spot, report.hint("name it by its key under `agents`"));
        return None;
    }
    let mut fields = Fields::of(node, &path, faults)?;
    let body = fields.text(BODY);
    let body = match entry(node, BODY_FILE).filter(|_| body.is_none()) {
        Some(named) => Some(instructions(file, &path, named, faults)?),
        None => body,
    };
    let said = entries(node).iter().filter(|(key, _)| !matches!(key.as_str(), BODY | BODY_FILE)).cloned();
    let said = said.chain([(FILE.to_owned(), around.clone())]).collect();
    let name = Name::from(name);
    let node = Node { spot: node.spot, tree: Tree::Object(said) };
    let solo = reread(&name, &node, &body.unwrap_or_default(), faults)?;
    Some((name, solo))
}

/// The text of one file, or of several with a blank line between them.
fn instructions(file: &File<'_>, path: &str, node: &Node, faults: &mut Faults) -> Option<String> {
    let key = format!("{path}.{BODY_FILE}");
    let Tree::List(items) = &node.tree else { return beside::text(file, &key, node, faults) };
    let texts: Vec<_> = items.iter().map(|item| beside::text(file, &key, item, faults)).collect();
    Some(texts.into_iter().collect::<Option<Vec<_>>>()?.join("\n\n"))
}

/// An agent from its own keys and what lies around it.
pub(super) fn reread(name: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let path = format!("agents.{name}");
    let own = Node { spot: node.spot, tree: Tree::Object(own_entries(node)) };
    strict::check(&own, &path, &shape::AGENT, faults);
    let file = entry(node, FILE);
    let kept = super::without_nulls(&own);
    let mut fields = Fields::of(&kept, &path, faults)?;
    let mut solo = Solo::new(FORMAT, body);
    solo.description = said(&mut fields, "description", Fields::text);
    if let Some(model) = said(&mut fields, "model", Fields::text) {
        read_model(model, file, &mut solo);
    }
    solo.steps_max = said(&mut fields, "max_iterations", steps).and_then(|said| {
        let steps = said.value?;
        Some(said.map(|_| steps))
    });
    solo.read_only = said(&mut fields, "readonly", Fields::flag);
    let toolsets = fields.node("toolsets");
    toolsets::read(toolsets, file, &mut fields, &mut solo);
    children(&mut fields, file, &mut solo);
    solo.skills = said(&mut fields, "skills", skills).and_then(|said| {
        let names = said.value?;
        Some(Said { key: said.key, spot: said.spot, value: names })
    });
    partly(&kept, file, &mut solo);
    complete(&mut solo, &own, &["toolsets", "max_iterations", "structured_output", "fallback", BODY]);
    if let Some(file) = file {
        read_file(file, &mut solo);
        solo.verbatim.insert(FILE.to_owned(), file.value());
    }
    Some(solo)
}

fn own_entries(node: &Node) -> Vec<(String, Node)> {
    entries(node).iter().filter(|(key, _)| key != FILE).cloned().collect()
}

/// None stands for no limit.
fn steps(fields: &mut Fields<'_>, key: &'static str) -> Option<Option<u32>> {
    match &fields.node(key)?.tree {
        Tree::Number(number) if number.as_u64() == Some(0) => Some(None),
        _ => fields.count(key).map(Some),
    }
}

/// Names of skills. Sources of skills, and skills that are written in place, are something else.
fn skills(fields: &mut Fields<'_>, key: &'static str) -> Option<Option<Vec<String>>> {
    let is_name = |text: &String| text != "local" && !text.contains("://");
    let names: Option<Vec<String>> = serde_json::from_value(fields.node(key)?.value()).ok();
    Some(names.filter(|names| names.iter().all(is_name)))
}

/// A model by the name that the file gives it, or as `provider/model`.
fn read_model(model: Said<String>, file: Option<&Node>, solo: &mut Solo) {
    let name = model.value.clone();
    let defined = file.and_then(|file| entry(entry(file, "models")?, &name));
    let Some(defined) = defined else {
        solo.model = Some(model.map(|text| named(&text, file)));
        return;
    };
    let path = text(defined, "provider").zip(text(defined, "model")).map(|(provider, id)| format!("{provider}/{id}"));
    solo.model = Some(model.map(|text| path.map_or(ModelWish::Word(text), |path| named(&path, file))));
    let prefix = format!("models.{name}.");
    let number = |key: &str| match entry(defined, key) {
        Some(Node { tree: Tree::Number(number), spot }) => {
            Some(Said { key: format!("{prefix}{key}"), spot: *spot, value: number.as_f64()? })
        }
        _ => None,
    };
    solo.temperature = number("temperature");
    solo.top_p = number("top_p");
    let mut taken = vec!["provider", "model", "temperature", "top_p"];
    if let Some(Node { tree: Tree::Text(effort), spot }) = entry(defined, "thinking_budget") {
        let key = format!("{prefix}thinking_budget");
        solo.effort = Some(Said { key, spot: *spot, value: effort.clone() });
        taken.push("thinking_budget");
    }
    solo.rest.extend(rest(defined, &prefix, &taken));
}

/// A provider that the file defines is nobody else's.
fn named(path: &str, file: Option<&Node>) -> ModelWish {
    let provider = path.split_once('/').map_or(path, |(provider, _)| provider);
    let is_own = file.and_then(|file| entry(entry(file, "providers")?, provider)).is_some();
    if is_own { ModelWish::Word(path.to_owned()) } else { models::of_path(path) }
}

/// The agents of the same file that it may call. Others are fetched from elsewhere.
fn children(fields: &mut Fields<'_>, file: Option<&Node>, solo: &mut Solo) {
    let Some(said) = said(fields, "sub_agents", keys::texts) else { return };
    let is_here = |name: &str| match file.and_then(|file| entry(file, "agents")).map(|agents| &agents.tree) {
        Some(Tree::List(names)) => names.iter().any(|node| matches!(&node.tree, Tree::Text(text) if text == name)),
        _ => true,
    };
    let (here, elsewhere): (Vec<_>, Vec<_>) = said.value.into_iter().partition(|child| is_here(&child.value));
    if !elsewhere.is_empty() {
        let value = json!(keys::values(elsewhere));
        solo.rest.push(Said { key: said.key.clone(), spot: said.spot, value });
    }
    let here: Vec<_> = here.into_iter().map(|child| At { value: Name::from(child.value), spot: child.spot }).collect();
    solo.children = (!here.is_empty()).then_some(Said { key: said.key, spot: said.spot, value: here });
}

/// Objects of which other formats have a word for a part.
fn partly(node: &Node, file: Option<&Node>, solo: &mut Solo) {
    if let Some(output) = entry(node, "structured_output") {
        let key = "structured_output".to_owned();
        solo.result_schema =
            entry(output, "schema").map(|schema| Said { key, spot: output.spot, value: schema.value() });
        solo.rest.extend(rest(output, "structured_output.", &["name", "schema"]));
    }
    if let Some(fallback) = entry(node, "fallback") {
        let models = entry(fallback, "models").and_then(|node| serde_json::from_value(node.value()).ok());
        let resolve = |name: &String| {
            let defined = file.and_then(|file| entry(entry(file, "models")?, name));
            let path =
                defined.and_then(|model| Some(format!("{}/{}", text(model, "provider")?, text(model, "model")?)));
            named(path.as_deref().unwrap_or(name), file)
        };
        let mut taken = Vec::new();
        if let Some(models) = models.map(|models: Vec<String>| models.iter().map(resolve).collect()) {
            taken.push("models");
            solo.fallbacks = Some(Said { key: "fallback.models".to_owned(), spot: fallback.spot, value: models });
        }
        solo.rest.extend(rest(fallback, "fallback.", &taken));
    }
}

/// What is said for all agents of the file.
fn read_file(file: &Node, solo: &mut Solo) {
    if let Some(metadata) = entry(file, "metadata") {
        let texts =
            entries(metadata).iter().filter_map(|(key, _)| Some((key.clone(), text(metadata, key)?.to_owned())));
        let texts: BTreeMap<_, _> = texts.collect();
        let taken: Vec<_> = texts.keys().map(String::as_str).collect();
        solo.rest.extend(rest(metadata, "metadata.", &taken));
        let key = "metadata".to_owned();
        solo.metadata = (!texts.is_empty()).then_some(Said { key, spot: metadata.spot, value: texts });
    }
    // Models and servers are read where an agent uses them; what else lies there is nobody's once the file is gone.
    let shared = ["version", "agents", "models", "metadata", "mcps"];
    solo.rest.extend(rest(file, "", &shared));
}
