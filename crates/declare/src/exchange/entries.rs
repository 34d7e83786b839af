//! An object's entries, for readers that take a whole file and not only front matter.

use crate::exchange::File;
use crate::faults::Faults;
use crate::json;
use crate::solo::Said;
use crate::tree::{Node, Tree};
use crate::yaml;
use entourage_model::Severity;
use serde_json::{Map, Value};

/// The entries of an object; none if it is something else.
pub(super) fn entries(node: &Node) -> &[(String, Node)] {
    match &node.tree {
        Tree::Object(entries) => entries,
        Tree::Null
        | Tree::Flag(_)
        | Tree::Number(_)
        | Tree::Text(_)
        | Tree::Function
        | Tree::Alien(_)
        | Tree::List(_) => &[],
    }
}

pub(super) fn entry<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    entries(node).iter().find(|(name, _)| name == key).map(|(_, node)| node)
}

/// What is under a key, if it is a string.
pub(super) fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &entry(node, key)?.tree {
        Tree::Text(text) => Some(text),
        Tree::Null
        | Tree::Flag(_)
        | Tree::Number(_)
        | Tree::Function
        | Tree::Alien(_)
        | Tree::List(_)
        | Tree::Object(_) => None,
    }
}

/// All entries but those that were taken, each under `prefix` and its own key.
pub(crate) fn rest(node: &Node, prefix: &str, taken: &[&str]) -> Vec<Said<Value>> {
    let left = entries(node).iter().filter(|(key, _)| !taken.contains(&key.as_str()));
    left.map(|(key, node)| Said { key: format!("{prefix}{key}"), spot: node.spot, value: node.value() }).collect()
}

/// The same as values.
pub(super) fn without(node: &Node, taken: &[&str]) -> Map<String, Value> {
    let left = entries(node).iter().filter(|(key, _)| !taken.contains(&key.as_str()));
    left.map(|(key, node)| (key.clone(), node.value())).collect()
}

/// The value of a file in YAML or JSON. Absent: reported.
pub(super) fn data(file: &File<'_>, faults: &mut Faults) -> Option<Node> {
    let is_json = file.path.ends_with(".json");
    let parsed = if is_json { json::parse(file.text) } else { yaml::parse(file.text, 1) };
    match parsed {
        Ok(node) => Some(node),
        Err(fault) => {
            faults.push(fault.spot, if is_json { fault.report() } else { yaml::report(&fault) });
            None
        }
    }
}

/// What `read` gives, unless it found an error.
pub(super) fn sound<T>(faults: &mut Faults, read: impl FnOnce(&mut Faults) -> Option<T>) -> Option<T> {
    let before = faults.reports.len();
    let found = read(faults);
    let is_broken = faults.reports.iter().skip(before).any(|report| report.severity == Severity::Error);
    found.filter(|_| !is_broken)
}
