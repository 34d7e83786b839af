//! `entourage build`: this project as an artifact in the local store.

use crate::amount;
use crate::bundle_source;
use crate::declarations;
use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory;
use crate::output::{self, Output};
use crate::packing::{Registries, descriptor_json};
use crate::project::Project;
use crate::remote_agent;
use clap::Args;
use entourage_bundle::materialize::OnClash;
use entourage_bundle::{Built, BytesOf, Draft, Fault, LOCK_FILE, Layout, Order, Shelf, Sources};
use entourage_declare::{Files as _, Loss, Parcel, ParcelKind, agent_slug};
use entourage_model::{Name, Report, Severity};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage build                      pack this project into <data>/oci
  entourage build ../agent --out dist  pack another one, into the OCI layout `dist`

A project is defined by `agent.ts` or `agent.json`. Without either, `lead` is packed with every agent that the project
declares, in whatever format, but for those that run elsewhere. The same files always make the same digest.")]
pub(crate) struct Arguments {
    /// The project to pack [default: this one]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Write to this OCI layout instead of the project's own
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the bytes that the reference program of stax writes
    #[arg(long)]
    reference_bytes: bool,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let project = open(invocation, arguments.path.as_deref())?;
    let out = arguments.out.as_ref().map(|out| environment::current_folder().join(out));
    let outputs = [Some(project.data.as_path()), out.as_deref()].into_iter().flatten();
    let sources = Sources::new(&project, outputs.filter_map(|path| beneath(&project.root, path)).collect());
    let (parcel, losses) = match entourage_declare::parcel(&sources, &*memory::open()) {
        Some(mut parcel) => {
            parcel.reports.extend(uncallable(invocation, &project, &parcel));
            (parcel, Vec::new())
        }
        None => declared(invocation, &project)?,
    };
    let bytes_of = if arguments.reference_bytes { BytesOf::ReferenceProgram } else { BytesOf::Specification };
    let order = Order { parcel, losses, sources: &sources, bytes_of };
    // A store is only made for something that can be packed.
    let draft = Draft::check(order).map_err(Failure::of_bundle)?;
    let layout = match &out {
        Some(path) => Layout::create(path).map_err(Failure::of_bundle)?,
        None => bundle_source::layout(invocation)?,
    };
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let shelf = Shelf { layout: &layout, fetch: &Registries(invocation), bytes_max };
    let (built, change) = entourage_bundle::build(draft, shelf).map_err(Failure::of_bundle)?;
    // A lock that cannot be written is a build that failed, and leaves the store as it was.
    write_lock(&project, &built)?;
    change.commit().map_err(Failure::of_bundle)?;
    show(invocation, &layout, &built);
    Ok(())
}

/// The project at a path, or that of a definition's own path.
fn open(invocation: &Invocation, path: Option<&Path>) -> Result<Project, Failure> {
    let root = path.map_or_else(|| invocation.project.root.clone(), Path::to_owned);
    let root = match root.file_name().and_then(|name| name.to_str()) {
        Some("agent.ts" | "agent.json" | "package.ts") if root.is_file() => {
            root.parent().map(|parent| environment::current_folder().join(parent)).unwrap_or_default()
        }
        _ => root,
    };
    Project::open(Some(&root), Some(&invocation.project.data))
}

/// A folder that we write to, as the project would see it. One that is not there yet has nothing to be packed.
fn beneath(root: &Path, path: &Path) -> Option<String> {
    let (root, path) = (root.canonicalize().ok()?, path.canonicalize().ok()?);
    Some(path.strip_prefix(root).ok()?.to_str()?.to_owned())
}

