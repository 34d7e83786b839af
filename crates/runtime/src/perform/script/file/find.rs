//! Looking for files of a thread, by their names and by what is in them.

use super::{Record, record};
use entourage_model::FileRow;
use globset::GlobBuilder;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

/// Lines that one search gives.
const LINES_MAX: usize = 1000;
const LINE_CHARS_MAX: usize = 1000;
/// What a compiled pattern may take up.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Deserialize)]
pub(super) struct Find {
    pattern: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Grep {
    pattern: String,
    #[serde(default)]
    ignore_case: bool,
    /// Only files below this one.
    path: Option<String>,
}

/// The files whose path fits the pattern; without a slash it is about names.
pub(super) fn find<'f>(files: impl Iterator<Item = Record<'f>>, wanted: &Find) -> Result<Value, String> {
    let by_name = !wanted.pattern.contains('/');
    let pattern = wanted.pattern.trim_start_matches('/');
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|fault| format!("`{pattern}` is not a pattern: {fault}"))?.compile_matcher();
    let fits = |(file, _): &Record<'_>| {
        let path = if by_name { file.name() } else { file.path.trim_start_matches('/') };
        glob.is_match(path)
    };
    Ok(Value::Array(files.filter(fits).map(|(file, metadata)| record(file, metadata)).collect()))
}

impl Grep {
    pub(super) fn compile(&self) -> Result<Regex, String> {
        let mut builder = RegexBuilder::new(&self.pattern);
        let pattern = builder.case_insensitive(self.ignore_case).size_limit(PATTERN_BYTES_MAX).build();
        pattern.map_err(|fault| format!("`{}` is not a pattern: {fault}", self.pattern))
    }

    pub(super) fn covers(&self, file: &FileRow) -> bool {
        let Some(below) = &self.path else { return true };
        let below = format!("/{}", below.trim_matches('/'));
        below == "/" || file.path.strip_prefix(&below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Adds the lines that fit. Returns whether there is no room for more.
pub(super) fn matches(file: &FileRow, text: &str, pattern: &Regex, found: &mut Vec<Value>) -> bool {
    for (number, line) in text.lines().enumerate() {
        if found.len() >= LINES_MAX {
            return true;
        }
        if pattern.is_match(line) {
            let content: String = line.chars().take(LINE_CHARS_MAX).collect();
            found.push(json!({ "path": file.path, "line": number + 1, "content": content }));
        }
    }
    false
}
