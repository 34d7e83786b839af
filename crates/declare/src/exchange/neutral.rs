//! The file in which a project keeps an agent of another harness: `.agents/agents/<name>.md`.
//!
//! Its front matter has `name` and `description`, and under `x-<format>` everything that the source said, as it said
//! it. So nothing is lost on the way back, and what has no effect can still be named by the source's own words.

use crate::Format;
use crate::exchange::{file_stem, page, reread};
use crate::faults::{Faults, quoted};
use crate::solo::Solo;
use crate::tree::{At, Node, Spot, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value};

pub(super) const FOLDER: &str = ".agents/agents";

pub(super) fn path(name: &Name) -> String {
    format!("{FOLDER}/{}.md", file_stem(name.as_str()))
}

pub(super) fn write(name: &Name, solo: &Solo) -> String {
    let mut keys = Map::new();
    keys.insert("name".to_owned(), name.as_str().into());
    if let Some(description) = &solo.description {
        keys.insert("description".to_owned(), description.value.as_str().into());
    }
    keys.insert(solo.format.vendor_key(), Value::Object(solo.verbatim.clone()));
    page(&keys, &solo.body)
}

/// The agent of a neutral file, whose name without its ending is `stem`. What the file itself says of `name` and
/// `description` counts. Without an `x-<format>` its keys are those of Claude Code, as everybody who reads this folder
/// takes them.
pub(crate) fn read(stem: &str, node: &Node, body: &str, faults: &mut Faults) -> Option<(At<Name>, Solo)> {
    let Tree::Object(entries) = &node.tree else {
        let what = format!("the front matter must be an object, not {}", node.describe());
        faults.push(node.spot, Report::error("D006", what).hint("write one `key: value` a line"));
        return None;
    };
    let entry = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    let name = match entry("name") {
        Some(Node { tree: Tree::Text(text), spot }) if !text.trim().is_empty() => {
            At { value: Name::from(text.as_str()), spot: *spot }
        }
        Some(node) => {
            let what = format!("`name` must be a string that is not blank, not {}", node.describe());
            faults.push(node.spot, Report::error("D006", what).hint("write a string that is not blank"));
            return None;
        }
        None => At { value: Name::from(stem), spot: Spot::START },
    };
    let Some((format, kept)) = source(node) else {
        let solo = reread(Format::ClaudeCode, &name.value, node, body, faults)?;
        return Some((name, solo));
    };
    let Tree::Object(said) = &kept.tree else {
        let what = format!("{} must be an object, not {}", quoted(&format.vendor_key()), kept.describe());
        faults.push(kept.spot, Report::error("D006", what).hint("write the source's keys and values below it"));
        return None;
    };
    for (key, node) in entries.iter().filter(|(key, _)| !is_read_beside(key, format)) {
        let what = format!("{} stands beside {} and has no effect", quoted(key), quoted(&format.vendor_key()));
        let hint = format!("write it inside {}, in that format's words", quoted(&format.vendor_key()));
        faults.push(node.spot, Report::warning("D119", what).hint(hint));
    }
    let mut said = said.clone();
    if let Some(description) = entry("description") {
        match said.iter_mut().find(|(key, _)| key == "description") {
            Some((_, node)) => *node = description.clone(),
            None => said.push(("description".to_owned(), description.clone())),
        }
    }
    let kept = Node { spot: kept.spot, tree: Tree::Object(said) };
    let solo = reread(format, &name.value, &kept, body, faults)?;
    Some((name, solo))
}

/// Whether a key counts where the agent's own keys are under `x-<format>`.
fn is_read_beside(key: &str, format: Format) -> bool {
    ["name", "description"].contains(&key) || key == format.vendor_key()
}

/// Whether this is the front matter of a file that a project keeps.
pub(super) fn is_kept(node: &Node) -> bool {
    source(node).is_some()
}

/// Whether this is what a bundle's subagent said beyond the keys of the harness that it was written for: then the file
/// is that harness's own. Only a whole definition has the instructions, or an adapter.
fn is_leftover(format: Format, node: &Node) -> bool {
    format == Format::Stax && node.field("instructions").or_else(|| node.field("adapter")).is_none()
}

/// What the source said, and its format.
fn source(node: &Node) -> Option<(Format, &Node)> {
    let Tree::Object(entries) = &node.tree else { return None };
    let mut kept = entries.iter().filter_map(|(key, node)| Some((Format::of_name(key.strip_prefix("x-")?)?, node)));
    kept.find(|(format, node)| !is_leftover(*format, node))
}
