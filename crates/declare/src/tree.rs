//! What a data format says, with the place of every value: the same for all formats.

pub(crate) use entourage_script::Spot;

use crate::faults::quoted;
use serde_json::{Map, Number, Value};

/// Something that a declaration says, and where it says it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) spot: Spot,
}

/// A value. That of a field lies where its key does.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) spot: Spot,
    pub(crate) tree: Tree,
}

#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    /// Code, which only TypeScript can say.
    Function,
    /// Nothing that data can be, which only TypeScript can say, and what it is instead. It was reported.
    Alien(String),
    List(Vec<Node>),
    /// No key is there twice.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value of a field, where this is an object that has it.
    pub(crate) fn field(&self, key: &str) -> Option<&Self> {
        let Tree::Object(entries) = &self.tree else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// What a single value reads as, for formats where every such value is a text.
    pub(crate) fn scalar_text(&self) -> Option<String> {
        match &self.tree {
            Tree::Text(text) => Some(text.clone()),
            Tree::Number(number) => Some(number.to_string()),
            Tree::Flag(flag) => Some(flag.to_string()),
            Tree::Null | Tree::Function | Tree::Alien(_) | Tree::List(_) | Tree::Object(_) => None,
        }
    }

    /// A value that comes from no file: all of it lies at the start of whatever is read.
    pub(crate) fn without_place(value: &Value) -> Self {
        let tree = match value {
            Value::Null => Tree::Null,
            Value::Bool(flag) => Tree::Flag(*flag),
            Value::Number(number) => Tree::Number(number.clone()),
            Value::String(text) => Tree::Text(text.clone()),
            Value::Array(items) => Tree::List(items.iter().map(Self::without_place).collect()),
            Value::Object(entries) => {
                Tree::Object(entries.iter().map(|(key, value)| (key.clone(), Self::without_place(value))).collect())
            }
        };
        Self { spot: Spot::START, tree }
    }

    /// The same without places.
    pub(crate) fn value(&self) -> Value {
        match &self.tree {
            Tree::Null | Tree::Alien(_) => Value::Null,
            Tree::Flag(flag) => Value::Bool(*flag),
            Tree::Number(number) => Value::Number(number.clone()),
            Tree::Text(text) => Value::String(text.clone()),
            Tree::Function => Value::String("[function]".to_owned()),
            Tree::List(items) => items.iter().map(Self::value).collect(),
            Tree::Object(entries) => {
                Value::Object(entries.iter().map(|(key, node)| (key.clone(), node.value())).collect::<Map<_, _>>())
            }
        }
    }

    /// The first part of it that is no data, as a path below it: code, among what is only kept.
    pub(crate) fn code_within(&self) -> Option<(String, &Self)> {
        match &self.tree {
            Tree::Function => Some((String::new(), self)),
            Tree::List(items) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| item.code_within().map(|(path, found)| (format!("[{index}]{path}"), found))),
            Tree::Object(entries) => entries
                .iter()
                .find_map(|(key, node)| node.code_within().map(|(path, found)| (format!(".{key}{path}"), found))),
            Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Alien(_) => None,
        }
    }

    /// What it is, for people who expected something else.
    pub(crate) fn describe(&self) -> String {
        match &self.tree {
            Tree::Null => "null".to_owned(),
            Tree::Flag(flag) => format!("`{flag}`"),
            Tree::Number(number) => format!("`{number}`"),
            Tree::Text(text) => format!("the string {}", quoted(text)),
            Tree::Function => "a function".to_owned(),
            Tree::Alien(what) => what.clone(),
            Tree::List(_) => "an array".to_owned(),
            Tree::Object(_) => "an object".to_owned(),
        }
    }
}

/// Turns byte offsets that only grow into spots, in one pass over the text however long its lines are.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    spot: Spot,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, spot: Spot::START }
    }

    /// The spot of the character at `offset`, which lies on the boundary of one. An offset before the last one, or
    /// behind the end, gives the spot that was reached.
    pub(crate) fn advance(&mut self, offset: usize) -> Spot {
        let passed = self.text.get(self.offset..offset).unwrap_or_default();
        for character in passed.chars() {
            if character == '\n' {
                self.spot = Spot { line: self.spot.line + 1, column: 1 };
            } else {
                self.spot.column += 1;
            }
        }
        self.offset += passed.len();
        self.spot
    }
}
