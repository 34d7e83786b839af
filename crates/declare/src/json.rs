//! JSON text → tree with places.
//!
//! Two parsers share the work: `serde_json` judges, because it is strict; `jsonc-parser` locates, because it keeps the
//! place of every value. What it would tolerate never reaches it.

use crate::faults::quoted;
use crate::tree::{Cursor, Node, Spot, Tree};
use entourage_model::{Report, mark_halves};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, ParseResult, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Number;
use std::collections::BTreeSet;

/// Agents are stored and read again as JSON, where `serde_json` ends at 128; there they lie within other objects.
pub const DEPTH_MAX: usize = 64;

/// No declaration comes near; it bounds what a hostile file costs.
pub(crate) const VALUES_MAX: usize = 100_000;

/// What an escaped lone surrogate is.
const HALF: &str = "a text has half a character in it (a lone surrogate), which is no Unicode text";

/// How what is said of the limits ends.
const VALUES: &str = " values";
const DEEP: &str = " deep";

/// Why a text is not a declaration in JSON.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) spot: Spot,
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn report(&self) -> Report {
        let hint =
            if self.what.ends_with("twice") { "remove one of the two" } else { "mend the text at the place shown" };
        // The grammar allows these, so that other programs may have written them.
        let is_valid = self.what == HALF || self.what.ends_with(VALUES) || self.what.ends_with(DEEP);
        let verdict = if is_valid { "this JSON cannot be read" } else { "this is not valid JSON" };
        Report::error("D004", format!("{verdict}: {}", self.what)).hint(hint)
    }
}

pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|fault| refused(text, &fault))?;
    build(text, locate(text).map_err(|fault| unlocated(text, &fault))?)
}

/// The same, with half a character in a text marked and not refused.
pub(crate) fn parse_with_halves(text: &str) -> Result<Node, Fault> {
    parse(&mark_halves(text))
}

/// JSON in which comments and a comma after the last item are fine, as some harnesses write it.
pub(crate) fn parse_with_comments(text: &str) -> Result<Node, Fault> {
    let options = ParseOptions { allow_comments: true, allow_trailing_commas: true, ..STRICT };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    build(text, parsed.map_err(|fault| unlocated(text, &fault))?)
}

fn build(text: &str, parsed: ParseResult<'_>) -> Result<Node, Fault> {
    let mut builder = Builder { cursor: Cursor::new(text), values: 0 };
    match parsed.value {
        Some(value) => {
            let spot = builder.cursor.advance(value.start());
            builder.node(value, spot, 1)
        }
        None => Err(Fault { spot: Spot::START, what: "there is no value".to_owned() }),
    }
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn locate(text: &str) -> Result<ParseResult<'_>, ParseError> {
    parse_to_ast(text, &CollectOptions::default(), &STRICT)
}

/// Comments and trailing commas are what people expect to be fine; only the second parser calls them by their name.
fn refused(text: &str, fault: &serde_json::Error) -> Fault {
    match locate(text) {
        Err(fault)
            if matches!(
                fault.kind(),
                ParseErrorKind::CommentsNotAllowed | ParseErrorKind::TrailingCommasNotAllowed
            ) =>
        {
            unlocated(text, &fault)
        }
        _ => unparsed(text, fault),
    }
}

fn unlocated(text: &str, fault: &ParseError) -> Fault {
    let spot = Cursor::new(text).advance(fault.range().start);
    let words = fault.kind().to_string().to_lowercase();
    Fault { spot, what: if words.contains("surrogate") { HALF.to_owned() } else { words } }
}

/// The words without their place, and the place with characters instead of bytes.
fn unparsed(text: &str, fault: &serde_json::Error) -> Fault {
    let words = fault.to_string();
    let what = words.split(" at line ").next().unwrap_or_default().to_owned();
    let line_start: usize = text.split_inclusive('\n').take(fault.line().saturating_sub(1)).map(str::len).sum();
    // Within a character that is none of JSON's, its first byte is meant.
    let mut offset = (line_start + fault.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    Fault { spot: Cursor::new(text).advance(offset), what }
}

struct Builder<'a> {
    cursor: Cursor<'a>,
    values: usize,
}

