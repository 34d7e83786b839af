//! stax: `agent.ts` or `agent.json` in the project's root, and every file that it names.
//!
//! The primary agent takes the place of `lead`; each subagent is a child that it waits for.

mod adapter;
mod agent;
mod carried;
mod hints;
mod leftover;
mod luggage;
mod mcp;
pub(crate) mod name;
mod package;
mod parcel;
mod path;
mod paths;
mod persona;
mod prompt;
mod rules;
mod set_names;
mod skills;
mod source;
mod subagents;
mod write;

pub(crate) use leftover::{LEFTOVER, take as take_leftover};
pub use luggage::LUGGAGE_BYTES_MAX;
pub use name::{is_valid as is_agent_name, slug as agent_slug};
pub use parcel::{NamedPackage, PackedFolder, Parcel, ParcelKind, WantedSecret, parcel, parcel_of_team};
pub use path::is_meant_as_path as is_instructions_path;
pub use prompt::{preamble, render_prompt, surface_section, untold};
pub use rules::{Rule, Scope, rule_id, rules_in};
pub(crate) use write::write;

use crate::draft::Declared;
use crate::exchange::File;
use crate::faults::{Faults, quoted};
use crate::fields::{Fields, Shape};
use crate::files::{Files, MemoryFiles};
use crate::solo::{Said, Solo};
use crate::tree::{Node, Spot, Tree};
use entourage_model::{Name, Report};
use entourage_script::{Memory, NoMemory};
use luggage::Luggage;
use serde_json::Value;
use source::Source;
use std::collections::BTreeSet;

/// The files that an agent may be defined in.
const ENTRIES: [&str; 2] = ["agent.ts", "agent.json"];

/// The file that a package is defined in. Nothing else has this name and no agent beside it.
const PACKAGE: &str = "package.ts";

/// The version of the specification that is read here.
const SPEC_VERSION: &str = "1.0.0";

/// Looks at `specVersion`. A newer one may have keys that are not known here.
fn spec_version(fields: &mut Fields<'_>) {
    fields.keep("specVersion", Shape::Text);
    let Some(node) = fields.node("specVersion") else { return };
    if let Tree::Text(version) = &node.tree
        && let Some(report) = unknown_spec_version(version)
    {
        fields.report(node, report);
    }
}

/// What is said of a version that is not known here. Absent: it is known.
pub fn unknown_spec_version(version: &str) -> Option<Report> {
    let what = format!("`specVersion` is the string {}, which is not known here", quoted(version));
    let report = Report::warning("D072", what).hint(format!("the version is `{SPEC_VERSION}`"));
    (version != SPEC_VERSION).then_some(report)
}

/// What a stax project declares.
#[derive(Debug)]
pub(crate) struct Stax {
    /// Of a package: what is wrong with it. It is no agent.
    pub(crate) primary: Declared<Solo>,
    pub(crate) subagents: Vec<Declared<Solo>>,
    /// The Markdown files that it names: they are nobody else's declarations.
    pub(crate) claimed: BTreeSet<String>,
    /// What its team takes along.
    pub(crate) luggage: Luggage,
    parcel: Parcel,
}

impl Stax {
    pub(crate) fn packages(&self) -> &[NamedPackage] {
        &self.parcel.packages
    }

    /// The name of the primary agent. Absent: the project is a package.
    pub(crate) fn agent(&self) -> Option<Name> {
        (self.parcel.kind == ParcelKind::Agent).then(|| self.primary.name.value.clone())
    }

    /// All that is declared. The subagents of a package are others' agents: here only the faults of them count.
    pub(crate) fn into_declared(self, reports: &mut Vec<Report>) -> Vec<Declared<Solo>> {
        let mut declared = self.subagents;
        declared.push(self.primary);
        if self.parcel.kind == ParcelKind::Package {
            reports.extend(declared.drain(..).flat_map(|declared| declared.faults.reports));
        }
        declared
    }
}

