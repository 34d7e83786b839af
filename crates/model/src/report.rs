//! Errors and warnings for people: code, what, where, hint.

use crate::visible::{visible, visible_line};
use serde::{Serialize, Serializer};
use std::fmt;

/// A letter and three digits; `docs/errors.md` has an entry for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(pub &'static str);

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
}

/// Where a fault lies. Lines and columns count from 1; a column is a character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub file: String,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Place {
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None }
    }

    pub fn at(file: impl Into<String>, line: u32, column: u32) -> Self {
        Self { file: file.into(), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}:{}", self.column.unwrap_or(1))?;
        }
        Ok(())
    }
}

/// One fault, as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    pub severity: Severity,
    pub code: Code,
    pub what: String,
    #[serde(rename = "where")]
    pub place: Option<Place>,
    pub hint: Option<String>,
}

impl Report {
    pub fn error(code: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code: Code(code), what: what.into(), place: None, hint: None }
    }

    pub fn warning(code: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, what) }
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// As people read it. Texts of strangers can neither command the terminal nor pass for another report: lines that follow
/// the first are set in.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let set_in = |text: &str| visible(text).trim_end().replace('\n', "\n    ");
        write!(f, "{word}[{}]: {}", self.code.0, set_in(&self.what))?;
        if let Some(place) = &self.place {
            write!(f, "\n  at {}", visible_line(&place.to_string()))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {}", set_in(hint))?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_neither_commands_a_terminal_nor_passes_for_a_report() {
        let report = Report::error("D024", "threw: \u{1b}[2J\r\nerror[D001]: forged\n  at x:1:1")
            .at(Place::at("a\nb\u{7}.ts", 1, 2))
            .hint("one\nhint: two");
        assert_eq!(
            report.to_string(),
            "error[D024]: threw: \\u001b[2J\n    error[D001]: forged\n      at x:1:1\n  at a\\nb\\u0007.ts:1:2\nhint: one\n    hint: two"
        );
    }

    #[test]
    fn a_report_reads_as_code_what_where_and_hint() {
        let report = Report::error("D014", "agent `writer` may call tool `fetch`, which nobody provides")
            .at(Place::at("agents/prompts/writer.json", 12, 10))
            .hint("remove it from `tools`");
        assert_eq!(
            report.to_string(),
            "error[D014]: agent `writer` may call tool `fetch`, which nobody provides\n  at agents/prompts/writer.json:12:10\nhint: remove it from `tools`"
        );
    }
}
