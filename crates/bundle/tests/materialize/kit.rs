//! Bundles as their authors could have written them, plans, and a folder in memory to carry them out in.

use entourage_bundle::Fault;
use entourage_bundle::materialize::{Adapter, Changes, Content, Found, OnClash, Plan, RECORD, Record, There};
use entourage_bundle::materialize::{decide, plan, removal};
use entourage_declare::MemoryFiles;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An agent for `adapter` with these keys beside what every definition has, and these files.
pub(crate) fn bundle(adapter: &str, keys: &Value, files: &[(&str, &str)]) -> MemoryFiles {
    let mut definition = json!({
        "name": "lead-agent",
        "version": "1.0.0",
        "description": "Leads.",
        "adapter": { "type": adapter, "runtime": adapter, "adapterVersion": "1.0.0", "config": {}, "features": {} },
    });
    for (key, value) in keys.as_object().expect("keys are an object") {
        match (key.as_str(), value) {
            ("adapter", Value::Object(own)) => {
                own.iter().for_each(|(key, value)| definition["adapter"][key] = value.clone())
            }
            _ => definition[key] = value.clone(),
        }
    }
    let mut all: MemoryFiles = files.iter().copied().collect();
    all.insert("agent.json", definition.to_string(), false);
    all
}

/// An agent with these subagents, each with its text in a file as a bundle has it.
pub(crate) fn with_subagents(adapter: &str, keys: &Value, agents: &Value) -> MemoryFiles {
    let mut keys = keys.clone();
    keys["subagents"] = "./subagents.json".into();
    let mut files = bundle(adapter, &keys, &[]);
    let mut document = json!({ "specVersion": "1.0.0", "agents": agents });
    for (name, agent) in document["agents"].as_object_mut().expect("agents are an object") {
        let path = format!("subagents/{name}.md");
        let text = agent["instructions"].as_str().unwrap_or("Work.\n").to_owned();
        agent["instructions"] = format!("./{path}").into();
        files.insert(path, text, false);
    }
    files.insert("subagents.json", document.to_string(), false);
    files
}

pub(crate) fn planned(files: &MemoryFiles, adapter: Adapter) -> Plan {
    plan(files, Some(adapter)).unwrap_or_else(|fault| panic!("{adapter}: {}", told(fault)))
}

/// The fault as people read it.
pub(crate) fn told(fault: Fault) -> String {
    let exit = fault.exit() as u8;
    let lines: Vec<_> =
        fault.into_reports().iter().map(|report| format!("[{}] {}", report.code.0, report.what)).collect();
    format!("{exit}: {}", lines.join("\n"))
}

pub(crate) fn paths(plan: &Plan) -> Vec<&str> {
    plan.documents.iter().map(|document| document.path.as_str()).collect()
}

/// The text of a file to itself.
pub(crate) fn text<'a>(plan: &'a Plan, path: &str) -> &'a str {
    match &document(plan, path) {
        Content::Whole { bytes, .. } => std::str::from_utf8(bytes).expect("it is text"),
        Content::Settings(_) => panic!("`{path}` is a file of settings"),
    }
}

pub(crate) fn document<'a>(plan: &'a Plan, path: &str) -> &'a Content {
    let found = plan.documents.iter().find(|document| document.path == path);
    &found.unwrap_or_else(|| panic!("there is no `{path}` among {:?}", paths(plan))).content
}

/// Front matter and body, by a parser of YAML that knows nothing of us.
pub(crate) fn front(text: &str) -> (Map<String, Value>, &str) {
    let rest = text.strip_prefix("---\n").expect("front matter begins");
    let (yaml, body) = rest.split_once("\n---\n").expect("front matter ends");
    (serde_saphyr::from_str(yaml).unwrap_or_else(|fault| panic!("{fault}\n{yaml}")), body)
}

/// `subagent field` of every loss.
pub(crate) fn lost(plan: &Plan) -> Vec<String> {
    plan.losses.iter().map(|loss| format!("{} {}", loss.subagent.as_deref().unwrap_or("-"), loss.field)).collect()
}

/// A target folder: its files, and which of them are programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Folder(pub(crate) BTreeMap<String, Vec<u8>>, pub(crate) BTreeSet<String>);

impl There for Folder {
    fn look(&self, path: &str) -> Found {
        let file = |bytes: &Vec<u8>| Found::File { bytes: bytes.clone(), executable: self.1.contains(path) };
        self.0.get(path).map_or(Found::Nothing, file)
    }
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Self(files.collect(), BTreeSet::new())
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        let bytes = self.0.get(path).unwrap_or_else(|| panic!("there is no `{path}`"));
        std::str::from_utf8(bytes).expect("it is text")
    }

    /// The paths of what is there, without the record.
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).filter(|path| *path != RECORD).collect()
    }

    pub(crate) fn record(&self) -> Record {
        self.0.get(RECORD).map_or_else(Record::default, |bytes| Record::parse(bytes).expect("we wrote it"))
    }

    fn apply(&mut self, changes: Changes) -> Vec<String> {
        for path in changes.removals.iter().chain(changes.writes.iter().map(|file| &file.path)) {
            self.0.remove(path);
            self.1.remove(path);
        }
        self.1.extend(changes.writes.iter().filter(|file| file.executable).map(|file| file.path.clone()));
        self.0.extend(changes.writes.into_iter().map(|file| (file.path, file.bytes)));
        changes.warnings.iter().map(|report| format!("[{}] {}", report.code.0, report.what)).collect()
    }

    /// Carries a plan out; the warnings, or why it was refused.
    pub(crate) fn take(&mut self, plan: &Plan, on_clash: OnClash) -> Result<Vec<String>, String> {
        let changes = decide(plan, self.record(), self, on_clash).map_err(told)?;
        Ok(self.apply(changes))
    }

    pub(crate) fn clean(&mut self, adapter: Option<Adapter>, on_clash: OnClash) -> Vec<String> {
        let changes = removal(self.record(), adapter, self, on_clash);
        self.apply(changes)
    }
}

/// JSON that may have comments and a comma after the last item.
pub(crate) fn lax_json(text: &str) -> Value {
    let root = jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default()).expect("it is JSON");
    root.to_serde_value().expect("there is a value")
}
