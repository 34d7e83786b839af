//! opencode: `.opencode/agents/*.md`, or the agents of `opencode.json`. Keys that it does not know go to the model's
//! provider, so that none is unknown. An agent's name is its file's, or its key.

mod permission;

use crate::Format;
use crate::exchange::delegate::Beyonds;
use crate::exchange::entries::{entries, entry, sound};
use crate::exchange::{File, Record, Written, beside, complete, file_stem, keys, models, page, said};
use crate::faults::{Faults, quoted};
use crate::fields::Fields;
use crate::front::Reading;
use crate::json;
use crate::solo::{ModelWish, Solo};
use crate::tree::{Node, Tree};
use entourage_model::{Name, Report};

const FORMAT: Format = Format::Opencode;

/// The prompt's key, in the two versions of the configuration.
const PROMPTS: [&str; 2] = ["prompt", "system"];

pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    if file.path.ends_with(".json") || file.path.ends_with(".jsonc") {
        return read_configuration(file, faults);
    }
    let Some((node, body)) = page::read(file, Reading::Lax, faults) else { return Vec::new() };
    let name = Name::from(file.stem(&[".md"]));
    let solo = sound(faults, |faults| reread(&name, &node, body, faults));
    solo.map(|solo| (name, solo)).into_iter().collect()
}

fn read_configuration(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let node = match json::parse_with_comments(file.text) {
        Ok(node) => node,
        Err(fault) => {
            faults.push(fault.spot, fault.report());
            return Vec::new();
        }
    };
    let agents: Vec<_> = ["agent", "agents"].iter().filter_map(|key| entry(&node, key)).flat_map(entries).collect();
    if agents.is_empty() {
        let report = Report::error("D116", "this configuration has no agents");
        faults.push(node.spot, report.hint("they are expected under `agent`, each under its name"));
    }
    let read = |(name, node): &(String, Node)| sound(faults, |faults| configured(file, name, node, faults));
    agents.into_iter().filter_map(read).collect()
}

fn configured(file: &File<'_>, name: &str, node: &Node, faults: &mut Faults) -> Option<(Name, Solo)> {
    let mut body = String::new();
    for key in PROMPTS {
        if let Some(prompt) = entry(node, key) {
            body = prompt_text(file, &format!("agent.{name}.{key}"), prompt, faults)?;
        }
    }
    let others = entries(node).iter().filter(|(key, _)| !PROMPTS.contains(&key.as_str()));
    let node = match &node.tree {
        Tree::Object(_) => &Node { spot: node.spot, tree: Tree::Object(others.cloned().collect()) },
        _ => node,
    };
    let name = Name::from(name);
    let solo = reread(&name, node, &body, faults)?;
    Some((name, solo))
}

/// A prompt may be the path of a file, as `{file:…}`.
fn prompt_text(file: &File<'_>, key: &str, node: &Node, faults: &mut Faults) -> Option<String> {
    let Tree::Text(text) = &node.tree else {
        let what = format!("{} must be a string, not {}", quoted(key), node.describe());
        faults.push(node.spot, Report::error("D006", what).hint("write a string"));
        return None;
    };
    let path = text.trim().strip_prefix("{file:").and_then(|rest| rest.strip_suffix('}'));
    match path.filter(|path| !path.contains(['{', '}'])) {
        Some(path) => {
            let path = Node { spot: node.spot, tree: Tree::Text(path.trim().to_owned()) };
            beside::text(file, key, &path, faults)
        }
        None => Some(text.clone()),
    }
}

pub(super) fn reread(_: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    let kept = super::without_nulls(node);
    let mut fields = Fields::of(&kept, "", faults)?;
    let mut solo = Solo::new(FORMAT, body);
    solo.description = said(&mut fields, "description", Fields::text);
    solo.model = said(&mut fields, "model", Fields::text).map(|said| said.map(|text| models::of_path(&text)));
    solo.effort = said(&mut fields, "reasoningEffort", Fields::text);
    solo.temperature = said(&mut fields, "temperature", keys::number);
    solo.top_p = said(&mut fields, "top_p", keys::number);
    let earlier = said(&mut fields, "maxSteps", Fields::count);
    solo.steps_max = said(&mut fields, "steps", Fields::count).or(earlier);
    solo.hidden = said(&mut fields, "hidden", Fields::flag);
    solo.color = said(&mut fields, "color", Fields::text);
    permission::read(&mut fields, &mut solo);
    complete(&mut solo, node, &[]);
    Some(solo)
}

pub(super) fn write(agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { keys, losses } = record(solo).settle(FORMAT, beyonds.get(name));
        let path = format!(".opencode/agents/{}.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

fn record(solo: &Solo) -> Record {
    if solo.format == FORMAT {
        return Record::verbatim(solo, None);
    }
    let mut left = solo.clone();
    let mut record = Record::default();
    record.copy("description", left.description.take());
    record.set("mode", "subagent");
    // Only this provider takes the word as it is.
    if matches!(left.model.as_ref().map(|said| &said.value), Some(ModelWish::Named { provider, .. }) if provider == "openai")
    {
        record.copy("reasoningEffort", left.effort.take());
    }
    record.model(&mut left, models::path);
    record.copy("temperature", left.temperature.take());
    record.copy("top_p", left.top_p.take());
    record.copy("steps", left.steps_max.take());
    record.copy("hidden", left.hidden.take());
    record.put("color", left.color.take(), |color| color.starts_with('#').then(|| color.as_str().into()));
    permission::write(&mut record, &mut left);
    record.lose(left)
}
