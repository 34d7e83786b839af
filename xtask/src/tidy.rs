//! `cargo x tidy`: what the style asks and no lint sees. Each check is one file, over everything that was read.

mod crates_allowed;
mod direction;
mod error_codes;
mod file_size;
mod function_size;
mod functions;
mod house;
mod manifest;
mod names;
mod parameters;
mod promises;
mod purpose;
mod source;
mod unfinished;

pub(crate) use house::House;

use crate::failure::Failure;
use std::{fmt, path::Path};

/// One fault: where it lies, from the workspace's root, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    path: String,
    line: usize,
    what: String,
    hint: &'static str,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.path, self.line, self.what, self.hint)
    }
}

const CHECKS: &[fn(&House) -> Vec<Report>] = &[
    file_size::check,
    function_size::check,
    parameters::check,
    names::check,
    purpose::check,
    unfinished::check,
    direction::check,
    crates_allowed::check,
    error_codes::check,
    promises::check,
];

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let reports = reports(&House::read(root)?);
    for report in &reports {
        println!("{report}");
    }
    match reports.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("the house is not tidy (reports: {count})"))),
    }
}

fn reports(house: &House) -> Vec<Report> {
    let mut reports: Vec<Report> = CHECKS.iter().flat_map(|check| check(house)).collect();
    reports.extend(house.unreadable.iter().cloned());
    reports.sort();
    reports
}

/// The reports of one check over files that exist only in a test, as `path:line: what`.
#[cfg(test)]
fn complaints(check: fn(&House) -> Vec<Report>, files: &[(&str, &str)]) -> Vec<String> {
    let house = House::of(files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())));
    assert_eq!(house.unreadable, [], "a test's files can be read");
    check(&house).iter().map(|report| format!("{}:{}: {}", report.path, report.line, report.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let house = House::read(&crate::root()).expect("the workspace can be read");
        assert!(house.sources.iter().any(|source| source.path == "xtask/src/tidy.rs"), "nothing was looked at");
        let reports: Vec<String> = reports(&house).iter().map(Report::to_string).collect();
        assert!(reports.is_empty(), "\n{}\n", reports.join("\n"));
    }

    #[test]
    fn a_report_reads_as_place_what_and_hint() {
        let report = Report { path: "a/b.rs".into(), line: 7, what: "it is long".into(), hint: "cut it" };
        assert_eq!(report.to_string(), "a/b.rs:7: it is long (cut it)");
    }
}
