//! Values put into, and taken out of, a JSON file that somebody else writes to as well.
//!
//! Comments, order and white space of the rest stay as they are.

use super::plan::Setting;
use super::record::Settled;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

/// Only a new file says by which schema it is written.
const SCHEMA: &str = "$schema";

/// Why nothing can be put there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The file is something else than an object in JSON.
    NotAnObject,
    /// Others set these values, each by the keys that lead to it.
    Taken(Vec<Vec<String>>),
}

/// Whether what others set is put aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Insistence {
    Yield,
    Insist,
}

/// A file with values put into it.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) text: String,
    /// Those that are there because of us: whoever had the same before keeps it as his own.
    pub(super) ours: Vec<Setting>,
}

/// The text with these values, instead of those that were set before.
pub(super) fn merge(
    text: &str,
    wanted: &[Setting],
    before: Option<&Settled>,
    insistence: Insistence,
) -> Result<Merged, Refusal> {
    let (root, object) = parse(text).ok_or(Refusal::NotAnObject)?;
    let was_set = |keys: &[String]| before.is_some_and(|before| before.names(keys));
    let wanted: Vec<_> = wanted.iter().filter(|setting| setting.path != [SCHEMA] || was_set(&setting.path)).collect();
    let is_ours = |keys: &[String], there: &Value| before.is_some_and(|before| before.holds(keys, there));
    let is_taken = |setting: &&&Setting| match find(&object, &setting.path) {
        Place::Free => false,
        Place::Blocked => true,
        Place::Held(there) => there != setting.value && !is_ours(&setting.path, &there),
    };
    let taken: Vec<_> = wanted.iter().filter(is_taken).map(|setting| setting.path.clone()).collect();
    if insistence == Insistence::Yield && !taken.is_empty() {
        return Err(Refusal::Taken(taken));
    }
    let stale = before.into_iter().flat_map(|before| &before.values);
    for old in stale.filter(|old| !wanted.iter().any(|setting| setting.path == old.path)) {
        remove(&object, &old.path, is_ours);
    }
    let mut ours = Vec::new();
    for setting in wanted {
        let is_theirs = |there: &Value| *there == setting.value && !is_ours(&setting.path, there);
        if !matches!(find(&object, &setting.path), Place::Held(there) if is_theirs(&there)) {
            put(&object, &setting.path, &setting.value);
            ours.push(setting.clone());
        }
    }
    Ok(Merged { text: root.to_string(), ours })
}

/// What is left of a file when values that were set are taken out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing but the braces.
    Nothing,
    Text(String),
}

/// Takes out the values that are still as they were set. Absent: the file is no object any more.
pub(super) fn unset(text: &str, settled: &Settled, is_kept: impl Fn(&[String]) -> bool) -> Option<Left> {
    let (root, object) = parse(text)?;
    let is_ours = |keys: &[String], there: &Value| settled.holds(keys, there);
    for old in settled.values.iter().filter(|old| !is_kept(&old.path)) {
        remove(&object, &old.path, is_ours);
    }
    Some(if object.properties().is_empty() { Left::Nothing } else { Left::Text(root.to_string()) })
}

/// A file that holds these values and nothing else.
pub(super) fn fresh(wanted: &[Setting]) -> String {
    let mut value = Value::Object(serde_json::Map::new());
    for Setting { path, value: leaf } in wanted {
        let slot = path.iter().fold(&mut value, |inner, key| &mut inner[key.as_str()]);
        *slot = leaf.clone();
    }
    format!("{value:#}\n")
}

/// An empty file is an object without keys.
fn parse(text: &str) -> Option<(CstRootNode, CstObject)> {
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    };
    let root = CstRootNode::parse(text, &options).ok()?;
    let object = root.object_value_or_create()?;
    Some((root, object))
}

enum Place {
    Free,
    /// Where an object would have to be there is something else.
    Blocked,
    Held(Value),
}

fn find(object: &CstObject, path: &[String]) -> Place {
    let (Some(last), outer) = (path.last(), &path[..path.len().saturating_sub(1)]) else { return Place::Free };
    let mut inner = object.clone();
    for key in outer {
        match inner.get(key).map(|prop| prop.value()) {
            None => return Place::Free,
            Some(Some(CstNode::Container(container))) if container.is_object() => {
                inner = container.as_object().expect("it was looked at");
            }
            Some(_) => return Place::Blocked,
        }
    }
    match inner.get(last) {
        None => Place::Free,
        Some(prop) => prop.value().and_then(|node| node.to_serde_value()).map_or(Place::Blocked, Place::Held),
    }
}

fn put(object: &CstObject, path: &[String], value: &Value) {
    let (Some(last), outer) = (path.last(), &path[..path.len().saturating_sub(1)]) else { return };
    if matches!(find(object, path), Place::Held(there) if there == *value) {
        // Left as it is spelt.
        return;
    }
    let inner = outer.iter().fold(object.clone(), |inner, key| inner.object_value_or_set(key));
    match inner.get(last) {
        Some(prop) => prop.set_value(input(value)),
        None => drop(inner.append(last, input(value))),
    }
}

/// Takes a value out, and the object around it if that is empty then.
fn remove(object: &CstObject, path: &[String], is_ours: impl Fn(&[String], &Value) -> bool) {
    let Place::Held(there) = find(object, path) else { return };
    if !is_ours(path, &there) {
        return;
    }
    let mut chain: Vec<CstObjectProp> = Vec::new();
    let mut inner = Some(object.clone());
    for key in path {
        let Some(prop) = inner.and_then(|object| object.get(key)) else { return };
        inner = prop.value().and_then(|node| node.as_object());
        chain.push(prop);
    }
    let mut is_empty = true;
    while let Some(prop) = chain.pop().filter(|_| is_empty) {
        prop.remove();
        is_empty = chain.last().is_some_and(|outer| {
            outer.value().and_then(|node| node.as_object()).is_some_and(|object| object.properties().is_empty())
        });
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
