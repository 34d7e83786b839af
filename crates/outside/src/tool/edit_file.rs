//! `edit_file`: one place of a file, exchanged for another text.

use super::arguments::decode;
use super::file_tool::FileTool;
use super::{Call, Output};
use crate::workspace::{Stop, Unchanged, printable};
use entourage_model::{EffectClass, Fact, one_line};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;

const FILE_BYTES_MAX: u64 = 8 << 20;
/// How many of the places that a text is found at are named.
const PLACES_SHOWN: usize = 5;

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
    old: String,
    new: String,
}

/// Done twice, an edit fails or, where the new text holds the old one, happens twice: it is made at most once.
pub(super) fn edit_file() -> FileTool {
    let description = "Replaces one place of a text file. `old` must stand in the file exactly once, character by \
        character; give enough of the lines around it to make it unique. `new` takes its place; empty, it removes it. \
        Line ends and the mode of the file are kept. At most 8 MiB.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the workspace" },
            "old": { "type": "string", "minLength": 1, "description": "The text to replace, as it stands in the file" },
            "new": { "type": "string", "description": "The text to put in its place" },
        },
        "required": ["path", "old", "new"],
        "additionalProperties": false,
    });
    FileTool::new(("edit_file", EffectClass::AtMostOnce), description, parameters, edit).telling(did)
}

fn did(call: &Call) -> Option<Fact> {
    let Arguments { path, .. } = Arguments::deserialize(&call.arguments).ok()?;
    Some(Fact::ChangedFile { path: call.workspace.project_path(&path) })
}

fn edit(call: Call, _: &Stop) -> Result<String, Output> {
    let Arguments { path, old, new } = decode(call.arguments)?;
    let shown = printable(&path);
    if old == new {
        return Err(Output::error(format!("`{shown}` was not changed: `old` and `new` are the same.")));
    }
    let mut line = 0;
    let changed = call.workspace.edit(&path, FILE_BYTES_MAX, |text| {
        let (after, at) = exchanged(text, &old, &new)?;
        line = at;
        Ok(after)
    });
    match changed {
        Ok(()) => Ok(format!("Changed `{shown}` at line {line}.")),
        Err(Unchanged::Path(fault)) => Err(fault.into()),
        Err(Unchanged::Refused(why)) => Err(Output::error(format!("`{shown}` was not changed: {why}"))),
    }
}

/// The text with `new` in place of `old`, and the line where that happened.
fn exchanged(text: &str, old: &str, new: &str) -> Result<(String, usize), String> {
    let (old, new) = (with_line_ends_of(text, old), with_line_ends_of(text, new));
    let found: Vec<usize> = overlapping(text, &old).take(PLACES_SHOWN + 1).collect();
    match found.as_slice() {
        [] => Err(absent(text, &old)),
        [start] => {
            let after = [&text[..*start], &*new, &text[start + old.len()..]].concat();
            Ok((after, line_of(text, *start)))
        }
        several => {
            let lines = several.iter().take(PLACES_SHOWN).map(|start| line_of(text, *start).to_string());
            let lines = lines.collect::<Vec<_>>().join(", ");
            let more = if several.len() > PLACES_SHOWN { " and more" } else { "" };
            Err(format!("`old` stands there more than once, at lines {lines}{more}; give more of what is around it."))
        }
    }
}

/// A model writes plain line ends; in a file where every line ends in CRLF, CRLF is what it means.
fn with_line_ends_of<'a>(file: &str, text: &'a str) -> Cow<'a, str> {
    let (ends, long_ends) = (file.matches('\n').count(), file.matches("\r\n").count());
    if ends == 0 || ends != long_ends || !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// Every place, also where one begins within another: both could be meant.
fn overlapping<'a>(text: &'a str, wanted: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(wanted)?;
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        Some(start)
    })
}

fn absent(text: &str, old: &str) -> String {
    let near = one_line(old);
    if !near.is_empty() && one_line(text).contains(&near) {
        return "`old` does not stand there: it differs in spaces or line breaks. Read the file and copy it exactly."
            .to_owned();
    }
    "`old` does not stand there. Read the file and copy it exactly.".to_owned()
}

fn line_of(text: &str, start: usize) -> usize {
    text[..start].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, new: &str, expected: Result<(&str, usize), &str>) {
        let expected = expected.map(|(text, line)| (text.to_owned(), line));
        match (exchanged(text, old, new), expected) {
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (found, expected) => assert_eq!(found, expected.map_err(str::to_owned), "{text:?}"),
        }
    }

    #[test]
    fn one_place_is_exchanged_and_no_other_number_of_places() {
        check("a\nb\nc\n", "b", "x\ny", Ok(("a\nx\ny\nc\n", 2)));
        check("a\nb\n", "b\n", "", Ok(("a\n", 2)));
        check("aaa", "aa", "b", Err("more than once, at lines 1, 1;"));
        check("éé", "é", "b", Err("more than once, at lines 1, 1;"));
        check(&"x\n".repeat(9), "x", "y", Err("at lines 1, 2, 3, 4, 5 and more"));
        check("a\n  b\n", "a\nb", "y", Err("differs in spaces or line breaks"));
        check("a", "b", "y", Err("does not stand there."));
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        check("a\r\nb\r\nc", "a\nb", "x\ny\nz", Ok(("x\r\ny\r\nz\r\nc", 1)));
        check("a\r\nb\r\n", "a\r\n", "x\n", Ok(("x\r\nb\r\n", 1)));
        check("a\nb\r\n", "b", "x\ny", Ok(("a\nx\ny\r\n", 2)));
    }
}
