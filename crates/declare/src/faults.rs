//! What is wrong with one file.

use crate::tree::Spot;
use entourage_model::{Place, Report, Severity};

/// How much of a text from a declaration is repeated in a report.
const CHARS_SHOWN: usize = 80;

/// The reports about one file, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) file: String,
    pub(crate) reports: Vec<Report>,
}

impl Faults {
    pub(crate) fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), reports: Vec::new() }
    }

    pub(crate) fn place(&self, spot: Spot) -> Place {
        Place::at(&self.file, spot.line, spot.column)
    }

    pub(crate) fn push(&mut self, spot: Spot, report: Report) {
        let place = self.place(spot);
        self.reports.push(report.at(place));
    }

    pub(crate) fn has_error(&self) -> bool {
        self.reports.iter().any(|report| report.severity == Severity::Error)
    }
}

/// A text from a declaration in backticks: one line, of bearable length.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(CHARS_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(CHARS_SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// A hint at the known name that `name` was probably meant to be. Absent: nothing is known.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    Some(format!("did you mean {}?", quoted(entourage_model::nearest(name, known)?)))
}

/// A hint at what to do about a name that nobody knows: the name that was meant, if it may be a slip of the finger; else
/// the remedy, beside the nearest name.
pub(crate) fn meant_or<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, remedy: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match (entourage_model::meant(name, known.iter().copied()), entourage_model::nearest(name, known)) {
        (Some(meant), _) => format!("did you mean {}?", quoted(meant)),
        (None, Some(nearest)) => format!("{remedy}; the nearest name is {}", quoted(nearest)),
        (None, None) => remedy.to_owned(),
    }
}