impl Builder<'_> {
    fn node(&mut self, value: Value<'_>, spot: Spot, depth: usize) -> Result<Node, Fault> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(Fault { spot, what: format!("there are more than {VALUES_MAX}{VALUES}") });
        }
        if depth > DEPTH_MAX {
            return Err(Fault { spot, what: format!("values are nested more than {DEPTH_MAX}{DEEP}") });
        }
        let tree =
            match value {
                Value::NullKeyword(_) => Tree::Null,
                Value::BooleanLit(flag) => Tree::Flag(flag.value),
                Value::StringLit(text) => Tree::Text(text.value.into_owned()),
                Value::NumberLit(number) => Tree::Number(number.value.parse::<Number>().map_err(|_| Fault {
                    spot,
                    what: format!("the number {} is out of range", quoted(number.value)),
                })?),
                Value::Array(array) => {
                    let item = |value: Value<'_>| {
                        let spot = self.cursor.advance(value.start());
                        self.node(value, spot, depth + 1)
                    };
                    Tree::List(array.elements.into_iter().map(item).collect::<Result<_, _>>()?)
                }
                Value::Object(object) => Tree::Object(self.entries(object, depth)?),
            };
        Ok(Node { spot, tree })
    }

    fn entries(&mut self, object: Object<'_>, depth: usize) -> Result<Vec<(String, Node)>, Fault> {
        let mut keys = BTreeSet::new();
        let mut entries = Vec::with_capacity(object.properties.len());
        for property in object.properties {
            let spot = self.cursor.advance(property.name.start());
            let key = property.name.into_string();
            if !keys.insert(key.clone()) {
                return Err(Fault { spot, what: format!("the key {} is in its object twice", quoted(&key)) });
            }
            entries.push((key, self.node(property.value, spot, depth + 1)?));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn only_strict_json_is_read() {
        for (text, expected) in [
            ("", "1:1 EOF while parsing a value"),
            ("{\n  // why\n}", "2:3 comments are not allowed"),
            ("[1, /* why */ 2]", "1:5 comments are not allowed"),
            ("{\"a\": 1,\n}", "1:8 trailing commas are not allowed"),
            ("[1,]", "1:3 trailing commas are not allowed"),
            ("{'a': 1}", "1:2 key must be a string"),
            ("{a: 1}", "1:2 key must be a string"),
            ("[1 2]", "1:4 expected `,` or `]`"),
            ("[01]", "1:3 invalid number"),
            ("[0x10]", "1:3 expected `,` or `]`"),
            ("[NaN]", "1:2 expected value"),
            ("[1e999]", "1:2 the number `1e999` is out of range"),
            ("\"é\n\"", "1:2 control character (\\u0000-\\u001F) found while parsing a string"),
            ("\"\\ud800\"", "1:2 a text has half a character in it (a lone surrogate), which is no Unicode text"),
            ("\"\\udc00\"", "1:2 a text has half a character in it (a lone surrogate), which is no Unicode text"),
            ("{} {}", "1:4 trailing characters"),
            ("\u{a0}{}", "1:1 expected value"),
            ("{\"é\": 1, \"é\": 2}", "1:10 the key `é` is in its object twice"),
        ] {
            let fault = parse(text).map(|_| ()).unwrap_err();
            assert_eq!(format!("{}:{} {}", fault.spot.line, fault.spot.column, fault.what), expected, "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit_that_is_reached_before_the_stack_ends() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        assert_eq!(parse(&nested(DEPTH_MAX + 1)).unwrap_err().what, "values are nested more than 64 deep");
        let report = parse(&nested(DEPTH_MAX + 1)).unwrap_err().report();
        assert_eq!(report.what, "this JSON cannot be read: values are nested more than 64 deep");
        assert!(parse(&nested(100_000)).is_err());
        assert!(parse(&"{\"a\":".repeat(100_000)).is_err());
    }

    #[test]
    fn the_number_of_values_has_a_limit() {
        assert!(parse(&format!("[{}1]", "1,".repeat(VALUES_MAX - 2))).is_ok());
        assert_eq!(
            parse(&format!("[{}1]", "1,".repeat(VALUES_MAX))).unwrap_err().what,
            "there are more than 100000 values"
        );
    }

    #[test]
    fn a_field_lies_at_its_key_and_an_item_at_itself() {
        let node = parse("{\n  \"ü\": [1, \"x\\u00e9\\ud83d\\ude00\", {\"k\":\r\n null}]}").unwrap();
        let Tree::Object(fields) = &node.tree else { panic!("{node:?}") };
        let Tree::List(items) = &fields[0].1.tree else { panic!("{fields:?}") };
        let Tree::Object(inner) = &items[2].tree else { panic!("{items:?}") };
        let nodes = [&node, &fields[0].1, &items[0], &items[1], &items[2], &inner[0].1];
        let spots = nodes.map(|node| (node.spot.line, node.spot.column));
        assert_eq!(spots, [(1, 1), (2, 3), (2, 9), (2, 12), (2, 35), (2, 36)]);
        assert_eq!(items[1].value(), "xé😀");
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|flag| json!(flag)),
            any::<i64>().prop_map(|number| json!(number)),
            any::<f64>().prop_map(|number| json!(number)),
            any::<String>().prop_map(|text| json!(text)),
        ];
        let value = leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
                proptest::collection::btree_map("[a-z\"\u{e9}]{0,3}", inner, 0..4).prop_map(|entries| json!(entries)),
            ]
        });
        value.prop_map(|value| format!("{value:#}"))
    }

    proptest! {
        #[test]
        fn both_parsers_read_the_same(
            text in json(),
            at: proptest::sample::Index,
            wedge in "|[\\[\\]{},:\"'\\\\/*+.0-9a-fux \n\r\t\u{0}\u{b}\u{a0}\u{2028}-]{1,2}",
        ) {
            let mut text: Vec<char> = text.chars().collect();
            let at = at.index(text.len() + 1);
            text.splice(at..at, wedge.chars());
            let text: String = text.into_iter().collect();
            match (parse(&text), serde_json::from_str::<serde_json::Value>(&text)) {
                (Ok(node), Ok(value)) => prop_assert_eq!(node.value(), value),
                (Err(_), Err(_)) => {}
                (Err(fault), Ok(_)) => prop_assert!(fault.what.ends_with("is in its object twice"), "{fault:?}"),
                (Ok(node), Err(fault)) => prop_assert!(false, "{node:?} {fault}"),
            }
        }
    }
}
