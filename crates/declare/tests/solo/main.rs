//! The door of this crate for agents with one side: text in, team and faults out. `check` knows the API; everything
//! else is data.

mod agentscope;
mod clash;
mod dex;
mod harness;
mod hostile;
mod lead;
mod seed;
mod servers;
mod settings;
mod tools;
mod write;

use entourage_declare::{Loaded, MemoryFiles, Project, Tools, Wishes};
use entourage_model::{Agent, Name, Severity, ToolEntry};
use std::sync::Arc;

/// Loads a project given as text: a line `-- PATH` begins a file. `~/…` is in the user's home, `@FOLDER/…` in a folder
/// of profiles that the settings name; a file that ends in `.toml` is a settings file.
fn project(text: &str) -> Loaded {
    project_with(text, Wishes::default())
}

fn project_with(text: &str, mut wishes: Wishes) -> Loaded {
    let (mut own, mut home, mut folders) = (Vec::new(), Vec::new(), Vec::<(String, Vec<(String, String)>)>::new());
    for (path, text) in files(text) {
        if path.ends_with(".toml") {
            wishes.files.push((path, text));
        } else if let Some(path) = path.strip_prefix("~/") {
            home.push((path.to_owned(), text));
        } else if let Some((folder, name)) = path.strip_prefix('@').and_then(|path| path.split_once('/')) {
            match folders.iter_mut().find(|(known, _)| known == folder) {
                Some((_, files)) => files.push((name.to_owned(), text)),
                None => folders.push((folder.to_owned(), vec![(name.to_owned(), text)])),
            }
        } else {
            own.push((path, text));
        }
    }
    let (own, home): (MemoryFiles, MemoryFiles) = (own.into_iter().collect(), home.into_iter().collect());
    let folders: Vec<(String, MemoryFiles)> =
        folders.into_iter().map(|(folder, files)| (folder, files.into_iter().collect())).collect();
    let folders: Vec<_> =
        folders.iter().map(|(folder, files)| (folder.clone(), files as &dyn entourage_declare::Files)).collect();
    entourage_declare::load(&Project {
        files: &own,
        home: Some(&home),
        profile_folders: &folders,
        settings: &wishes,
        tools: &Kit,
        memory: &entourage_script::NoMemory,
    })
}

fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.trim_start_matches('\n').split_inclusive('\n') {
        match line.strip_prefix("-- ") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => files.last_mut().expect("a project begins with the path of a file").1.push_str(line),
        }
    }
    files
}

/// The built-in toolkit, with a few of its aliases.
#[derive(Debug)]
struct Kit;

const LOOKING: [&str; 4] = ["find_files", "grep_files", "list_files", "read_file"];
const CHANGING: [&str; 3] = ["edit_file", "shell", "write_file"];

impl Tools for Kit {
    fn canonical(&self, name: &str) -> Option<Name> {
        let name = match name {
            "read" => "read_file",
            "search" => "grep_files",
            "bash" => "shell",
            other => other,
        };
        LOOKING.into_iter().chain(CHANGING).find(|known| *known == name).map(Name::from)
    }

    fn names(&self) -> Vec<Name> {
        let mut names: Vec<_> = LOOKING.into_iter().chain(CHANGING).map(Name::from).collect();
        names.sort();
        names
    }

    fn is_pure(&self, name: &Name) -> bool {
        LOOKING.contains(&name.as_str())
    }
}

/// The reports about a project, a line each.
fn check(text: &str, expected: &[&str]) -> Loaded {
    let loaded = project(text);
    assert_eq!(lines(&loaded), expected, "{text}");
    loaded
}

/// `severity[code] place what | hint`.
fn lines(loaded: &Loaded) -> Vec<String> {
    let line = |report: &entourage_model::Report| {
        let severity = if report.severity == Severity::Error { "error" } else { "warning" };
        let place = report.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
        let hint = report.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{severity}[{}]{place} {}{hint}", report.code.0, report.what)
    };
    loaded.reports.iter().map(line).collect()
}

/// The agents that were declared and taken: `name format file`.
fn declared(loaded: &Loaded) -> Vec<String> {
    let own = loaded.team.agents.values().filter(|agent| agent.source.file.is_some());
    own.map(|agent| {
        format!("{} {} {}", agent.name, agent.source.format, agent.source.file.as_deref().unwrap_or_default())
    })
    .collect()
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.team.agents.keys().map(Name::as_str).collect()
}

fn agent(loaded: &Loaded, name: &str) -> Arc<Agent> {
    Arc::clone(&loaded.team.agents[name])
}

fn body(agent: &Agent) -> String {
    agent.side_a.prompt.instructions.render(|_| None).to_string()
}

fn tools_of(agent: &Agent) -> Vec<&str> {
    let entries = agent.side_a.prompt.tools.iter();
    let tools = entries.filter_map(|entry| match entry {
        ToolEntry::Tool(name) => Some(name.as_str()),
        ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
    });
    tools.collect()
}

fn children_of(agent: &Agent) -> Vec<String> {
    let children = agent.side_a.prompt.children();
    children
        .map(|entry| {
            if entry.agent == *entry.name() {
                entry.agent.to_string()
            } else {
                format!("{}={}", entry.name(), entry.agent)
            }
        })
        .collect()
}
