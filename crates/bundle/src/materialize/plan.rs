//! The documents that a bundle becomes, before anybody looks at the target folder.

use super::adapter::Adapter;
use super::choice::choose;
use super::loss::{Loss, unsaid};
use super::source::Source;
use super::{folders, instructions, rules, servers, settings, subagents};
use crate::definition::{ABOUT, ADAPTER, WORKSPACE_SOURCES};
use crate::media::LayerKind;
use crate::{Exit, Fault};
use entourage_declare::{Files, ParcelKind, untold};
use entourage_model::{Report, Severity};
use entourage_script::NoMemory;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything that a target is given, and what it is not.
#[derive(Debug)]
pub struct Plan {
    pub adapter: Adapter,
    /// The main agent's name.
    pub agent: String,
    pub documents: Vec<Document>,
    /// Parts that are said in other words than the bundle's, and where.
    pub translations: Vec<Translation>,
    pub losses: Vec<Loss>,
    pub warnings: Vec<Report>,
    /// Why it is not exact whatever it holds.
    pub(super) inexact: Option<Report>,
    /// Why nobody promises that it is.
    pub(super) unpromised: Option<Report>,
}

/// Warnings about what is named as a loss, or is kept.
const TOLD_AS_LOSS: [&str; 2] = ["D007", "D076"];

#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Relative to the target folder.
    pub path: String,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A file to itself.
    Whole { bytes: Vec<u8>, executable: bool },
    /// JSON that others write to as well.
    Settings(Vec<Setting>),
}

/// One value in a file of settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The keys that lead to it, from the outside in.
    pub path: Vec<String>,
    pub value: Value,
}

/// A part of the bundle that became, or became part of, a file of the target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Translation {
    /// As the bundle spells it, nested as `a.b`.
    pub field: String,
    pub into: String,
}

/// The bundle in `files` for the adapter that is wished for, or for the one that the bundle itself names.
pub fn plan(files: &dyn Files, wish: Option<Adapter>) -> Result<Plan, Fault> {
    let source = read(files, wish)?;
    let adapter = source.choice.adapter;
    let agent = source.parcel.definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_news = |report: &&Report| !TOLD_AS_LOSS.contains(&report.code.0);
    let warnings = source.parcel.reports.iter().filter(is_news).cloned().collect();
    let (inexact, unpromised) = (inexact(&source), unpromised(&source));
    let mut plan = Plan {
        adapter,
        agent,
        documents: Vec::new(),
        translations: Vec::new(),
        losses: Vec::new(),
        warnings,
        inexact,
        unpromised,
    };
    instructions::add(&source, &mut plan)?;
    rules::add(&source, &mut plan)?;
    folders::add(&source, &mut plan)?;
    let servers = servers::translate(&source, &mut plan);
    settings::add(&source, servers, &mut plan);
    subagents::add(&source, &mut plan)?;
    name_the_rest(&source, &mut plan);
    place(&source, &mut plan);
    check_paths(&plan)?;
    plan.translations.sort();
    plan.losses.sort();
    plan.losses.dedup();
    Ok(plan)
}

impl Plan {
    /// Whether the target holds everything that the bundle says.
    pub fn is_exact(&self) -> bool {
        self.losses.is_empty() && self.inexact.is_none()
    }

    /// For whoever insists on exactness: warns where the bundle does not promise it.
    pub fn warn_unless_promised(&mut self) {
        self.warnings.extend(self.unpromised.take());
    }

    pub(super) fn write(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.put(path, bytes, false);
    }

    pub(super) fn put(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>, executable: bool) {
        let content = Content::Whole { bytes: bytes.into(), executable };
        self.documents.push(Document { path: path.into(), content });
    }

    /// The first of these paths that no document has yet. Some file systems take `A.md` and `a.md` for one.
    pub(super) fn free(&self, mut paths: impl Iterator<Item = String>) -> String {
        let is_free = |path: &String| !self.documents.iter().any(|document| document.path.eq_ignore_ascii_case(path));
        paths.find(is_free).expect("there are more paths than documents")
    }

