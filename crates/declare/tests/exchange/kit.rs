//! A file in, the agents that a project has of it, files out: as a reader without our own parsers sees them.

use entourage_declare::{Format, Imported, Loaded, MemoryFiles, Project, Tools, Wishes, Written, export, import, load};
use entourage_model::{Agent, Name, Prompt, Report, Severity, Source, Team};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The reports as people see them, in one line each.
pub(crate) fn lines(reports: &[Report]) -> Vec<String> {
    let line = |report: &Report| {
        let place = report.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
        let hint = report.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
        let severity = match report.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        format!("{severity}[{}]{place} {}{hint}", report.code.0, report.what)
    };
    reports.iter().map(line).collect()
}

/// What a path and a text give; warnings are not looked at.
pub(crate) fn imported(path: &str, text: &str) -> Imported {
    let imported = import(path, text.as_bytes(), None);
    let errors: Vec<_> = lines(&imported.reports).into_iter().filter(|line| line.starts_with("error")).collect();
    assert_eq!(errors, Vec::<String>::new(), "{path}\n{text}");
    imported
}

/// The agents that a project has which keeps these files.
pub(crate) fn team(imported: &Imported) -> Team {
    let mut team = Team::default();
    for agent in &imported.agents {
        let (mut keys, body) = page(&agent.text);
        assert_eq!(keys.get("name"), Some(&Value::from(agent.name.as_str())));
        let description = keys.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let source = Source { format: agent.format.name().to_owned(), file: Some(agent.path.clone()) };
        let prompt = Prompt::new(agent.name.clone(), body);
        let mut canonical = Agent::one_sided(agent.name.clone(), description, prompt, source);
        keys.retain(|key, _| key.starts_with("x-"));
        canonical.extra = keys;
        team.agents.insert(agent.name.clone(), Arc::new(canonical));
    }
    team
}

/// Front matter and body of a file.
pub(crate) fn page(text: &str) -> (Map<String, Value>, &str) {
    let rest = text.strip_prefix("---\n").expect("front matter begins");
    let (yaml, body) = match rest.strip_prefix("---\n") {
        Some(body) => ("", body),
        None => rest.split_once("\n---\n").expect("front matter ends"),
    };
    let value = if yaml.is_empty() { Map::new() } else { serde_saphyr::from_str(yaml).expect("front matter is YAML") };
    (value, body)
}

/// What a project declares that has these files.
pub(crate) fn loaded(files: &MemoryFiles) -> Loaded {
    load(&Project {
        files,
        home: None,
        profile_folders: &[],
        settings: &Wishes::default(),
        tools: &Toolbox,
        memory: &entourage_script::NoMemory,
    })
}

/// The tools that are always here.
struct Toolbox;

impl Tools for Toolbox {
    fn canonical(&self, name: &str) -> Option<Name> {
        self.names().into_iter().find(|tool| tool.as_str() == name)
    }

    fn names(&self) -> Vec<Name> {
        let names = ["edit_file", "find_files", "grep_files", "list_files", "read_file", "shell", "write_file"];
        names.map(Name::from).into()
    }

    fn is_pure(&self, name: &Name) -> bool {
        !matches!(name.as_str(), "edit_file" | "shell" | "write_file")
    }
}

/// Everything in a file, exported.
pub(crate) fn exported(path: &str, text: &str, to: Format) -> Written {
    export_all(&team(&imported(path, text)), to)
}

pub(crate) fn export_all(team: &Team, to: Format) -> Written {
    let names: Vec<Name> = team.agents.keys().cloned().collect();
    export(team, &names, to).map_err(|reports| lines(&reports)).expect("it can be exported")
}

/// The keys that were lost.
pub(crate) fn lost(written: &Written) -> Vec<&str> {
    written.losses.iter().map(|loss| loss.field.as_str()).collect()
}

/// The same as `agent key`.
pub(crate) fn lost_by_agent(written: &Written) -> Vec<String> {
    written.losses.iter().map(|loss| format!("{} {}", loss.agent, loss.field)).collect()
}

/// What the only file says.
pub(crate) fn only_file(written: &Written) -> (&str, &str) {
    match written.files.as_slice() {
        [(path, text)] => (path, text),
        files => panic!("there are {} files", files.len()),
    }
}

pub(crate) fn toml(text: &str) -> Value {
    serde_json::to_value(::toml::from_str::<::toml::Table>(text).expect("it is TOML")).expect("TOML is JSON")
}

pub(crate) fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|fault| panic!("it is YAML: {fault}\n{text}"))
}

/// Front matter as one line of JSON for each key: YAML that no serialiser of ours has written.
pub(crate) fn text_of(keys: &Map<String, Value>, body: &str) -> String {
    let lines: String = keys.iter().map(|(key, value)| format!("{}: {value}\n", Value::from(key.as_str()))).collect();
    format!("---\n{lines}---\n{body}")
}
