//! goose: a recipe, in YAML or JSON. Its title names the agent.

mod extensions;

use crate::Format;
use crate::exchange::entries::{data, entries, entry, sound, text, without};
use crate::exchange::{
    File, Record, Written, beside, complete, file_stem, keys, models, said, slug, toolsets, yaml_text,
};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::solo::{ModelWish, Said, Solo};
use crate::tree::{At, Node, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value, json};

const FORMAT: Format = Format::Goose;

/// The prompt's key.
const BODY: &str = "instructions";

/// Where an agent keeps what lies around its recipe, if that is within a file of the desktop. No recipe has this key.
const AROUND: &str = "around";

/// Where an agent keeps the names of the agents that it has other names for. No recipe has this key either.
const CALLED: &str = "called";

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let Some(node) = data(file, faults) else { return Vec::new() };
    let recipe = match entry(&node, "recipe") {
        Some(inner) if matches!(inner.tree, Tree::Object(_)) => {
            let around = Node::without_place(&Value::Object(without(&node, &["recipe"])));
            let said = entries(inner).iter().cloned().chain([(AROUND.to_owned(), around)]);
            Node { spot: inner.spot, tree: Tree::Object(said.collect()) }
        }
        _ => node,
    };
    let (recipe, missing) = with_children(file, recipe);
    let mut found: Vec<_> = sound(faults, |faults| agent(&recipe, faults)).into_iter().collect();
    found.iter_mut().for_each(|(_, solo)| solo.rest.extend(missing.clone()));
    found
}

/// The recipe with the names of those agents that it calls by another name. A recipe that is called and is not there
/// cannot be imported with its caller, so that the call has no effect.
fn with_children(file: &File<'_>, mut recipe: Node) -> (Node, Option<Said<Value>>) {
    let Some(Node { tree: Tree::List(items), spot }) = entry(&recipe, "sub_recipes") else { return (recipe, None) };
    let (mut called, mut missing) = (Map::new(), Vec::new());
    for item in items {
        match text(item, "path").and_then(|path| id_of(file, path)) {
            Some(id) => called.extend(text(item, "name").map(|name| (name.to_owned(), id.into()))),
            None => missing.push(item.value()),
        }
    }
    called.retain(|name, id| id != &slug(name));
    let key = "sub_recipes".to_owned();
    let missing = (!missing.is_empty()).then(|| Said { key, spot: *spot, value: missing.into() });
    if let Tree::Object(entries) = &mut recipe.tree
        && !called.is_empty()
    {
        entries.push((CALLED.to_owned(), Node::without_place(&Value::Object(called))));
    }
    (recipe, missing)
}

/// The agent of the recipe at a path. Absent: there is none.
fn id_of(file: &File<'_>, path: &str) -> Option<String> {
    let found = beside::quiet(file, path)?;
    let node = data(&File { path, text: &found, beside: None }, &mut Faults::new(path))?;
    let title = text(entry(&node, "recipe").unwrap_or(&node), "title")?;
    Some(slug(title))
}

fn agent(node: &Node, faults: &mut Faults) -> Option<(Name, Solo)> {
    let mut fields = Fields::of(node, "", faults)?;
    let title = fields.require_name("title");
    fields.require("description");
    let instructions = fields.text(BODY);
    let prompt = fields.text("prompt");
    let Some(body) = instructions.as_ref().or(prompt.as_ref()).cloned() else {
        let report = Report::error("D005", "`instructions` is missing, and so is `prompt`");
        faults.push(node.spot, report.hint("add `instructions`"));
        return None;
    };
    let name = Name::from(slug(title?.value.as_str()));
    // The body says it, unless it would then be taken for the other of the two.
    let said = |key: &str| key != BODY || (instructions.is_some() && instructions == prompt);
    let left: Vec<_> = entries(node).iter().filter(|(key, _)| said(key)).cloned().collect();
    let solo = reread(&name, &Node { spot: node.spot, tree: Tree::Object(left) }, &body, faults)?;
    Some((name, solo))
}

