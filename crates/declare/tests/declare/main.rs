//! The door of this crate: text in, team and faults out. `check` knows the API; everything else is data.

mod agent;
mod entry;
mod file;
mod hook;
mod hostile;
mod model;
mod project;
mod prompt;
mod seed;
mod shape;
mod team;
mod tool;
mod typescript;
mod variable;

use entourage_declare::{Files, Loaded, MemoryFiles, Project, Tools, Wishes};
use entourage_model::{Instructions, Name};
use std::collections::BTreeSet;

/// Loads a project given as text: a line `-- PATH` begins a file.
fn project(text: &str) -> Loaded {
    load(&files(text), &tools())
}

fn files(text: &str) -> MemoryFiles {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.trim_start().split_inclusive('\n') {
        match line.strip_prefix("-- ") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => files.last_mut().expect("a project begins with the path of a file").1.push_str(line),
        }
    }
    files.into_iter().collect()
}

fn load(files: &dyn Files, tools: &dyn Tools) -> Loaded {
    load_with(files, tools, &Wishes::default())
}

fn load_with(files: &dyn Files, tools: &dyn Tools, settings: &Wishes) -> Loaded {
    entourage_declare::load(&Project {
        files,
        home: None,
        profile_folders: &[],
        settings,
        tools,
        memory: &entourage_script::NoMemory,
    })
}

/// A prompt as it reads when no variable is set.
fn text(instructions: &Instructions) -> String {
    instructions.render(|_| None).to_string()
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
    let declared = loaded.team.agents.values().filter(|agent| agent.source.file.is_some());
    declared.map(|agent| agent.name.as_str()).collect()
}
