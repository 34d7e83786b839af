//! Agents → files of Docker Agent.

use super::{BODY, FILE, FORMAT, shape, toolsets};
use crate::exchange::toolsets::take;
use crate::exchange::{Record, Written, file_stem, models, strict, yaml_text};
use crate::solo::Solo;
use entourage_model::Name;
use serde_json::{Map, Value, json};

/// The version that is written where none was read.
const VERSION: &str = "15";

/// How hard a model may think, in the words of Docker Agent.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

pub(in crate::exchange) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    let groups = groups(agents);
    let several = groups.len() > 1;
    for group in groups {
        let Some((first, _)) = group.agents.first() else { continue };
        let folder = if several { format!("{}/", file_stem(first.as_str())) } else { String::new() };
        write_group(group, format!("{folder}docker-agent.yaml"), &mut written);
    }
    written
}

fn write_group(group: Group<'_>, path: String, written: &mut Written) {
    let names: Vec<&Name> = group.agents.iter().map(|(name, _)| *name).collect();
    let mut document = Value::Object(group.file);
    let unknown = strict::prune(&mut document, "", &shape::FILE);
    let (mut agents, mut models) = (Map::new(), Map::new());
    for (name, solo) in &group.agents {
        let mut record = if solo.format == FORMAT { own(solo) } else { record(name, solo, &names, &mut models) };
        unknown.iter().for_each(|key| record.losses.name(key));
        agents.insert(name.to_string(), Value::Object(record.keys));
        written.agents.push((name.to_string(), path.clone()));
        written.lose(name, record.losses);
    }
    if !models.is_empty() {
        document["models"] = Value::Object(models);
    }
    document["agents"] = Value::Object(agents);
    written.files.push((path, yaml_text(&document)));
}

/// Agents that go into one file, with what lies around them there.
struct Group<'a> {
    file: Map<String, Value>,
    agents: Vec<(&'a Name, &'a Solo)>,
}

/// Agents of one file stay together, in their order; those of other formats share a new one.
fn groups(agents: &[(Name, Solo)]) -> Vec<Group<'_>> {
    let mut groups: Vec<(Option<Value>, Group<'_>)> = Vec::new();
    for (name, solo) in agents {
        let kept = solo.verbatim.get(FILE).filter(|_| solo.format == FORMAT).cloned();
        match groups.iter_mut().find(|(file, _)| *file == kept) {
            Some((_, group)) => group.agents.push((name, solo)),
            None => {
                let group = Group { file: without_agents(kept.as_ref()), agents: vec![(name, solo)] };
                groups.push((kept, group));
            }
        }
    }
    for (file, group) in &mut groups {
        let names = file.as_ref().and_then(|file| file.get("agents")?.as_array().cloned()).unwrap_or_default();
        group.agents.sort_by_key(|(name, _)| names.iter().position(|known| known == name.as_str()));
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn without_agents(file: Option<&Value>) -> Map<String, Value> {
    match file {
        Some(Value::Object(file)) => file.iter().filter(|(key, _)| *key != "agents").map(clone_entry).collect(),
        _ => Map::from_iter([("version".to_owned(), VERSION.into())]),
    }
}

fn clone_entry((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// What Docker Agent itself said, without the keys that it would refuse.
fn own(solo: &Solo) -> Record {
    let mut record = Record::default();
    let said = solo.verbatim.iter().filter(|(key, _)| *key != FILE && *key != BODY).map(clone_entry);
    let mut keys = Value::Object(said.collect());
    strict::prune(&mut keys, "", &shape::AGENT).iter().for_each(|key| record.losses.name(key));
    if let Value::Object(keys) = keys {
        record.keys = keys;
    }
    if !solo.body.is_empty() {
        record.set(BODY, solo.body.as_str());
    }
    record
}

fn record(name: &Name, solo: &Solo, names: &[&Name], models: &mut Map<String, Value>) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    write_model(name, &mut record, &mut left, models);
    record.describe(name, &mut left);
    record.set(BODY, solo.body.as_str());
    let has_children = write_children(&mut record, &mut left, names);
    let toolsets = take(&mut record, &mut left);
    toolsets::write(&mut record, toolsets, has_children);
    if left.read_only.take_if(|said| said.value).is_some() {
        record.set("readonly", true);
    }
    record.copy("max_iterations", left.steps_max.take());
    record.copy("skills", left.skills.take());
    record.put("structured_output", left.result_schema.take(), |schema| {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object") && schema.get("properties").is_some();
        is_object.then(|| json!({ "name": "result", "schema": schema }))
    });
    record.put("fallback", left.fallbacks.take(), |wishes| {
        let paths: Option<Vec<_>> = wishes.iter().map(models::path).collect();
        Some(json!({ "models": paths? }))
    });
    record.lose(left)
}

/// A model that is to choose its words in some way needs a name in the file; the agent's own is free.
fn write_model(name: &Name, record: &mut Record, left: &mut Solo, models: &mut Map<String, Value>) {
    let Some(path) = left.model.as_ref().and_then(|said| models::path(&said.value)) else { return };
    left.model = None;
    let mut sampling = Record::default();
    sampling.copy("temperature", left.temperature.take());
    sampling.copy("top_p", left.top_p.take());
    sampling.put("thinking_budget", left.effort.take(), |effort| {
        EFFORTS.contains(&effort.as_str()).then(|| effort.as_str().into())
    });
    let Record { keys, losses } = sampling;
    record.losses.add(&losses);
    match path.split_once('/') {
        Some((provider, model)) if !keys.is_empty() => {
            let mut defined = Map::from_iter([
                ("provider".to_owned(), Value::from(provider)),
                ("model".to_owned(), Value::from(model)),
            ]);
            defined.extend(keys);
            models.insert(name.to_string(), Value::Object(defined));
            record.set("model", name.as_str());
        }
        _ => record.set("model", path),
    }
}

/// Only agents of the same file can be called.
fn write_children(record: &mut Record, left: &mut Solo, names: &[&Name]) -> bool {
    let Some(said) = left.children.take() else { return false };
    let (here, elsewhere): (Vec<_>, Vec<_>) = said.value.iter().partition(|child| names.contains(&&child.value));
    if !elsewhere.is_empty() {
        record.losses.name(&said.key);
    }
    let here: Vec<_> = here.into_iter().map(|child| Value::from(child.value.as_str())).collect();
    let has_children = !here.is_empty();
    if has_children {
        record.set("sub_agents", here);
    }
    has_children
}
