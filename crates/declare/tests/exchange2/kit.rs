//! A file in, the agents that a project has of it, files out; texts are parsed by nobody of this crate.

use entourage_declare::{Format, Imported, Written, export, import};
use entourage_model::{Agent, Name, Prompt, Report, Severity, Source, Team};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The reports as people see them, in one line each.
pub(crate) fn lines(reports: &[Report]) -> Vec<String> {
    let line = |report: &Report| {
        let severity = match report.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = report.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
        let hint = report.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{severity}[{}]{place} {}{hint}", report.code.0, report.what)
    };
    reports.iter().map(line).collect()
}

/// A file without any fault worse than a warning.
pub(crate) fn imported(path: &str, text: &str) -> Imported {
    let imported = import(path, text.as_bytes(), None);
    let errors: Vec<_> = lines(&imported.reports).into_iter().filter(|line| line.starts_with("error")).collect();
    assert_eq!(errors, Vec::<String>::new(), "{path}\n{text}");
    imported
}

/// The agents of a project that keeps what was imported.
pub(crate) fn team(imported: &Imported) -> Team {
    let mut team = Team::default();
    for agent in &imported.agents {
        let (mut keys, body) = page(&agent.text);
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
    let (yaml, body) = rest.split_once("\n---\n").expect("front matter ends");
    (serde_saphyr::from_str(yaml).expect("front matter is YAML"), body)
}

/// Everything in a file, exported.
pub(crate) fn exported(path: &str, text: &str, to: Format) -> Written {
    export_all(&team(&imported(path, text)), to)
}

pub(crate) fn export_all(team: &Team, to: Format) -> Written {
    let names: Vec<Name> = team.agents.keys().cloned().collect();
    export(team, &names, to).map_err(|reports| lines(&reports)).expect("it can be exported")
}

/// The keys that were lost, as `agent key`.
pub(crate) fn lost(written: &Written) -> Vec<String> {
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
