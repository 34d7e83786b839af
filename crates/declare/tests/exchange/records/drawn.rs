//! What files may hold, drawn by chance.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Texts that a careless writer turns into something else.
const TRICKY: [&str; 34] = [
    "",
    " ",
    "no",
    "Yes",
    "null",
    "~",
    "1e3",
    "0x10",
    "1_000",
    ".5",
    "-",
    "- a",
    "# x",
    "a # b",
    "a: b",
    "a:",
    "'",
    "\"",
    "|",
    "> x",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    " lead",
    "trail ",
    "\n",
    "a\n",
    "a\n\n",
    "\r\n",
    "{{ x }}",
    "2024-01-01",
    "---",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(TRICKY.as_slice()).prop_map(str::to_owned),
        3 => "[ \t\n\r#:|>&*!%@`'\"{}\\[\\],?=0-9a-cé\u{0}\u{7}\u{1b}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}🦀-]{0,24}",
        2 => "\\PC{0,16}",
    ]
}

/// Text of several lines, as prompts are.
pub(crate) fn body() -> impl Strategy<Value = String> {
    prop_oneof![text(), vec(text(), 0..6).prop_map(|lines| lines.join("\n"))]
}

/// A name that is not blank.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9-]{0,8}[a-z0-9]", text().prop_filter("blank", |text| !text.trim().is_empty())]
}

fn leaf(null: bool) -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(if null { Value::Null } else { json!(false) }),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        4 => text().prop_map(Value::from),
    ]
}

/// Anything that JSON can say; without null what TOML can say.
pub(crate) fn value(null: bool) -> impl Strategy<Value = Value> {
    leaf(null).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(text(), inner, 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Some of `keys`, each with any value, in any order.
pub(crate) fn some_of(keys: &'static [&'static str], null: bool) -> impl Strategy<Value = Map<String, Value>> {
    subsequence(keys, 0..=keys.len().min(4)).prop_shuffle().prop_flat_map(move |keys| {
        let values: Vec<_> = keys.iter().map(|_| value(null)).collect();
        values.prop_map(move |values| {
            keys.iter().map(|key| (*key).to_owned()).zip(values).collect::<Map<String, Value>>()
        })
    })
}

/// An object of which each entry may be missing.
pub(crate) fn optional(
    entries: Vec<(&'static str, BoxedStrategy<Value>)>,
) -> impl Strategy<Value = Map<String, Value>> {
    let (keys, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let values: Vec<_> = values.into_iter().map(proptest::option::of).collect();
    values.prop_map(move |values| {
        let said = keys.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
        said.collect()
    })
}

pub(crate) fn text_value() -> BoxedStrategy<Value> {
    text().prop_map(Value::from).boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Value> {
    vec(text(), 0..3).prop_map(Value::from).boxed()
}

pub(crate) fn text_map() -> BoxedStrategy<Value> {
    btree_map(text(), text(), 0..3).prop_map(|entries| json!(entries)).boxed()
}
