//! `entourage materialize`: a bundle as the files of the harness that is to run it, and what is lost is said.

use crate::bundle_source;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::output::Output;
use crate::packing::Registries;
use clap::Args;
use entourage_bundle::materialize::{
    Adapter, Changes, Found, Loss, OnClash, Plan, RECORD, Record, There as _, Translation, decide, plan, refuse,
    removal,
};
use entourage_bundle::{Assembly, Bundle, Shelf, Target, Wanted};
use entourage_model::{Report, nearest};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage materialize --adapter claude-code --out .        the latest build
  entourage materialize registry.example.com/team/reviewer:1.2.0 --adapter codex --out ../work --plan
  entourage materialize --out ../work --remove               takes everything away again

What was written is recorded in `.entourage/materialized.json` below DIR: a later call updates, and `--remove` removes,
only that. A file that somebody else wrote, or changed since, is named, and then nothing is written. Settings in JSON
are merged. Everything that the target cannot hold is named; with `--exact` it is refused.")]
pub(crate) struct Arguments {
    /// The artifact [default: the latest build]
    #[arg(value_name = "REF", conflicts_with = "remove")]
    reference: Option<String>,
    #[arg(long, value_name = "NAME", value_parser = adapter_named, help = adapter_help())]
    adapter: Option<Adapter>,
    /// Where the harness's files are written
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Refuse to lose anything
    #[arg(long)]
    exact: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    plan: bool,
    /// Overwrite, or remove, files that are somebody else's or were changed
    #[arg(long)]
    force: bool,
    /// Remove what was written before
    #[arg(long)]
    remove: bool,
}

fn adapter_help() -> String {
    let names = Adapter::ALL.map(Adapter::name).join(", ");
    format!("The harness to write for: {names} [default: the one that the artifact was made for]")
}

fn adapter_named(name: &str) -> Result<Adapter, String> {
    Adapter::of_name(name).ok_or_else(|| {
        let names = Adapter::ALL.map(Adapter::name);
        let meant = nearest(name, names).map(|name| format!("; did you mean `{name}`?"));
        format!("the adapters are {}{}", names.join(", "), meant.unwrap_or_default())
    })
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let mut output = Output::at(&arguments.out)?;
    let on_clash = if arguments.force { OnClash::Overwrite } else { OnClash::Refuse };
    if arguments.remove {
        let record = record(&output)?;
        let changes = removal(record, arguments.adapter, &output, on_clash);
        if !arguments.plan {
            output.apply(&changes)?;
        }
        tell_removal(invocation, &arguments, &changes);
        return Ok(());
    }
    let mut plan = planned(invocation, &arguments).await?;
    if arguments.exact {
        plan.warn_unless_promised();
    }
    if let Some(fault) = refuse(&plan).filter(|_| arguments.exact) {
        tell_json(invocation, &plan, &[]);
        return Err(Failure::of_bundle(fault));
    }
    let changes = decide(&plan, record(&output)?, &output, on_clash).map_err(Failure::of_bundle)?;
    if !arguments.plan {
        output.apply(&changes)?;
    }
    tell(invocation, &arguments, &plan, &changes);
    Ok(())
}

async fn planned(invocation: &Invocation, arguments: &Arguments) -> Result<Plan, Failure> {
    let target = Target::parse(arguments.reference.as_deref()).map_err(Failure::of_bundle)?;
    let (layout, artifact) = bundle_source::find_trusted(invocation, &target).await?;
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let shelf = Shelf { layout: &layout, fetch: &Registries(invocation), bytes_max };
    Bundle::open(&layout, artifact.digest, bytes_max)
        .and_then(|bundle| Assembly::of(shelf, bundle))
        .and_then(|assembly| {
            let mut plan = plan(&assembly.files(&layout, Wanted::Everything)?, arguments.adapter)?;
            plan.lose_layers(assembly.bundle.unknown_layers());
            Ok(plan)
        })
        .map_err(Failure::of_bundle)
}

/// What earlier calls wrote there.
fn record(output: &Output) -> Result<Record, Failure> {
    match output.look(RECORD) {
        Found::Nothing => Ok(Record::default()),
        Found::File { bytes, .. } => Record::parse(&bytes).map_err(Failure::of_bundle),
        Found::Blocked(why) => {
            let report = Report::error("C030", format!("`{RECORD}` cannot be used: {why}"));
            Err(Failure::new(Exit::File, report.hint("move it away, or write elsewhere by `--out DIR`")))
        }
    }
}

fn tell(invocation: &Invocation, arguments: &Arguments, plan: &Plan, changes: &Changes) {
    if invocation.is_json() {
        return tell_json(invocation, plan, &changes.warnings);
    }
    let is_written = |path: &str| changes.writes.iter().any(|file| file.path == path);
    let line = |path: &str| match (is_written(path), arguments.plan) {
        (true, false) => path.to_owned(),
        (true, true) => format!("{path} (to be written)"),
        (false, _) => format!("{path} (as it is)"),
    };
    let mut lines: Vec<_> = plan.documents.iter().map(|document| line(&document.path)).collect();
    let fate = if arguments.plan { "to be removed" } else { "removed" };
    lines.extend(changes.removals.iter().filter(|path| *path != RECORD).map(|path| format!("{path} ({fate})")));
    invocation.screen.data(&lines.join("\n"));
    for Translation { field, into } in plan.translations.iter().filter(|_| arguments.plan) {
        invocation.screen.note(&format!("`{field}` → `{into}`"));
    }
    for Loss { subagent, field, reason } in &plan.losses {
        let whose = subagent.as_ref().map_or_else(|| "the main agent".to_owned(), |name| format!("`{name}`"));
        invocation.screen.note(&format!("`{field}` of {whose} is lost: {reason}"));
    }
    plan.warnings.iter().chain(&changes.warnings).for_each(|report| invocation.screen.report(report));
}

/// The same document whether the plan is carried out or refused.
fn tell_json(invocation: &Invocation, plan: &Plan, warnings: &[Report]) {
    if !invocation.is_json() {
        return;
    }
    let files: Vec<_> = plan.documents.iter().map(|document| &document.path).collect();
    let warnings: Vec<_> = plan.warnings.iter().chain(warnings).collect();
    invocation.screen.json(&json!({
        "adapter": plan.adapter.name(),
        "files": files,
        "translated": plan.translations,
        "losses": plan.losses,
        "warnings": warnings,
        "exact": plan.is_exact(),
    }));
}

fn tell_removal(invocation: &Invocation, arguments: &Arguments, changes: &Changes) {
    let removed: Vec<_> = changes.removals.iter().filter(|path| *path != RECORD).collect();
    if invocation.is_json() {
        let adapter = arguments.adapter.map(Adapter::name);
        let document = json!({ "adapter": adapter, "removed": removed, "warnings": changes.warnings });
        return invocation.screen.json(&document);
    }
    let fate = if arguments.plan { "to be removed" } else { "removed" };
    let lines: Vec<_> = removed.iter().map(|path| format!("{path} ({fate})")).collect();
    if !lines.is_empty() {
        invocation.screen.data(&lines.join("\n"));
    }
    changes.warnings.iter().for_each(|report| invocation.screen.report(report));
}
