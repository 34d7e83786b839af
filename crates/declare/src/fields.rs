//! An object's fields, read one by one: what is missing, of a wrong type or unknown is reported at its place.

use crate::faults::did_you_mean;
use crate::faults::{Faults, quoted};
use crate::tree::{At, Node, Spot, Tree};
use entourage_model::{Name, Report};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

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
    faults: &'a mut Faults,
}

impl<'a> Fields<'a> {
    /// The fields of `node`, which `path` names; none if it is not an object.
    pub(crate) fn of(node: &'a Node, path: &str, faults: &'a mut Faults) -> Option<Self> {
        let Tree::Object(entries) = &node.tree else {
            if !is_reported(node) {
                let report =
                    if path.is_empty() { no_declaration(node) } else { wrong(&quoted(path), "an object", node) };
                faults.push(node.spot, report);
            }
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

    /// A field that must be there.
    pub(crate) fn require(&mut self, key: &'static str) -> Option<&'a Node> {
        self.node(key).or_else(|| self.missing(key))
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

    pub(crate) fn require_name(&mut self, key: &'static str) -> Option<At<Name>> {
        let node = self.require(key)?;
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
        let number = match &node.tree {
            Tree::Number(number) => {
                number.as_u64().or_else(|| whole(number)?.try_into().ok()).filter(|number| *number > 0)
            }
            _ => None,
        };
        match number.map(u32::try_from) {
            Some(Ok(count)) => Some(count),
            Some(Err(_)) => self.wrong(key, &format!("at most {}", u32::MAX), node),
            None => self.wrong(key, "a positive integer", node),
        }
    }

    /// A whole number, of either sign.
    pub(crate) fn integer(&mut self, key: &'static str) -> Option<i64> {
        let node = self.node(key)?;
        let Tree::Number(number) = &node.tree else { return self.wrong(key, "a whole number", node) };
        whole(number).or_else(|| self.wrong(key, "a whole number", node))
    }

    /// One of a few words, each standing for something.
    pub(crate) fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let node = self.node(key)?;
        let Tree::Text(text) = &node.tree else { return self.wrong(key, &alternatives(choices), node) };
        if let Some((_, chosen)) = choices.iter().find(|(word, _)| word == text) {
            return Some(*chosen);
        }
        let report = wrong(&quoted(&format!("{}{key}", self.prefix)), &alternatives(choices), node);
        let hint = did_you_mean(text, choices.iter().map(|(word, _)| *word));
        self.faults.push(node.spot, Report { hint, ..report });
        None
    }

    pub(crate) fn list(&mut self, key: &'static str) -> Option<&'a [Node]> {
        let node = self.node(key)?;
        let Tree::List(items) = &node.tree else { return self.wrong(key, "an array", node) };
        Some(items)
    }

    /// An array of strings. Absent if any item is none.
    pub(crate) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let items = self.list(key)?;
        let texts = items.iter().enumerate().map(|(index, item)| match &item.tree {
            Tree::Text(text) => Some(text.clone()),
            _ => self.wrong(&format!("{key}[{index}]"), "a string", item),
        });
        texts.collect::<Vec<_>>().into_iter().collect()
    }

    /// An object whose values are strings. Absent if any value is none.
    pub(crate) fn text_map(&mut self, key: &'static str) -> Option<BTreeMap<String, String>> {
        let node = self.node(key)?;
        let Tree::Object(entries) = &node.tree else {
            return self.wrong(key, "an object whose values are strings", node);
        };
        let texts = entries.iter().map(|(name, item)| match &item.tree {
            Tree::Text(text) => Some((name.clone(), text.clone())),
            _ => self.wrong(&format!("{key}.{name}"), "a string", item),
        });
        texts.collect::<Vec<_>>().into_iter().collect()
    }

    /// An array of names, each with its place. Items that are none are reported and left out.
    pub(crate) fn names(&mut self, key: &'static str) -> Vec<At<Name>> {
        let items = self.list(key).unwrap_or_default();
        let name = |(index, item)| self.name_of(&format!("{key}[{index}]"), item);
        items.iter().enumerate().filter_map(name).collect()
    }

    /// An object of any content.
    pub(crate) fn object(&mut self, key: &'static str) -> Option<Map<String, Value>> {
        let node = self.node(key)?;
        let Tree::Object(entries) = &node.tree else { return self.wrong(key, "an object", node) };
        self.refuse_code(key, node);
        Some(entries.iter().map(|(name, value)| (name.clone(), value.value())).collect())
    }

    /// The spot of a field; absent if the field is. It counts as asked for.
    pub(crate) fn spot(&mut self, key: &'static str) -> Option<Spot> {
        self.node(key).map(|node| node.spot)
    }

    /// Says that there is code in a value that is kept as it is, where code would be lost.
    fn refuse_code(&mut self, key: &str, node: &Node) {
        // The value itself is compared with what it must be.
        if let Some((path, found)) = node.code_within().filter(|(path, _)| !path.is_empty()) {
            self.wrong::<()>(&format!("{key}{path}"), "a plain value", found);
        }
    }

    /// How people are told about one of these fields.
    pub(crate) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn missing<T>(&mut self, key: &str) -> Option<T> {
        let report = Report::error("D005", format!("`{}{key}` is missing", self.prefix));
        self.faults.push(self.spot, report.hint(format!("add `{key}`")));
        None
    }

    /// Says that a field should be there. Whoever reads it knows what its absence means.
    pub(crate) fn advise(&mut self, key: &'static str, hint: &str) {
        if self.node(key).is_none() {
            let report = Report::warning("D005", format!("`{}{key}` is missing", self.prefix));
            self.faults.push(self.spot, report.hint(hint));
        }
    }

    /// Says that a value is not what it must be.
    pub(crate) fn wrong<T>(&mut self, path: &str, expected: &str, node: &Node) -> Option<T> {
        if is_reported(node) {
            return None;
        }
        self.faults.push(node.spot, wrong(&quoted(&format!("{}{path}", self.prefix)), expected, node));
        None
    }

    /// A field as people are told of it.
    pub(crate) fn named(&self, key: &str) -> String {
        quoted(&format!("{}{key}", self.prefix))
    }

    pub(crate) fn report(&mut self, node: &Node, report: Report) {
        self.report_at(node.spot, report);
    }

    pub(crate) fn report_at(&mut self, spot: Spot, report: Report) {
        self.faults.push(spot, report);
    }

    /// Says something of the object as a whole.
    pub(crate) fn report_here(&mut self, report: Report) {
        self.faults.push(self.spot, report);
    }

    /// Keeps a known field as it is: it has no place in the canonical agent yet.
    pub(crate) fn keep(&mut self, key: &'static str, shape: Shape) {
        let Some(node) = self.node(key) else { return };
        self.compare(key, shape, node);
        self.refuse_code(key, node);
        self.keep_value(key, node.value());
    }

    fn compare(&mut self, path: &str, shape: Shape, node: &Node) {
        let expected = match (shape, &node.tree) {
            (Shape::Any, _) | (Shape::Text, Tree::Text(_)) | (Shape::Flag, Tree::Flag(_)) => return,
            (Shape::Amount, Tree::Number(number)) if number.as_f64().is_some_and(|number| number >= 0.0) => return,
            (Shape::Map, Tree::Object(_)) => return,
            (Shape::Texts, Tree::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.compare(&format!("{path}[{index}]"), Shape::Text, item);
                }
                return;
            }
            (Shape::TextMap, Tree::Object(entries)) => {
                for (key, item) in entries {
                    self.compare(&format!("{path}.{key}"), Shape::Text, item);
                }
                return;
            }
            (Shape::Map, _) => "an object",
            (Shape::Text, _) => "a string",
            (Shape::Amount, _) => "a number that is not negative",
            (Shape::Flag, _) => "`true` or `false`",
            (Shape::Texts, _) => "an array of strings",
            (Shape::TextMap, _) => "an object whose values are strings",
        };
        self.wrong::<()>(path, expected, node);
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
    Amount,
    Texts,
    TextMap,
    Map,
}

fn no_declaration(node: &Node) -> Report {
    let is_code = matches!(node.tree, Tree::Function);
    let hint = if is_code { "export the definition itself, not a function that makes it" } else { "write an object" };
    Report::error("D006", format!("a declaration must be an object, not {}", node.describe())).hint(hint)
}

/// What no declaration can hold is reported where it is read; that it is not what it should be is no news.
fn is_reported(node: &Node) -> bool {
    matches!(node.tree, Tree::Alien(_))
}

/// `4.0` and `4e0` are whole numbers too, as they are in TypeScript.
#[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53 is the same in both forms")]
fn whole(number: &Number) -> Option<i64> {
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| number.as_f64().filter(exact).map(|number| number as i64))
}

fn wrong(subject: &str, expected: &str, node: &Node) -> Report {
    Report::error("D006", format!("{subject} must be {expected}, not {}", node.describe()))
        .hint(format!("write {expected}"))
}

fn alternatives<T>(choices: &[(&str, T)]) -> String {
    let words: Vec<_> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
