//! TOML text → tree with places.

use crate::faults::quoted;
use crate::json::{DEPTH_MAX, Fault, VALUES_MAX};
use crate::tree::{Cursor, Node, Spot, Tree};
use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    let table = DeTable::parse(text).map_err(|fault| unparsed(text, &fault))?;
    let mut offsets = vec![0];
    mark_table(table.get_ref(), &mut offsets);
    let places = Places::new(text, offsets);
    let mut builder = Builder { places, values: 0 };
    let tree = builder.table(table.into_inner(), 1, Spot::START)?;
    Ok(Node { spot: Spot::START, tree })
}

fn unparsed(text: &str, fault: &toml::de::Error) -> Fault {
    let mut offset = fault.span().map_or(0, |span| span.start).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    Fault { spot: Cursor::new(text).advance(offset), what: fault.message().to_owned() }
}

/// A table's entries may lie anywhere in the file, so that all offsets are collected before any is turned into a spot.
fn mark_table(table: &DeTable<'_>, offsets: &mut Vec<usize>) {
    for (key, value) in table {
        offsets.push(key.span().start);
        mark_value(value.get_ref(), offsets);
    }
}

fn mark_value(value: &DeValue<'_>, offsets: &mut Vec<usize>) {
    match value {
        DeValue::Array(items) => {
            for item in items {
                offsets.push(item.span().start);
                mark_value(item.get_ref(), offsets);
            }
        }
        DeValue::Table(table) => mark_table(table, offsets),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// The spots of the offsets that were asked for.
struct Places(Vec<(usize, Spot)>);

impl Places {
    fn new(text: &str, mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        let mut cursor = Cursor::new(text);
        Self(offsets.into_iter().map(|offset| (offset, cursor.advance(offset))).collect())
    }

    fn spot(&self, offset: usize) -> Spot {
        let at = self.0.partition_point(|(start, _)| *start < offset);
        self.0.get(at).map_or(Spot::START, |(_, spot)| *spot)
    }
}

struct Builder {
    places: Places,
    values: usize,
}

impl Builder {
    fn node(&mut self, value: DeValue<'_>, spot: Spot, depth: usize) -> Result<Node, Fault> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(Fault { spot, what: format!("there are more than {VALUES_MAX} values") });
        }
        if depth > DEPTH_MAX {
            return Err(Fault { spot, what: format!("values are nested more than {DEPTH_MAX} deep") });
        }
        let tree = match value {
            DeValue::String(text) => Tree::Text(text.into_owned()),
            DeValue::Boolean(flag) => Tree::Flag(flag),
            DeValue::Datetime(moment) => Tree::Text(moment.to_string()),
            DeValue::Integer(integer) => {
                let out_of_range =
                    || Fault { spot, what: format!("the number {} is out of range", quoted(integer.as_str())) };
                let number = i64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| out_of_range())?;
                Tree::Number(number.into())
            }
            // Only JSON's numbers are numbers here; what they do not have stays a word.
            DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Tree::Number(number),
                None => Tree::Text(float.as_str().to_owned()),
            },
            DeValue::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    let spot = self.places.spot(item.span().start);
                    nodes.push(self.node(item.into_inner(), spot, depth + 1)?);
                }
                Tree::List(nodes)
            }
            DeValue::Table(table) => self.table(table, depth, spot)?,
        };
        Ok(Node { spot, tree })
    }

    /// The entries in the order in which the file first names them.
    fn table(&mut self, table: DeTable<'_>, depth: usize, spot: Spot) -> Result<Tree, Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault { spot, what: format!("values are nested more than {DEPTH_MAX} deep") });
        }
        let mut entries: Vec<(Spanned<_>, Spanned<DeValue<'_>>)> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut nodes = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let spot = self.places.spot(key.span().start);
            nodes.push((key.into_inner().into_owned(), self.node(value.into_inner(), spot, depth + 1)?));
        }
        Ok(Tree::Object(nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_is_not_toml_is_refused_at_its_place() {
        for (text, expected) in [
            ("a = ", "1:5 string values must be quoted, expected literal string"),
            ("é = 1", "1:1 invalid unquoted key, expected letters, numbers, `-`, `_`"),
            ("a = 1\na = 2\n", "2:1 duplicate key"),
            ("[a]\nb = 1\n[a]\n", "3:2 duplicate key"),
            ("[a\n", "1:3 unclosed table, expected `]`"),
            ("a = [1,\n'é', \u{1}]", "2:6 string values must be quoted, expected literal string"),
            ("a = 99999999999999999999", "1:1 the number `99999999999999999999` is out of range"),
        ] {
            let fault = parse(text).map(|_| ()).unwrap_err();
            assert_eq!(format!("{}:{} {}", fault.spot.line, fault.spot.column, fault.what), expected, "{text}");
        }
    }

    #[test]
    fn a_field_lies_at_its_key_wherever_its_table_is_continued() {
        let text = "# why\n[a]\nx = 1\n[b]\ny = ['é', { z = 2 }]\n[a.c]\nw = 0x10\nv = nan\nu = 2024-01-01\n";
        let node = parse(text).unwrap();
        let expected = json!({
            "a": { "x": 1, "c": { "w": 16, "v": "nan", "u": "2024-01-01" } },
            "b": { "y": ["é", { "z": 2 }] },
        });
        assert_eq!(node.value(), expected);
        let mut spots = Vec::new();
        collect("", &node, &mut spots);
        let expected = [
            " 1:1",
            ".a 2:2",
            ".a.x 3:1",
            ".a.c 6:4",
            ".a.c.w 7:1",
            ".a.c.v 8:1",
            ".a.c.u 9:1",
            ".b 4:2",
            ".b.y 5:1",
            ".b.y.0 5:6",
            ".b.y.1 5:11",
            ".b.y.1.z 5:13",
        ];
        assert_eq!(spots, expected);
    }

    fn collect(path: &str, node: &Node, spots: &mut Vec<String>) {
        spots.push(format!("{path} {}:{}", node.spot.line, node.spot.column));
        match &node.tree {
            Tree::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    collect(&format!("{path}.{index}"), item, spots);
                }
            }
            Tree::Object(entries) => {
                for (key, item) in entries {
                    collect(&format!("{path}.{key}"), item, spots);
                }
            }
            Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Function | Tree::Alien(_) => {}
        }
    }

    #[test]
    fn nesting_and_number_have_limits() {
        let nested = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(60)).is_ok());
        assert!(parse(&nested(70)).is_err());
        assert!(parse(&nested(100_000)).is_err());
        assert!(parse(&format!("a = [{}1]", "1,".repeat(VALUES_MAX))).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_written_never_panics(text in "([a-c.\"'=\\[\\]{}, \n\r\t0-9é#-]|\"\"\"|''')*") {
            if let (Ok(node), Ok(value)) = (parse(&text), text.parse::<toml::Table>()) {
                prop_assert_eq!(node.value(), serde_json::to_value(value).unwrap());
            }
        }
    }
}
