//! Fields as a declaration says them: with the key and its place, and in the shapes that harnesses share.

use crate::faults::{did_you_mean, quoted};
use crate::fields::Fields;
use crate::solo::{Said, Solo};
use crate::tree::{At, Node, Tree};
use entourage_model::Report;
use std::collections::BTreeMap;

/// A field with its key and place: `said(&mut fields, "model", Fields::text)`.
pub(crate) fn said<'a, T>(
    fields: &mut Fields<'a>,
    key: &'static str,
    read: impl FnOnce(&mut Fields<'a>, &'static str) -> Option<T>,
) -> Option<Said<T>> {
    let spot = fields.node(key)?.spot;
    read(fields, key).map(|value| Said { key: key.to_owned(), spot, value })
}

/// Keeps all that the declaration says, and puts into `rest` every key that no field was read from. Those in `implied`
/// say what holds in any format.
pub(crate) fn complete(solo: &mut Solo, node: &Node, implied: &[&str]) {
    let Tree::Object(entries) = &node.tree else { return };
    let keys = solo.keys();
    let is_read = |key: &str| keys.iter().any(|read| read.split('.').next() == Some(key));
    let left = entries
        .iter()
        .filter(|(key, node)| !matches!(node.tree, Tree::Null) && !implied.contains(&key.as_str()) && !is_read(key));
    let left: Vec<_> =
        left.map(|(key, node)| Said { key: key.clone(), spot: node.spot, value: node.value() }).collect();
    solo.rest.extend(left);
    solo.verbatim = entries.iter().map(|(key, node)| (key.clone(), node.value())).collect();
}

/// A key without a value says nothing: harnesses take it for absent.
pub(crate) fn without_nulls(node: &Node) -> Node {
    let tree = match &node.tree {
        Tree::Object(entries) => {
            let said = entries.iter().filter(|(_, node)| !matches!(node.tree, Tree::Null));
            Tree::Object(said.cloned().collect())
        }
        other => other.clone(),
    };
    Node { spot: node.spot, tree }
}

pub(crate) fn number(fields: &mut Fields<'_>, key: &'static str) -> Option<f64> {
    let node = fields.node(key)?;
    match &node.tree {
        Tree::Number(number) => number.as_f64(),
        _ => fields.wrong(key, "a number", node),
    }
}

/// A flag, or its word in quotes: that is how one reads where front matter is read line by line.
pub(crate) fn lax_flag(fields: &mut Fields<'_>, key: &'static str) -> Option<bool> {
    match &fields.node(key)?.tree {
        Tree::Text(word) if word == "true" => Some(true),
        Tree::Text(word) if word == "false" => Some(false),
        _ => fields.flag(key),
    }
}

/// A positive integer, or the same in quotes.
pub(crate) fn lax_count(fields: &mut Fields<'_>, key: &'static str) -> Option<u32> {
    let in_quotes = match &fields.node(key)?.tree {
        Tree::Text(digits) => digits.parse().ok().filter(|count| *count > 0),
        _ => None,
    };
    in_quotes.or_else(|| fields.count(key))
}

/// A word for what an agent may do. One that the format does not know takes no right away, which nobody would see.
pub(crate) fn right(fields: &mut Fields<'_>, key: &'static str, words: &[&str]) -> Option<Said<String>> {
    let said = said(fields, key, Fields::text)?;
    if !words.contains(&said.value.as_str()) {
        let (named, known) = (fields.named(key), words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "));
        let what = format!("{named} must be one of {known}, not {}: it takes no right away", quoted(&said.value));
        let hint = did_you_mean(&said.value, words.iter().copied());
        fields.report_at(said.spot, Report { hint, ..Report::warning("D132", what) });
    }
    Some(said)
}

/// An array of strings.
pub(crate) fn texts(fields: &mut Fields<'_>, key: &'static str) -> Option<Vec<At<String>>> {
    let node = fields.node(key)?;
    let Tree::List(items) = &node.tree else { return fields.wrong(key, "an array of strings", node) };
    let item = |(index, item): (usize, &Node)| match &item.tree {
        Tree::Text(text) => Some(At { value: text.clone(), spot: item.spot }),
        _ => fields.wrong(&format!("{key}[{index}]"), "a string", item),
    };
    items.iter().enumerate().map(item).collect()
}

/// An array of strings, or one string with commas between them: only those outside of parentheses count.
pub(crate) fn listed_texts(fields: &mut Fields<'_>, key: &'static str) -> Option<Vec<At<String>>> {
    let node = fields.node(key)?;
    let Tree::Text(text) = &node.tree else { return texts(fields, key) };
    let mut depth = 0_usize;
    let items = text.split(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    let items = items.map(str::trim).filter(|item| !item.is_empty());
    Some(items.map(|item| At { value: item.to_owned(), spot: node.spot }).collect())
}

/// An object whose values are strings; numbers and flags are taken as they are written.
pub(crate) fn text_map(fields: &mut Fields<'_>, key: &'static str) -> Option<BTreeMap<String, String>> {
    let node = fields.node(key)?;
    let Tree::Object(entries) = &node.tree else {
        return fields.wrong(key, "an object whose values are strings", node);
    };
    let entry = |(name, item): &(String, Node)| match item.scalar_text() {
        Some(text) => Some((name.clone(), text)),
        None => fields.wrong(&format!("{key}.{name}"), "a string", item),
    };
    entries.iter().map(entry).collect()
}

/// A list without the places of its items.
pub(crate) fn values(list: Vec<At<String>>) -> Vec<String> {
    list.into_iter().map(|item| item.value).collect()
}
