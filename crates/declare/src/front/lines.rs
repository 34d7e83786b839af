//! Front matter that is no YAML, read line by line: `key: value`, and lists as lines `- item`.

use crate::json::VALUES_MAX;
use crate::tree::{Node, Spot, Tree};
use std::collections::BTreeSet;

/// Absent: a line is none of these, or a key is there twice, or there are too many.
pub(super) fn parse(text: &str, first_line: u32) -> Option<Node> {
    let mut entries: Vec<(String, Node)> = Vec::new();
    let mut keys = BTreeSet::new();
    for (line, number) in text.lines().zip(first_line..) {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let column = line.chars().take_while(|letter| letter.is_whitespace()).count() + 1;
        let spot = Spot { line: number, column: u32::try_from(column).unwrap_or(u32::MAX) };
        if let Some(item) = content.strip_prefix('-').filter(|item| item.is_empty() || item.starts_with([' ', '\t'])) {
            let (_, list) = entries.last_mut()?;
            add(list, Node { spot, tree: Tree::Text(plain(item)) })?;
            continue;
        }
        let (key, value) = content.split_once(':')?;
        let key = key.trim_end();
        let is_key = column == 1 && !key.is_empty() && !key.contains(char::is_whitespace);
        if !is_key || !keys.insert(key) || keys.len() > VALUES_MAX {
            return None;
        }
        entries.push((key.to_owned(), Node { spot, tree: value_of(value.trim(), spot)? }));
    }
    Some(Node { spot: Spot { line: first_line, column: 1 }, tree: Tree::Object(entries) })
}

/// Only a key without a value can have a list below it.
fn add(list: &mut Node, item: Node) -> Option<()> {
    match &mut list.tree {
        Tree::Null => list.tree = Tree::List(vec![item]),
        Tree::List(items) if list.spot.line != item.spot.line => items.push(item),
        Tree::Flag(_)
        | Tree::Number(_)
        | Tree::Text(_)
        | Tree::Function
        | Tree::Alien(_)
        | Tree::List(_)
        | Tree::Object(_) => {
            return None;
        }
    }
    Some(())
}

/// Absent: it begins like something of several parts, and is none that can be read.
fn value_of(value: &str, spot: Spot) -> Option<Tree> {
    if value.is_empty() {
        return Some(Tree::Null);
    }
    if let Some(items) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        let items = items.split(',').map(plain).filter(|item| !item.is_empty());
        return Some(Tree::List(items.map(|item| Node { spot, tree: Tree::Text(item) }).collect()));
    }
    (!value.starts_with(['[', '{'])).then(|| Tree::Text(plain(value)))
}

/// Without the quotes around it.
fn plain(value: &str) -> String {
    let value = value.trim();
    let unquoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_line_is_a_key_with_its_value_or_an_item_below_one() {
        for (text, expected) in [
            ("", Some(json!({}))),
            ("a: b: c\n# why\n\nd:\te\n", Some(json!({ "a": "b: c", "d": "e" }))),
            ("a: *x\nb: @y\nc: 'it''s'\nd: \"q\"\n", Some(json!({ "a": "*x", "b": "@y", "c": "it''s", "d": "q" }))),
            ("a:\n- x: y\n\t- \"z\"\nb: [p, 'q',]\n", Some(json!({ "a": ["x: y", "z"], "b": ["p", "q"] }))),
            ("a:\nb:\n", Some(json!({ "a": null, "b": null }))),
            ("a: 007\r\n", Some(json!({ "a": "007" }))),
            ("- x\n", None),
            ("a: b\n- x\n", None),
            ("a: b\n  c: d\n", None),
            ("a: b\na: c\n", None),
            ("a b: c\n", None),
            ("a: [b\n", None),
            ("a: {b: c}\n", None),
            ("a\n", None),
        ] {
            assert_eq!(parse(text, 2).map(|node| node.value()), expected, "{text}");
        }
    }

    #[test]
    fn everything_lies_where_it_is_written() {
        let node = parse("a:\n  - é\nb: x: y\n", 2).unwrap();
        let spot = |node: &Node| (node.spot.line, node.spot.column);
        let list = node.field("a").unwrap();
        let Tree::List(items) = &list.tree else { panic!("{list:?}") };
        assert_eq!([spot(list), spot(&items[0]), spot(node.field("b").unwrap())], [(2, 1), (3, 3), (4, 1)]);
        assert_eq!(node.value()["b"], Value::from("x: y"));
    }
}