    /// Settings that are not there say nothing.
    pub(super) fn set(&mut self, path: &str, settings: Vec<Setting>) {
        if !settings.is_empty() {
            self.documents.push(Document { path: path.to_owned(), content: Content::Settings(settings) });
        }
    }

    pub(super) fn translate(&mut self, field: impl Into<String>, into: &str) {
        self.translations.push(Translation { field: field.into(), into: into.to_owned() });
    }

    pub(super) fn lose(&mut self, field: impl Into<String>, reason: impl Into<String>) {
        self.losses.push(Loss::main(field, reason));
    }

    /// Names layers whose kind nobody here knows.
    pub fn lose_layers<'a>(&mut self, media_types: impl IntoIterator<Item = &'a str>) {
        for media_type in media_types {
            self.lose(media_type, "nobody here knows layers of this kind");
        }
        self.losses.sort();
    }

    /// Names something that the definition itself wants left out.
    pub(super) fn leave_out(&mut self, field: &str, key: &str) {
        self.lose(field, format!("the definition says `{key}: false`"));
    }

    pub(super) fn warn(&mut self, code: &'static str, what: impl Into<String>, hint: &str) {
        self.warnings.push(Report::warning(code, what).hint(hint));
    }
}

fn read(files: &dyn Files, wish: Option<Adapter>) -> Result<Source<'_>, Fault> {
    let parcel = entourage_declare::parcel(files, &NoMemory);
    let Some(parcel) = parcel.filter(|parcel| parcel.kind == ParcelKind::Agent) else {
        let report = Report::error("B082", "this bundle is a package: it has no agent that could be materialised");
        return Err(Fault::new(Exit::Usage, report.hint("name it in `packages` of an agent, and materialise that")));
    };
    let is_error = |report: &&Report| report.severity == Severity::Error;
    let errors: Vec<_> = parcel.reports.iter().filter(is_error).cloned().collect();
    if !errors.is_empty() {
        return Err(Fault::Authored(errors));
    }
    let choice = choose(&parcel.definition, wish)?;
    Ok(Source { files, parcel, choice })
}

fn inexact(source: &Source<'_>) -> Option<Report> {
    let adapter = source.choice.adapter;
    if adapter == Adapter::Generic {
        let report = Report::error("B072", "the `generic` adapter is never exact: nobody says what its target reads");
        return Some(report.hint("name the harness that is meant"));
    }
    (exact_mode(source) == Some(&Value::Bool(false)))
        .then(|| Report::error("B072", format!("the bundle's own adapter `{adapter}` says `exactMode: false`")))
}

/// An adapter that the bundle does not name promises nothing, and nobody expects it to.
fn unpromised(source: &Source<'_>) -> Option<Report> {
    let adapter = source.choice.adapter;
    let is_silent = source.choice.own.is_some() && exact_mode(source).is_none();
    is_silent.then(|| {
        let report =
            Report::warning("B072", format!("the bundle's own adapter `{adapter}` does not say `exactMode: true`"));
        report.hint("nothing is lost as far as is known here; whoever made the bundle did not promise it")
    })
}

fn exact_mode<'a>(source: &'a Source<'_>) -> Option<&'a Value> {
    source.own("features")?.get("exactMode")
}

