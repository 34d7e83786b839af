//! An object's fields, read one by one: what is missing, of a wrong type or unknown is reported at its place.

use crate::faults::{Faults, quoted};
use crate::nearest::did_you_mean;
use crate::tree::{At, Node, Spot, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Value};

/// Whoever reads asks for every field that it knows, then calls [`Fields::finish`]. A field that was reported reads as
/// absent, so that the rest is still looked at.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    entries: &'a [(String, Node)],
    spot: Spot,
    /// How people are told which field is meant: empty, or ending like `sideA.`.
    prefix: String,
    known: Vec<&'static str>,
    extra: Map<String, Value>,
    pub(crate) faults: &'a mut Faults,
}

impl<'a> Fields<'a> {
    /// The fields of `node`, which `path` names; none if it is not an object.
    pub(crate) fn of(node: &'a Node, path: &str, faults: &'a mut Faults) -> Option<Self> {
        let Tree::Object(entries) = &node.tree else {
            faults.push(node.spot, wrong(if path.is_empty() { "the declaration" } else { path }, "an object", node));
            return None;
        };
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        Some(Self { entries, spot: node.spot, prefix, known: Vec::new(), extra: Map::new(), faults })
    }

    /// The fields of a value that lies within this object.
    pub(crate) fn within<'b>(&'b mut self, node: &'b Node, path: &str) -> Option<Fields<'b>> {
        Fields::of(node, &format!("{}{path}", self.prefix), self.faults)
    }

    pub(crate) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        let node = self.node(key)?;
        let Tree::Text(text) = &node.tree else { return self.wrong(key, "a string", node) };
        Some(text.clone())
    }

    /// A text that names something: not blank.
    pub(crate) fn name(&mut self, key: &'static str) -> Option<At<Name>> {
        let node = self.node(key)?;
        self.name_of(key, node)
    }

    pub(crate) fn name_of(&mut self, path: &str, node: &Node) -> Option<At<Name>> {
        match &node.tree {
            Tree::Text(text) if !text.trim().is_empty() => {
                Some(At { value: Name::from(text.as_str()), spot: node.spot })
            }
            _ => self.wrong(path, "a string that is not blank", node),
        }
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        let Tree::Flag(flag) = node.tree else { return self.wrong(key, "`true` or `false`", node) };
        Some(flag)
    }

    /// A positive integer.
    pub(crate) fn count(&mut self, key: &'static str) -> Option<u32> {
        let node = self.node(key)?;
        let count = match &node.tree {
            Tree::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        count.filter(|count| *count > 0).or_else(|| self.wrong(key, "a positive integer", node))
    }

    /// One of a few words, each standing for something.
    pub(crate) fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let node = self.node(key)?;
        let Tree::Text(text) = &node.tree else { return self.wrong(key, &alternatives(choices), node) };
        if let Some((_, chosen)) = choices.iter().find(|(word, _)| word == text) {
            return Some(*chosen);
        }
        let report = wrong(&format!("{}{key}", self.prefix), &alternatives(choices), node);
        let hint = did_you_mean(text, choices.iter().map(|(word, _)| *word));
        self.faults.push(node.spot, Report { hint, ..report });
        None
    }

    pub(crate) fn list(&mut self, key: &'static str) -> Option<&'a [Node]> {
        let node = self.node(key)?;
        let Tree::List(items) = &node.tree else { return self.wrong(key, "an array", node) };
        Some(items)
    }

    /// Says that a field which must be there is not.
    pub(crate) fn missing<T>(&mut self, key: &str, why: &str) -> Option<T> {
        let report = Report::error("D005", format!("`{}{key}` is missing{why}", self.prefix));
        self.faults.push(self.spot, report.hint(format!("add `{key}`")));
        None
    }

    /// Says that a value is not what it must be.
    pub(crate) fn wrong<T>(&mut self, path: &str, expected: &str, node: &Node) -> Option<T> {
        self.faults.push(node.spot, wrong(&format!("{}{path}", self.prefix), expected, node));
        None
    }

    /// Says that a field is understood and has no effect.
    pub(crate) fn idle(&mut self, node: &Node, report: Report) {
        self.faults.push(node.spot, report);
    }

    /// Keeps a known field as it is: it has no place in the canonical agent yet.
    pub(crate) fn keep(&mut self, key: &'static str, shape: Shape) {
        let Some(node) = self.node(key) else { return };
        if let Some(expected) = shape.refuses(node) {
            self.wrong::<()>(key, expected, node);
        }
        self.keep_value(key, node.value());
    }

    /// Keeps what is left of a field, if anything is.
    pub(crate) fn keep_rest(&mut self, key: &'static str, rest: Map<String, Value>) {
        if !rest.is_empty() {
            self.keep_value(key, Value::Object(rest));
        }
    }

    pub(crate) fn keep_value(&mut self, key: &str, value: Value) {
        self.extra.insert(key.to_owned(), value);
    }

    /// Reports the fields that nobody asked for, and gives everything that was kept.
    pub(crate) fn finish(mut self) -> Map<String, Value> {
        for (key, node) in self.entries.iter().filter(|(key, _)| !self.known.contains(&key.as_str())) {
            let what = format!("the field {} is unknown and has no effect", quoted(&format!("{}{key}", self.prefix)));
            let hint = did_you_mean(key, self.known.iter().copied());
            self.faults.push(node.spot, Report { hint, ..Report::warning("D007", what) });
            self.extra.insert(key.clone(), node.value());
        }
        self.extra
    }
}

/// What a kept field looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Any,
    Text,
    Flag,
    Texts,
    TextMap,
}

impl Shape {
    /// What was expected, if the value is something else.
    fn refuses(self, node: &Node) -> Option<&'static str> {
        let is_text = |node: &Node| matches!(node.tree, Tree::Text(_));
        let (fits, expected) = match (self, &node.tree) {
            (Self::Any, _) => (true, ""),
            (Self::Text, _) => (is_text(node), "a string"),
            (Self::Flag, tree) => (matches!(tree, Tree::Flag(_)), "`true` or `false`"),
            (Self::Texts, tree) => {
                (matches!(tree, Tree::List(items) if items.iter().all(is_text)), "an array of strings")
            }
            (Self::TextMap, tree) => {
                let fits = matches!(tree, Tree::Object(entries) if entries.iter().all(|(_, node)| is_text(node)));
                (fits, "an object whose values are strings")
            }
        };
        (!fits).then_some(expected)
    }
}

fn wrong(path: &str, expected: &str, node: &Node) -> Report {
    let subject = if path.contains(' ') { path.to_owned() } else { format!("`{path}`") };
    Report::error("D006", format!("{subject} must be {expected}, not {}", node.describe()))
}

fn alternatives<T>(choices: &[(&str, T)]) -> String {
    let words: Vec<_> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
