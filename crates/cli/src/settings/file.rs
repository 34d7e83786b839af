//! One settings file: its text in, the values that can be used and the faults of the others out.

use super::known::{ROOT, Shape};
use entourage_model::{Limits, ModelRef, Place, Report};
use serde::Deserialize;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// Reads the text of the file that people know as `name`. What is at fault is left out and reported.
pub(super) fn read(name: &str, text: &str) -> (Table, Vec<Report>) {
    let (table, faults) = DeTable::parse_recoverable(text);
    let start = |fault: &toml::de::Error| fault.span().map_or(0, |span| span.start);
    let first = faults.iter().min_by_key(|fault| start(fault));
    let mut reader = Reader { name, text, sound_until: first.map_or(usize::MAX, start), reports: Vec::new() };
    reader.reports.extend(first.map(|fault| not_toml(fault).at(place(name, text, start(fault)))));
    let table = reader.table(ROOT, table.get_ref(), "");
    reader.reports.sort_by(|a, b| a.place.cmp(&b.place));
    (table, reader.reports)
}

/// Where a file has the key at the end of this path; its beginning if it has none.
pub(crate) fn place_of(name: &str, text: &str, path: &[&str]) -> Place {
    let (root, _) = DeTable::parse_recoverable(text);
    let (mut table, mut start) = (Some(root.get_ref()), 0);
    for key in path {
        let found = table.and_then(|table| table.iter().find(|(known, _)| known.get_ref() == key));
        start = found.map_or(start, |(key, _)| key.span().start);
        table = found.and_then(|(_, value)| value.get_ref().as_table());
    }
    place(name, text, start)
}

fn not_toml(fault: &toml::de::Error) -> Report {
    let report = Report::error("C003", format!("not TOML: {}", fault.message()));
    if fault.message().starts_with("duplicate key") {
        return report.hint("a key or table stands once: remove one of the two, or write both as one");
    }
    report.hint(
        "look here, and at the end of the line before, for a value, a quotation mark or a bracket that is missing",
    )
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    /// Where the first fault of the text begins. What is odd behind it may be no more than its consequence.
    sound_until: usize,
    reports: Vec<Report>,
}

impl Reader<'_> {
    fn table(&mut self, known: &[(&str, Shape)], table: &DeTable<'_>, path: &str) -> Table {
        let mut read = Table::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let Some((_, shape)) = known.iter().find(|(known, _)| *known == name) else {
                self.unknown(known, name, &path, key.span());
                continue;
            };
            if let Some(value) = self.value(shape, (key.span(), value), &path) {
                read.insert(name.to_owned(), value);
            }
        }
        read
    }

    /// The value of the key that has this span.
    fn value(
        &mut self,
        shape: &Shape,
        (key, value): (Range<usize>, &Spanned<DeValue<'_>>),
        path: &str,
    ) -> Option<Value> {
        match (shape, value.get_ref()) {
            (Shape::Table(known), DeValue::Table(table)) => Some(Value::Table(self.table(known, table, path))),
            (Shape::Named(inner), DeValue::Table(table)) => {
                let entries = table.iter().filter_map(|(key, value)| {
                    let name = key.get_ref().as_ref();
                    Some((name.to_owned(), self.value(inner, (key.span(), value), &format!("{path}.{name}"))?))
                });
                Some(Value::Table(entries.collect()))
            }
            _ => {
                let plain = Value::deserialize(toml::de::ValueDeserializer::from(value.clone())).ok();
                if plain.as_ref().is_some_and(|plain| fits(shape, plain, path)) {
                    return plain;
                }
                let report = Report::error("C004", format!("setting `{path}` must be {}", shape.words()));
                let report =
                    report.at(place(self.name, self.text, key.start)).hint(advice(shape, plain.as_ref(), path));
                self.report(value.span().end.max(key.end), report);
                None
            }
        }
    }

    fn unknown(&mut self, known: &[(&str, Shape)], name: &str, path: &str, span: Range<usize>) {
        let place = place(self.name, self.text, span.start);
        let report = Report::warning("C005", format!("there is no setting `{path}`")).at(place);
        let hint = match entourage_model::meant(name, known.iter().map(|(name, _)| *name)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known are {}", list(known)),
        };
        self.report(span.end, report.hint(hint));
    }

    /// Takes a report about something that ends there.
    fn report(&mut self, end: usize, report: Report) {
        if end < self.sound_until {
            self.reports.push(report);
        }
    }
}

fn place(name: &str, text: &str, start: usize) -> Place {
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    Place::at(name, count(line), count(column))
}

/// How the setting at `path` is written, or what its value was probably meant to be.
fn advice(shape: &Shape, value: Option<&Value>, path: &str) -> String {
    let written: Vec<_> = match value {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let key = path.rsplit('.').next().unwrap_or(path);
    match (shape.meant(written), shape.example()) {
        (Some(meant), _) => meant,
        (None, Some(example)) => format!("write it as in `{key} = {example}`"),
        (None, None) => format!("write `[{path}]` on a line of its own, and its keys below"),
    }
}

/// Whether a value can stand for the setting at `path`.
pub(super) fn fits(shape: &Shape, value: &Value, path: &str) -> bool {
    match shape {
        Shape::Text => value.is_str(),
        Shape::Count => is_held(value, path) && value.as_integer().is_some_and(|number| number >= 0),
        Shape::Some => is_held(value, path) && value.as_integer().is_some_and(|number| number > 0),
        Shape::Flag => value.is_bool(),
        Shape::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_str)),
        Shape::Words(words) => {
            let is_known = |text: &Value| text.as_str().is_some_and(|text| words.contains(&text));
            value.as_array().is_some_and(|texts| texts.iter().all(is_known))
        }
        Shape::Model => value.as_str().is_some_and(|text| ModelRef::parse(text).is_some()),
        Shape::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Shape::Table(_) | Shape::Named(_) => false,
        Shape::Open(_) => value.is_table(),
    }
}

/// A limit's own type says how much it can hold.
fn is_held(value: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some(("limits", name)) => Limits::deserialize(Table::from_iter([(name.to_owned(), value.clone())])).is_ok(),
        _ => true,
    }
}

fn list(known: &[(&str, Shape)]) -> String {
    known.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
