//! Why a script gave no value, and where.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One reason, placed in the TypeScript that the author wrote, in whichever module it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// A sentence without a full stop; names in backticks.
    pub what: String,
    /// Relative to the project.
    pub file: String,
    /// From 1. Absent where no line is to blame: a file that cannot be read, a limit.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
}

/// What a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A file is missing, too big, not text, or cannot be read.
    Read,
    /// Not TypeScript, or TypeScript that is not supported.
    Syntax,
    /// A module that does not exist or that may not be imported.
    Import,
    /// The script threw.
    Threw,
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// It ran, but what it gave is not a value that can be used.
    Value,
    /// What a tool was called with does not fit its schema. The tool did not run.
    Arguments,
}

/// A spot in a file: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    pub line: u32,
    pub column: u32,
}

impl Spot {
    /// Where a file begins.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, file: &str, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), file: file.to_owned(), line: None, column: None }
    }

    pub(crate) fn at(mut self, spot: Spot) -> Self {
        self.line = Some(spot.line);
        self.column = Some(spot.column);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for Fault {}