/// What `check` says of subagents that nobody could call by their names: the main agent, or a tool, has that name. stax
/// allows both, and another harness may know them apart, so that either is packed.
fn uncallable(invocation: &Invocation, project: &Project, parcel: &Parcel) -> Vec<Report> {
    const CODES: [&str; 3] = ["D010", "D084", "D097"];
    let Some(subagents) = parcel.definition.get("subagents").and_then(Value::as_str) else { return Vec::new() };
    if parcel.kind == ParcelKind::Package {
        return Vec::new();
    }
    let files = [parcel.entry.as_str(), subagents.trim_start_matches("./")];
    let is_own = |report: &Report| report.place.as_ref().is_some_and(|place| files.contains(&place.file.as_str()));
    let loaded = declarations::read(project, &invocation.settings, &invocation.settings_files);
    let told = loaded.reports.into_iter().filter(|report| CODES.contains(&report.code.0) && is_own(report));
    told.map(|report| Report { severity: Severity::Warning, ..report }).collect()
}

/// A project without a definition: `lead`, and every agent that the project itself declares.
fn declared(invocation: &Invocation, project: &Project) -> Result<(Parcel, Vec<Loss>), Failure> {
    let authored = |reports: Vec<Report>| Failure::of_bundle(Fault::Authored(reports));
    let loaded = declarations::load(project, &invocation.settings, &invocation.settings_files);
    if loaded.reports.iter().any(|report| report.severity == Severity::Error) {
        return Err(authored(loaded.reports));
    }
    let lead = loaded.team.agents.get(&loaded.primary).cloned();
    let lead = lead.expect("whoever declares no primary agent has `lead`");
    // What holds in every project of this user is not part of this one.
    let is_own = |file: &String| project.has(file);
    let own = loaded.team.agents.values().filter(|agent| agent.source.file.as_ref().is_some_and(is_own));
    let own = own.filter(|agent| agent.name != loaded.primary);
    let (here, elsewhere): (Vec<_>, Vec<_>) = own.partition(|agent| agent.remote.is_none());
    let names: Vec<Name> = here.into_iter().map(|agent| agent.name.clone()).collect();
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let folder = root.file_name().and_then(|name| name.to_str()).and_then(agent_slug);
    let name = folder.as_deref().unwrap_or("agents");
    let (mut parcel, losses) =
        entourage_declare::parcel_of_team(&loaded.team, &lead, &names, name).map_err(authored)?;
    let left_out = elsewhere.into_iter().map(|agent| {
        let what = format!("agent `{}` runs on another server, and is not packed", agent.name);
        let hint = "nothing, if whoever gets the bundle can do without it; else they declare it themselves";
        Report::warning("B089", what).at(remote_agent::place(&invocation.settings_files, agent)).hint(hint)
    });
    parcel.reports = loaded.reports.into_iter().chain(left_out).collect();
    Ok((parcel, losses))
}

fn write_lock(project: &Project, built: &Built) -> Result<(), Failure> {
    let Some(lock) = &built.lock else { return Ok(()) };
    if project.read(LOCK_FILE).is_ok_and(|kept| kept == *lock) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(lock);
    Output::at(&project.root)?.write(&output::texts([(LOCK_FILE, &*text)]), OnClash::Overwrite)
}

fn show(invocation: &Invocation, layout: &Layout, built: &Built) {
    if invocation.is_json() {
        return invocation.screen.json(&document(layout, built));
    }
    for warning in &built.warnings {
        invocation.screen.report(warning);
    }
    let mut lines = vec![format!("{} {} {}", built.name, built.version, built.descriptor.digest)];
    for layer in &built.manifest.layers {
        let name = layer.annotations.get(entourage_bundle::names::TITLE).unwrap_or(&layer.media_type);
        lines.push(format!("  {name}  {}", amount::bytes(layer.size)));
    }
    if !built.subagents.is_empty() {
        lines.push(format!("  subagents: {}", built.subagents.join(", ")));
    }
    invocation.screen.data(&lines.join("\n"));
}

fn document(layout: &Layout, built: &Built) -> Value {
    json!({
        "digest": built.descriptor.digest,
        "name": built.name,
        "version": built.version,
        "layout": layout.path(),
        "artifact_type": built.manifest.artifact_type,
        "config": descriptor_json(&built.manifest.config),
        "layers": built.manifest.layers.iter().map(descriptor_json).collect::<Vec<_>>(),
        "subagents": built.subagents,
        "warnings": built.warnings,
    })
}
