//! One settings file: its text in, the values that can be used and the faults of the others out.

use super::known::{ROOT, Shape};
use entourage_model::{Limits, ModelRef, Place, Report};
use serde::Deserialize;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// Reads the text of the file that people know as `name`. What is at fault is left out and reported.
pub(super) fn read(name: &str, text: &str) -> (Table, Vec<Report>) {
    let mut reader = Reader { name, text, reports: Vec::new() };
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in faults {
        let place = reader.place(fault.span().unwrap_or(0..0));
        reader.reports.push(Report::error("C003", format!("not TOML: {}", fault.message())).at(place));
    }
    let table = reader.table(ROOT, table.get_ref(), "");
    reader.reports.sort_by(|a, b| a.place.cmp(&b.place));
    (table, reader.reports)
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
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
            if let Some(value) = self.value(shape, value, &path) {
                read.insert(name.to_owned(), value);
            }
        }
        read
    }

    fn value(&mut self, shape: &Shape, value: &Spanned<DeValue<'_>>, path: &str) -> Option<Value> {
        match (shape, value.get_ref()) {
            (Shape::Table(known), DeValue::Table(table)) => Some(Value::Table(self.table(known, table, path))),
            (Shape::Named(inner), DeValue::Table(table)) => {
                let entries = table.iter().filter_map(|(key, value)| {
                    let name = key.get_ref().as_ref();
                    Some((name.to_owned(), self.value(inner, value, &format!("{path}.{name}"))?))
                });
                Some(Value::Table(entries.collect()))
            }
            _ => {
                let plain = Value::deserialize(toml::de::ValueDeserializer::from(value.clone())).ok();
                let read = plain.filter(|plain| fits(shape, plain, path));
                if read.is_none() {
                    let what = format!("setting `{path}` must be {}", shape.words());
                    self.reports.push(Report::error("C004", what).at(self.place(value.span())));
                }
                read
            }
        }
    }

    fn unknown(&mut self, known: &[(&str, Shape)], name: &str, path: &str, span: Range<usize>) {
        let report = Report::warning("C005", format!("there is no setting `{path}`")).at(self.place(span));
        let hint = match entourage_model::meant(name, known.iter().map(|(name, _)| *name)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known are {}", list(known)),
        };
        self.reports.push(report.hint(hint));
    }

    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Place::at(self.name, count(line), count(column))
    }
}

/// Whether a value can stand for the setting at `path`.
pub(super) fn fits(shape: &Shape, value: &Value, path: &str) -> bool {
    match shape {
        Shape::Text => value.is_str(),
        Shape::Count => match path.split_once('.') {
            // A limit's own type says how much it can hold.
            Some(("limits", name)) => Limits::deserialize(Table::from_iter([(name.to_owned(), value.clone())])).is_ok(),
            _ => value.as_integer().is_some_and(|number| number >= 0),
        },
        Shape::Some => value.as_integer().is_some_and(|number| number > 0),
        Shape::Flag => value.is_bool(),
        Shape::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_str)),
        Shape::Model => value.as_str().is_some_and(|text| ModelRef::parse(text).is_some()),
        Shape::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Shape::Table(_) | Shape::Named(_) => false,
        Shape::Open => value.is_table(),
    }
}

fn list(known: &[(&str, Shape)]) -> String {
    known.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
