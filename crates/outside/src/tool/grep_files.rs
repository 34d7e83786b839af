//! `grep_files`: the lines that match a regular expression.

use super::arguments::decode;
use super::file_tool::FileTool;
use super::{Call, Output};
use crate::workspace::{Found, Kind, PathFault, Stop, Walk, printable};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::ops::ControlFlow;

const MATCHES_SHOWN: usize = 500;
const LINE_CHARS_SHOWN: usize = 400;
const FILE_BYTES_MAX: u64 = 8 << 20;
/// How much of one line is searched: what a hostile expression costs is its size times this.
const LINE_BYTES_SEARCHED: usize = 64 << 10;
const REGEX_BYTES_MAX: usize = 1 << 20;
const REGEX_CACHE_BYTES_MAX: usize = 4 << 20;
const REGEX_NESTING_MAX: u32 = 100;

#[derive(Debug, Deserialize)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    path: String,
}

pub(super) fn grep_files() -> FileTool {
    let description = "Searches text files for a regular expression (Rust syntax, line by line, `(?i)` ignores \
        case) and returns the matching lines as `path:line: text`, sorted by path. Symlinks are not followed; \
        binary files, files over 8 MiB, `.git`, `node_modules`, `target` and `.entourage` are passed over. \
        At most 500 lines.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "minLength": 1, "maxLength": 4000, "description": "What a line must match" },
            "path": {
                "type": "string",
                "description": "The folder or file to search, relative to the workspace; all of it if left out",
            },
        },
        "required": ["pattern"],
        "additionalProperties": false,
    });
    FileTool::reading("grep_files", description, parameters, grep)
}

fn grep(call: Call, stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let mut search = Search::new(compile(&arguments.pattern)?, stop);
    let (place, left_out) = match call.workspace.folder(&arguments.path) {
        Ok(folder) => {
            let mut visit = |found: &Found<'_>| search.visit(found);
            let left_out = Walk { named: &[], stop, visit: &mut visit }.below(&folder);
            (folder.path().resolvable().to_owned(), left_out.lines())
        }
        Err(PathFault::NotAFolder { .. }) => {
            let text = call.workspace.read_text(&arguments.path, FILE_BYTES_MAX)?;
            let path = call.workspace.path(&arguments.path)?;
            // There is no further file, so it does not matter whether the search has enough.
            let _ = search.text(path.resolvable(), &text);
            (path.resolvable().to_owned(), Vec::new())
        }
        Err(fault) => return Err(fault.into()),
    };
    if search.matches.is_empty() {
        let (pattern, place) = (printable(&arguments.pattern), printable(&place));
        search.matches.push(format!("No line matches `{pattern}` in `{place}`."));
    }
    let mut lines = search.finish();
    lines.extend(left_out);
    Ok(lines.join("\n"))
}

fn compile(pattern: &str) -> Result<Regex, Output> {
    RegexBuilder::new(pattern)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_CACHE_BYTES_MAX)
        .nest_limit(REGEX_NESTING_MAX)
        .build()
        .map_err(|error| Output::error(format!("The pattern is not a regular expression: {error}")))
}

/// What was found so far, and what was not looked at.
struct Search<'a> {
    regex: Regex,
    stop: &'a Stop,
    matches: Vec<String>,
    more: bool,
    large_files: usize,
    long_lines: usize,
}

impl<'a> Search<'a> {
    fn new(regex: Regex, stop: &'a Stop) -> Self {
        Self { regex, stop, matches: Vec::new(), more: false, large_files: 0, long_lines: 0 }
    }

    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        if found.kind != Kind::File {
            return ControlFlow::Continue(());
        }
        match found.open().and_then(|file| file.text(FILE_BYTES_MAX)) {
            Ok(text) => self.text(found.path, &text),
            Err(PathFault::TooLarge { .. }) => {
                self.large_files += 1;
                ControlFlow::Continue(())
            }
            // Binary, unreadable or gone: such a file has no lines.
            Err(_) => ControlFlow::Continue(()),
        }
    }

    fn text(&mut self, path: &str, text: &str) -> ControlFlow<()> {
        for (index, line) in text.lines().enumerate() {
            if self.stop.is_set() {
                return ControlFlow::Break(());
            }
            let searched = &line[..line.floor_char_boundary(LINE_BYTES_SEARCHED)];
            self.long_lines += usize::from(searched.len() < line.len());
            if !self.regex.is_match(searched) {
                continue;
            }
            if self.matches.len() == MATCHES_SHOWN {
                self.more = true;
                return ControlFlow::Break(());
            }
            self.matches.push(format!("{}:{}: {}", printable(path), index + 1, beginning(line)));
        }
        ControlFlow::Continue(())
    }

    fn finish(self) -> Vec<String> {
        let mut lines = self.matches;
        if self.more {
            lines.push(format!("[cut: only the first {MATCHES_SHOWN} matches are shown]"));
        }
        if self.large_files > 0 {
            lines.push(format!("[cut: {} files over 8 MiB were not searched]", self.large_files));
        }
        if self.long_lines > 0 {
            lines.push(format!("[cut: of {} lines only the first 64 KiB were searched]", self.long_lines));
        }
        lines
    }
}

fn beginning(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LINE_CHARS_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
        None => Cow::Borrowed(line),
    }
}