/// An agent from its recipe without the instructions. A recipe with nothing but a `prompt` has that for its text.
pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = super::without_nulls(node);
    let mut fields = Fields::of(&kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    solo.description = said(&mut fields, "description", Fields::text);
    solo.title = said(&mut fields, "title", Fields::text).filter(|said| slug(&said.value) != said.value);
    solo.opening = said(&mut fields, "prompt", Fields::text).filter(|_| !is_prompt_only(&kept, body));
    settings(&mut fields, &mut solo);
    if let Some(node) = fields.node("response") {
        let key = "response".to_owned();
        solo.result_schema =
            entry(node, "json_schema").map(|schema| Said { key, spot: node.spot, value: schema.value() });
        solo.rest.extend(super::entries::rest(node, "response.", &["json_schema"]));
    }
    if let Some(node) = fields.node("extensions") {
        extensions::read(node, &mut fields, &mut solo);
    }
    children(&mut fields, &mut solo);
    for key in ["version", BODY, "activities", "author", "parameters", "retry", AROUND] {
        fields.node(key);
    }
    fields.finish();
    let spelt =
        ["version", "title", BODY, "prompt", "settings", "response", "extensions", "sub_recipes", AROUND, CALLED];
    complete(&mut solo, node, &spelt);
    let around = entry(node, AROUND).map(|around| super::entries::rest(around, "", &["name"]));
    solo.rest.extend(around.unwrap_or_default());
    if solo.verbatim.get(BODY).is_some_and(Value::is_null) {
        solo.verbatim.remove(BODY);
    }
    Some(solo)
}

/// The recipes that it calls: by their own names where those are known, else by the names that it has for them. How it
/// calls them has no other word.
fn children(fields: &mut Fields<'_>, solo: &mut Solo) {
    let called = fields.node(CALLED);
    let Some(node) = fields.node("sub_recipes") else { return };
    let Tree::List(items) = &node.tree else {
        fields.wrong::<()>("sub_recipes", "an array", node);
        return;
    };
    let mut names = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(name) = text(item, "name").filter(|name| !name.trim().is_empty()) else {
            fields.wrong::<()>(&format!("sub_recipes[{index}]"), "a recipe with a `name`", item);
            continue;
        };
        let own = called.and_then(|called| text(called, name)).map_or_else(|| slug(name), str::to_owned);
        names.push(At { value: Name::from(own), spot: item.spot });
        solo.rest.extend(super::entries::rest(item, "sub_recipes.", &["name", "path"]));
    }
    let key = "sub_recipes".to_owned();
    solo.children = (!names.is_empty()).then_some(Said { key, spot: node.spot, value: names });
}

fn is_prompt_only(node: &Node, body: &str) -> bool {
    entry(node, BODY).is_none() && text(node, "prompt") == Some(body)
}

fn settings(fields: &mut Fields<'_>, solo: &mut Solo) {
    let Some(node) = fields.node("settings") else { return };
    let Some(mut inner) = fields.within(node, "settings") else { return };
    let provider = inner.text("goose_provider");
    let model = said(&mut inner, "goose_model", Fields::text);
    solo.temperature = said(&mut inner, "temperature", keys::number).map(nested);
    solo.steps_max = said(&mut inner, "max_turns", Fields::count).map(nested);
    inner.finish();
    let mut taken = vec!["goose_model", "temperature", "max_turns"];
    if let Some(model) = model {
        taken.push("goose_provider");
        solo.model = Some(nested(model.map(|model| wish(&model, provider.as_deref()))));
    }
    solo.rest.extend(super::entries::rest(node, "settings.", &taken));
}

fn nested<T>(said: Said<T>) -> Said<T> {
    Said { key: format!("settings.{}", said.key), ..said }
}

fn wish(model: &str, provider: Option<&str>) -> ModelWish {
    match provider {
        Some(provider) => models::of_path(&format!("{provider}/{model}")),
        None => models::of_bare_id(model),
    }
}

