//! The door of this crate: text in, team and faults out. `check` knows the API; everything else is data.

mod agent;
mod file;
mod hostile;
mod project;
mod prompt;
mod team;

use entourage_declare::{Loaded, MemoryFiles, load};
use entourage_model::Name;
use std::collections::BTreeSet;

/// Loads a project given as text: a line `-- PATH` begins a file.
fn project(text: &str) -> Loaded {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.trim_start().split_inclusive('\n') {
        match line.strip_prefix("-- ") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => files.last_mut().expect("a project begins with the path of a file").1.push_str(line),
        }
    }
    load(&files.into_iter().collect::<MemoryFiles>(), &tools())
}

fn tools() -> BTreeSet<Name> {
    ["approve_asset", "fail_asset", "list_files", "read_file", "update_asset_status"].map(Name::from).into()
}

/// The reports about a project, a line each.
fn check(text: &str, expected: &[&str]) {
    assert_eq!(lines(&project(text)), expected, "{text}");
}

/// Compared as a list, so that a difference shows every line.
fn lines(loaded: &Loaded) -> Vec<String> {
    loaded
        .reports
        .iter()
        .map(|report| report.to_string().replace("\n  at ", " at ").replace("\nhint: ", "; "))
        .collect()
}

/// The names of the agents that were declared and taken.
fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.team.agents.keys().map(Name::as_str).filter(|name| *name != "lead").collect()
}
