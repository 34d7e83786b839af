//! One settings variable: `ENTOURAGE_<TABLE>_<KEY>` and its text in, a table with that one value out.

use super::file::fits;
use super::known::{ROOT, Shape};
use entourage_model::Report;
use toml::{Table, Value};

pub(crate) const PREFIX: &str = "ENTOURAGE_";

/// Not settings: what the global options read, and the name under which scripts pass the binary on.
const OTHERS: &[(&str, Shape)] = &[
    ("project", Shape::Text),
    ("data", Shape::Text),
    ("store", Shape::Text),
    ("log", Shape::Word(&["off", "error", "warn", "info", "debug", "trace"])),
    ("bin", Shape::Text),
];

/// The value as a file would have held it, or why not. Nothing for a variable that is no setting. Names of an author are
/// spelt as they are in the settings so `far`: variables are written in capitals, and have no hyphens.
pub(super) fn read(name: &str, text: &str, far: &Table) -> Result<Table, Report> {
    let rest = name.strip_prefix(PREFIX).unwrap_or(name);
    let setting = find(ROOT, rest);
    // A table is no setting: it has one for each of its keys, or cannot be said by variables at all.
    let found = setting.clone().or_else(|| find(OTHERS, rest)).filter(|(_, shape)| !shape.is_table());
    let Some((path, shape)) = found else { return Err(unknown(name)) };
    let Some(value) = parse(shape, text).filter(|value| fits(shape, value, &path.join("."))) else {
        let report = Report::error("C004", format!("variable `{name}` must be {}", shape.words()));
        return Err(report.hint(advice(shape, name, text)));
    };
    Ok(setting.map(|_| nested(spelt(path, far), value)).unwrap_or_default())
}

fn advice(shape: &Shape, name: &str, text: &str) -> String {
    // Lists are written without brackets, and texts without quotation marks.
    let plain = |example: String| example.replace(['[', ']', '"', ' '], "");
    let written = parse(shape, text).unwrap_or_else(|| Value::String(text.to_owned()));
    let words = match &written {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => vec![text],
    };
    let example = || plain(shape.example().unwrap_or_default());
    shape.meant(words).unwrap_or_else(|| format!("write it as in `{name}={}`", example()))
}

/// The setting that the rest of a variable's name stands for, as its path, and what it must look like.
fn find(known: &'static [(&'static str, Shape)], rest: &str) -> Option<(Vec<String>, &'static Shape)> {
    known.iter().find_map(|(key, shape)| {
        let (head, tail) = rest.split_at_checked(key.len())?;
        if !head.eq_ignore_ascii_case(key) {
            return None;
        }
        let (path, shape) = match tail.strip_prefix('_') {
            Some(tail) => find_in(shape, tail)?,
            None if tail.is_empty() => (Vec::new(), shape),
            None => return None,
        };
        Some(([vec![(*key).to_owned()], path].concat(), shape))
    })
}

/// The same within a table. An author's name may hold underscores, so that it ends wherever the rest makes sense.
fn find_in(shape: &'static Shape, rest: &str) -> Option<(Vec<String>, &'static Shape)> {
    match shape {
        Shape::Table(known) | Shape::Open(known) => find(known, rest),
        Shape::Named(inner @ (Shape::Table(_) | Shape::Named(_) | Shape::Open(_))) => {
            rest.match_indices('_').find_map(|(end, _)| {
                let (path, shape) = find_in(inner, &rest[end + 1..])?;
                Some(([vec![rest[..end].to_owned()], path].concat(), shape))
            })
        }
        Shape::Named(inner) if !rest.is_empty() => Some((vec![rest.to_owned()], inner)),
        _ => None,
    }
}