pub(super) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { keys, losses } = if solo.format == FORMAT { own(name, solo) } else { record(name, solo, agents) };
        let path = format!(".goose/recipes/{}.yaml", file_stem(name.as_str()));
        written.add(name, path, yaml_text(&keys), losses);
    }
    written
}

/// What goose itself said.
fn own(name: &Name, solo: &Solo) -> Record {
    let mut kept = solo.verbatim.clone();
    let around = kept.shift_remove(AROUND);
    kept.shift_remove(CALLED);
    let prompt_only = !kept.contains_key(BODY) && kept.get("prompt").and_then(Value::as_str) == Some(&solo.body);
    kept.shift_remove(BODY);
    let title = kept.get("title").and_then(Value::as_str).filter(|title| slug(title) == name.as_str());
    let title = title.unwrap_or(name.as_str()).to_owned();
    let mut record = Record::default();
    for key in ["version", "title", "description"] {
        if let Some(value) = kept.shift_remove(key) {
            record.set(key, value);
        }
    }
    record.set("title", title);
    if !prompt_only {
        record.set(BODY, solo.body.as_str());
    }
    record.keys.extend(kept);
    if let Some(Value::Object(mut around)) = around {
        around.insert("recipe".to_owned(), Value::Object(record.keys));
        record.keys = around;
    }
    record
}

fn record(name: &Name, solo: &Solo, agents: &[(Name, Solo)]) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.set("version", "1.0.0");
    let title = left.title.take_if(|said| slug(&said.value) == name.as_str());
    record.set("title", title.map_or_else(|| name.to_string(), |said| said.value));
    if slug(name.as_str()) != name.as_str() {
        record.losses.name("name");
    }
    record.describe(name, &mut left);
    record.set(BODY, plain(&solo.body));
    record.put("prompt", left.opening.take(), |opening| Some(plain(opening).into()));
    let toolsets = toolsets::take(&mut record, &mut left);
    extensions::write(&mut record, toolsets);
    write_settings(&mut record, &mut left);
    record.put("response", left.result_schema.take(), |schema| Some(json!({ "json_schema": schema })));
    write_children(&mut record, &mut left, agents);
    record.lose(left)
}

fn write_settings(record: &mut Record, left: &mut Solo) {
    let mut settings = Map::new();
    if let Some(said) = left.model.take_if(|said| models::path(&said.value).is_some()) {
        let path = models::path(&said.value).unwrap_or_default();
        if let Some((provider, model)) = path.split_once('/') {
            settings.insert("goose_provider".to_owned(), provider.into());
            settings.insert("goose_model".to_owned(), model.into());
        }
    }
    if let Some(temperature) = left.temperature.take() {
        settings.insert("temperature".to_owned(), temperature.value.into());
    }
    if let Some(steps) = left.steps_max.take() {
        settings.insert("max_turns".to_owned(), steps.value.into());
    }
    if !settings.is_empty() {
        record.set("settings", settings);
    }
}

/// A recipe names the files of those that it calls, so that only agents which are written with it can be among them.
fn write_children(record: &mut Record, left: &mut Solo, agents: &[(Name, Solo)]) {
    let Some(said) = left.children.take() else { return };
    let mut recipes = Vec::new();
    for child in &said.value {
        if agents.iter().any(|(name, _)| *name == child.value) {
            let path = format!("./{}.yaml", file_stem(child.value.as_str()));
            recipes.push(json!({ "name": child.value.as_str(), "path": path }));
        } else {
            record.losses.name(&said.key);
        }
    }
    if !recipes.is_empty() {
        record.set("sub_recipes", recipes);
    }
}

/// Text that says the same to goose, which takes all text for a template.
fn plain(text: &str) -> String {
    let is_template = ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark));
    match (is_template, text.contains("endraw")) {
        (false, _) => text.to_owned(),
        (true, false) => format!("{{% raw %}}{text}{{% endraw %}}"),
        // Each mark by itself, as the text that it is.
        (true, true) => text.replace('{', "{{ '{' }}"),
    }
}