/// The agent that a project defines, else the package. Absent: it defines neither.
pub(crate) fn read(files: &dyn Files, memory: &dyn Memory) -> Option<Stax> {
    let is_there = |path: &&str| files.kind(path).is_ok();
    let mut source = Source {
        files,
        memory,
        is_on_disk: files.is_on_disk(),
        is_imported: false,
        claimed: BTreeSet::new(),
        luggage: Luggage::default(),
    };
    match ENTRIES.into_iter().find(is_there) {
        Some(entry) => Some(agent::read(&mut source, entry)),
        None => Some(PACKAGE).filter(is_there).map(|entry| package::read(&mut source, entry)),
    }
}

/// The agents of a definition that is imported: a bundle of subagents, or an agent with everything that it names. What
/// is kept of them is compiled, so that nothing but the file and those beside it is needed.
pub(crate) fn import(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let name = file.stem(&[]);
    let alone = MemoryFiles::from_iter([(name, file.text)]);
    let mut own = Faults::new(name);
    let (declared, _) = definition(file.beside.unwrap_or(&alone), name, &mut own);
    let folder = file.path.strip_suffix(name).unwrap_or_default();
    let mut found = Vec::new();
    let mut take = |mut reports: Vec<Report>| {
        for place in reports.iter_mut().filter_map(|report| report.place.as_mut()) {
            place.file = format!("{folder}{}", place.file);
        }
        faults.reports.append(&mut reports);
    };
    take(own.reports);
    for Declared { name, faults: own, draft } in declared {
        let is_sound = !own.has_error();
        take(own.reports);
        found.extend(draft.filter(|_| is_sound).map(|solo| (name.value, solo)));
    }
    found
}

/// The Markdown files that the definition `name` names: they are nobody else's declarations.
pub(crate) fn claimed(files: &dyn Files, name: &str) -> BTreeSet<String> {
    definition(files, name, &mut Faults::new(name)).1
}

/// The agents of one definition, and the Markdown files that it names. A project reads the others of an agent's bundle
/// from its entry; here each is an agent by itself, so that the entry's own list has no effect.
fn definition(files: &dyn Files, name: &str, faults: &mut Faults) -> (Vec<Declared<Solo>>, BTreeSet<String>) {
    let mut source = Source {
        files,
        memory: &NoMemory,
        is_on_disk: false,
        is_imported: true,
        claimed: BTreeSet::new(),
        luggage: Luggage::default(),
    };
    if !ENTRIES.contains(&name) {
        return (subagents::read(&mut source, name, faults).agents, source.claimed);
    }
    let Stax { mut primary, mut subagents, claimed, parcel, .. } = agent::read(&mut source, name);
    if let Some(solo) = &mut primary.draft {
        leave_behind(solo, &parcel, &source);
    }
    subagents.push(primary);
    (subagents, claimed)
}

/// Takes over what an imported agent can do without the files that it names, and names the rest.
fn leave_behind(solo: &mut Solo, parcel: &Parcel, source: &Source<'_>) {
    let mut lost: Vec<_> = ["knowledge", "memory", "secrets", "packages", "workspaceSources"].into();
    if let Some(document) = &parcel.mcp {
        solo.verbatim.insert("mcp".to_owned(), document.clone());
    }
    if let Some(folder) = parcel.folders.iter().find(|folder| folder.key == "skills") {
        let files = source.files_beneath(&folder.path, &mut Faults::new(""));
        if files.iter().all(|file| skills::is_text(&folder.path, file)) {
            solo.verbatim.shift_remove("skills");
        } else {
            lost.push("skills");
        }
    }
    if let Some(Said { key, spot, .. }) = solo.children.take() {
        solo.rest.push(Said { key, spot, value: Value::Null });
    }
    let lost = lost.into_iter().filter_map(|key| Some((key, solo.verbatim.get(key)?.clone())));
    solo.rest.extend(lost.map(|(key, value)| Said { key: key.to_owned(), spot: Spot::START, value }));
}

/// An agent from what is kept of its declaration. Only a primary agent has an adapter.
pub(crate) fn reread(node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    match node.field("adapter") {
        Some(_) => agent::reread(node, body),
        None => subagents::compiled(node, faults),
    }
}