/// A name that the settings do not have is in small letters, as names of users, agents and servers mostly are. The last
/// one, such as that of a variable for tools, is left as it was written.
fn spelt(path: Vec<String>, far: &Table) -> Vec<String> {
    let (mut table, last) = (Some(far), path.len().saturating_sub(1));
    let spell = |(place, name): (usize, String)| {
        let is_shouted = !name.contains(|letter: char| letter.is_ascii_lowercase());
        let new = if place < last && is_shouted { name.to_ascii_lowercase() } else { name.clone() };
        let key = table.and_then(|table| known_as(table, &name)).unwrap_or(new);
        table = table.and_then(|table| table.get(&key)).and_then(Value::as_table);
        key
    };
    path.into_iter().enumerate().map(spell).collect()
}

/// The key that is meant: the same, or the same but for case and hyphens.
fn known_as(table: &Table, name: &str) -> Option<String> {
    let plain = |key: &str| key.to_ascii_lowercase().replace('-', "_");
    let mut alike = table.keys().filter(|key| plain(key) == plain(name));
    if table.contains_key(name) { Some(name.to_owned()) } else { alike.next().cloned() }
}

fn parse(shape: &Shape, text: &str) -> Option<Value> {
    match shape {
        Shape::Text | Shape::Model | Shape::Word(_) => Some(Value::String(text.to_owned())),
        Shape::Count | Shape::Some => text.trim().parse().ok().map(Value::Integer),
        Shape::Flag => match text.trim() {
            "true" | "1" => Some(Value::Boolean(true)),
            "false" | "0" => Some(Value::Boolean(false)),
            _ => None,
        },
        Shape::Texts | Shape::Words(_) if is_bracketed(text) => bracketed(text),
        Shape::Texts | Shape::Words(_) => {
            let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
            Some(Value::Array(texts.map(|text| Value::String(text.to_owned())).collect()))
        }
        Shape::Table(_) | Shape::Named(_) | Shape::Open(_) => None,
    }
}

/// Whether a list is written as a file writes it, in brackets; else its items stand between commas.
fn is_bracketed(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && text.ends_with(']')
}

fn bracketed(text: &str) -> Option<Value> {
    let table: Table = toml::from_str(&format!("list = {}", text.trim())).ok()?;
    // Whatever stands behind the list, on a line of its own, is no part of it.
    let is_alone = table.len() == 1;
    table.into_iter().next().filter(|_| is_alone).map(|(_, list)| list)
}

fn nested(path: Vec<String>, value: Value) -> Table {
    let mut keys = path.into_iter().rev();
    let last = keys.next().unwrap_or_default();
    let innermost = Table::from_iter([(last, value)]);
    keys.fold(innermost, |inner, key| Table::from_iter([(key, Value::Table(inner))]))
}

fn unknown(name: &str) -> Report {
    let report = Report::warning("C006", format!("variable `{name}` is no setting"));
    let known: Vec<_> = names(ROOT, PREFIX).chain(names(OTHERS, PREFIX)).collect();
    match entourage_model::meant(name, known.iter().map(String::as_str)) {
        Some(nearest) => report.hint(format!("did you mean `{nearest}`?")),
        None if find(ROOT, name.strip_prefix(PREFIX).unwrap_or(name)).is_some() => {
            report.hint("tables are written into `entourage.toml`; a variable stands for one key")
        }
        None => report.hint(format!("settings are named `{PREFIX}<TABLE>_<KEY>`, as in `{PREFIX}LIMITS_DEPTH`")),
    }
}

/// The variables whose names hold no name of an author.
fn names(known: &'static [(&'static str, Shape)], prefix: &str) -> Box<dyn Iterator<Item = String>> {
    let prefix = prefix.to_owned();
    Box::new(known.iter().flat_map(move |(key, shape)| {
        let name = format!("{prefix}{}", key.to_ascii_uppercase());
        match shape {
            Shape::Table(known) => names(known, &format!("{name}_")),
            Shape::Named(_) | Shape::Open(_) => Box::new(std::iter::empty()) as Box<dyn Iterator<Item = String>>,
            _ => Box::new(std::iter::once(name)),
        }
    }))
}
