//! A stax project as it is packed: every part as it was written, the definitions evaluated and the instructions of
//! subagents in place of the paths to them.

use super::leftover::LEFTOVER;
use super::write::{agent_without_parts, foreign, own};
use super::{Stax, read};
use crate::draft::Declared;
use crate::exchange::{Loss, Record, Written, fitted, prompt_of};
use crate::faults::{Faults, quoted};
use crate::files::Files;
use crate::format::Format;
use entourage_model::{Agent, Name, Place, Report, Severity, Team};
use entourage_script::Memory;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParcelKind {
    Agent,
    Package,
}

/// What a project's definition led to. It is only to be packed if none of the reports is an error.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub kind: ParcelKind,
    /// The file of the definition, relative to the project.
    pub entry: String,
    /// Its evaluated value, with the paths as the author wrote them.
    pub definition: Map<String, Value>,
    pub prompt: Option<String>,
    pub persona: Option<Value>,
    pub mcp: Option<Value>,
    /// With the Markdown itself as `instructions`.
    pub subagents: Option<Value>,
    pub folders: Vec<PackedFolder>,
    pub packages: Vec<NamedPackage>,
    /// The secrets that servers want and the definition does not declare, while one of the packages may.
    pub wanted_secrets: Vec<WantedSecret>,
    /// About every file, by file and line.
    pub reports: Vec<Report>,
}

/// A folder that is packed file by file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFolder {
    /// The key of the definition that names it.
    pub key: &'static str,
    /// Relative to the project.
    pub path: String,
    /// Where it is named.
    pub place: Place,
}

/// A package that a definition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPackage {
    /// As the author wrote it, which may be no reference.
    pub text: String,
    /// Where it is named.
    pub place: Place,
}

/// A secret that is not declared so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedSecret {
    pub key: String,
    /// What is to be said if nobody declares it.
    pub report: Report,
}

impl Parcel {
    pub(super) fn new(kind: ParcelKind, entry: &str) -> Self {
        Self {
            kind,
            entry: entry.to_owned(),
            definition: Map::new(),
            prompt: None,
            persona: None,
            mcp: None,
            subagents: None,
            folders: Vec::new(),
            packages: Vec::new(),
            wanted_secrets: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// Nobody knows what packages declare before they were looked up, and whoever depends on a package may declare
    /// what it wants.
    pub(super) fn want_secrets(&mut self, mut wanted: Vec<WantedSecret>, faults: &mut Faults) {
        if self.kind == ParcelKind::Package {
            wanted.iter_mut().for_each(|wanted| wanted.report.severity = Severity::Warning);
        }
        match self.packages.is_empty() {
            true => faults.reports.extend(wanted.into_iter().map(|wanted| wanted.report)),
            false => self.wanted_secrets = wanted,
        }
    }
}

/// Reads a project to be packed. Absent: it defines neither an agent nor a package.
pub fn parcel(files: &dyn Files, memory: &dyn Memory) -> Option<Parcel> {
    let Stax { primary, subagents, mut parcel, .. } = read(files, memory)?;
    let reports = |declared: Declared<_>| declared.faults.reports;
    parcel.reports = subagents.into_iter().chain([primary]).flat_map(reports).collect();
    parcel.reports.sort_by(|a, b| (&a.place, a.code, &a.what).cmp(&(&b.place, b.code, &b.what)));
    // A broken module is found by everybody who imports it.
    parcel.reports.dedup();
    Some(parcel)
}

/// A project that defines no agent of its own: `lead`, and these agents as its subagents. What stax has no word for is
/// kept under `x-<format>`; what a format keeps nothing of is lost, and named.
pub fn parcel_of_team(
    team: &Team,
    lead: &Agent,
    names: &[Name],
    name: &str,
) -> Result<(Parcel, Vec<Loss>), Vec<Report>> {
    let mut parcel = Parcel::new(ParcelKind::Agent, "");
    if let Value::Object(mut definition) = agent_without_parts(name) {
        definition.insert("description".to_owned(), lead.description.clone().into());
        parcel.definition = definition;
    }
    parcel.prompt = Some(prompt_of(lead));
    let mut agents = Map::new();
    let mut lossy = Written::default();
    let mut reports = Vec::new();
    for (name, solo) in fitted(team, names, Format::Stax)? {
        let Record { mut keys, losses: lost } =
            if solo.format == Format::Stax { own(&solo) } else { foreign(&name, &solo) };
        if solo.format != Format::Stax && !solo.verbatim.is_empty() {
            let mut verbatim = solo.verbatim.clone();
            verbatim.shift_remove(LEFTOVER);
            keys.insert(solo.format.vendor_key(), Value::Object(verbatim));
        } else {
            lossy.lose(&name, lost);
        }
        if solo.body.trim().is_empty() {
            let what = format!("agent {} has no prompt, and a subagent must have one", quoted(name.as_str()));
            reports.push(Report::error("D120", what).hint("write what it is to do into its declaration"));
        }
        keys.insert("instructions".to_owned(), solo.body.into());
        agents.insert(name.to_string(), Value::Object(keys));
    }
    if !agents.is_empty() {
        parcel.subagents = Some(serde_json::json!({ "agents": agents }));
    }
    if reports.is_empty() { Ok((parcel, lossy.losses)) } else { Err(reports) }
}