/// What no part of this looked at.
fn name_the_rest(source: &Source<'_>, plan: &mut Plan) {
    let definition = &source.parcel.definition;
    let reason = unsaid(plan.adapter);
    for key in definition.keys().filter(|key| !is_told(key)) {
        plan.lose(key, &reason);
    }
    for field in source.persona().map(untold).unwrap_or_default() {
        plan.lose(format!("persona.{field}"), &reason);
    }
    for (part, document, entries) in
        [("subagents", &source.parcel.subagents, "agents"), ("mcp", &source.parcel.mcp, "servers")]
    {
        let keys = document.as_ref().and_then(Value::as_object).into_iter().flat_map(|document| document.keys());
        for key in keys.filter(|key| *key != entries && *key != "specVersion") {
            plan.lose(format!("{part}.{key}"), &reason);
        }
    }
    let secrets = definition.get("secrets").and_then(Value::as_array).into_iter().flatten();
    let keys: Vec<_> = secrets.filter_map(|secret| secret.get("key")?.as_str()).map(|key| format!("`{key}`")).collect();
    if !keys.is_empty() {
        let what = format!("the agent wants secrets, which no bundle holds: {}", keys.join(", "));
        plan.warn("B078", what, "give them to the harness, as variables of the environment where it takes those");
    }
    if source.own("modelParams").and_then(Value::as_object).is_some_and(|given| !given.is_empty()) {
        let what = format!("{} has no settings for `adapter.modelParams`", plan.adapter.title());
        plan.warn("B079", what, "set them where the model is served");
    }
}

/// Whether a target is told of a key by other means, or the key is about the bundle and not about its work.
fn is_told(key: &str) -> bool {
    let is_layer = || LayerKind::ALL.into_iter().any(|kind| kind.key() == key);
    key == ADAPTER || (ABOUT.contains(&key) && key != WORKSPACE_SOURCES) || is_layer()
}

/// A definition for a user's own folder, which `--out` then is, has some files elsewhere.
fn place(source: &Source<'_>, plan: &mut Plan) {
    if source.config("scope").and_then(Value::as_str) != Some("user") {
        return;
    }
    let moves: &[(&str, &str)] = match plan.adapter {
        Adapter::ClaudeCode => &[("CLAUDE.md", ".claude/CLAUDE.md"), (".mcp.json", ".claude.json")],
        Adapter::Codex => &[("AGENTS.md", ".codex/AGENTS.md")],
        Adapter::Opencode => &[
            ("AGENTS.md", ".config/opencode/AGENTS.md"),
            ("opencode.jsonc", ".config/opencode/opencode.jsonc"),
            (".opencode/agents/", ".config/opencode/agents/"),
        ],
        Adapter::Gemini => &[("GEMINI.md", ".gemini/GEMINI.md")],
        Adapter::Windsurf => &[
            ("AGENTS.md", ".codeium/windsurf/memories/global_rules.md"),
            (".windsurf/workflows/", ".codeium/windsurf/global_workflows/"),
        ],
        Adapter::Cursor | Adapter::GithubCopilot | Adapter::Openclaw | Adapter::Generic => &[],
    };
    let documents = plan.documents.iter_mut().map(|document| &mut document.path);
    for path in documents.chain(plan.translations.iter_mut().map(|translation| &mut translation.into)) {
        // A folder moves with all that is in it.
        let moved = |(from, to): &(&str, &str)| match from.ends_with('/') {
            true => path.strip_prefix(from).map(|inside| format!("{to}{inside}")),
            false => (path == from).then(|| (*to).to_owned()),
        };
        if let Some(moved) = moves.iter().find_map(moved) {
            *path = moved;
        }
    }
}

/// No two documents may be one file, and none may lie outside. Some file systems take `A.md` and `a.md` for one.
fn check_paths(plan: &Plan) -> Result<(), Fault> {
    let mut reports = Vec::new();
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for Document { path, .. } in &plan.documents {
        if !is_inside(path) {
            let report = Report::error("B077", format!("`{}` is no path that can be written", path.escape_debug()));
            reports.push(report.hint("rename what it is made of: a rule's `id`, or a file of the bundle"));
        }
        if let Some(other) = known.insert(path.to_lowercase(), path) {
            let what = format!("two parts of the bundle would be one file in `{}`: `{other}`, `{path}`", plan.adapter);
            reports.push(Report::error("B076", what).hint("rename one of them and build the bundle again"));
        }
    }
    if reports.is_empty() { Ok(()) } else { Err(Fault::Authored(reports)) }
}

pub(super) fn is_inside(path: &str) -> bool {
    let is_odd = |segment: &str| matches!(segment, "" | "." | "..");
    !path.contains(|letter: char| letter.is_control() || letter == '\\') && !path.split('/').any(is_odd)
}
