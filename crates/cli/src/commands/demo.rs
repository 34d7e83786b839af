//! `entourage demo`: a small team at work on the offline model, in a folder of its own.
//!
//! The team is a project like any other, declared in the files of `crates/cli/demo`; only its model is a script.

use crate::arguments::Options;
use crate::commands::run::{conclude, until_quiet};
use crate::commands::serve;
use crate::errand::Errand;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::live::Show;
use crate::models;
use crate::output::{Output, texts};
use crate::project::Project;
use crate::screen::Screen;
use crate::settings::Settings;
use crate::storage::Storage;
use crate::verdict::Work;
use clap::Args;
use entourage_bundle::materialize::OnClash;
use entourage_model::{Name, Report};
use entourage_runtime::{NewRoot, Outgoing};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const TASK: &str = "Write a short announcement of entourage, from the notes.";

/// The project: path and text of each file.
const FILES: [(&str, &str); 12] = [
    ("agents/agents/lead.json", include_str!("../../demo/agents/agents/lead.json")),
    ("agents/agents/researcher.json", include_str!("../../demo/agents/agents/researcher.json")),
    ("agents/agents/reviewer.json", include_str!("../../demo/agents/agents/reviewer.json")),
    ("agents/agents/writer.json", include_str!("../../demo/agents/agents/writer.json")),
    ("agents/prompts/author.json", include_str!("../../demo/agents/prompts/author.json")),
    ("agents/prompts/critic.json", include_str!("../../demo/agents/prompts/critic.json")),
    ("agents/prompts/lead.json", include_str!("../../demo/agents/prompts/lead.json")),
    ("agents/prompts/researcher.json", include_str!("../../demo/agents/prompts/researcher.json")),
    ("agents/prompts/writer.json", include_str!("../../demo/agents/prompts/writer.json")),
    ("notes/promises.md", include_str!("../../demo/notes/promises.md")),
    ("notes/readers.md", include_str!("../../demo/notes/readers.md")),
    ("script.json", include_str!("../../demo/script.json")),
];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage demo             a small team writes an announcement
  entourage demo --serve     and then its threads on the web page

Needs no key and no network. With `--keep` the folder stays, to look at or to go on with.")]
pub(crate) struct Arguments {
    /// Keep the demo's folder, with its declarations and its threads
    #[arg(long)]
    keep: bool,
    /// Then serve its threads and the web page, until Ctrl-C
    #[arg(long)]
    serve: bool,
}

pub(crate) async fn perform(arguments: &Arguments, options: Options, screen: Screen) -> Result<(), Failure> {
    let folder = TempDir::with_prefix("entourage-demo-").map_err(|fault| unwritable(&fault))?;
    Output::at(folder.path())?.write(&texts(FILES), OnClash::Refuse)?;
    let mut worked = work(folder.path(), options.clone(), screen.clone()).await;
    if worked.is_ok() && arguments.serve {
        let invocation = invocation(folder.path(), &options, screen.clone())?;
        screen.note("open this link to see them on a page; Ctrl-C ends the server");
        worked = serve::perform(&invocation, serve::Arguments::anywhere()).await;
    }
    if !arguments.keep {
        return worked.map_err(without_hint);
    }
    let path = folder.keep();
    screen.note(&format!("the demo is in {}; try `entourage threads --project {0}`", path.display()));
    worked
}

async fn work(folder: &Path, options: Options, screen: Screen) -> Result<(), Failure> {
    let invocation = invocation(folder, &options, screen)?;
    let mut errand =
        Errand::open(&invocation, Storage::open(&invocation).await?, models::settings(&invocation)?).await?;
    let root = NewRoot {
        team: Arc::new(invocation.declarations().team),
        agent: Name::from("lead"),
        message: Some(Outgoing::user(TASK)),
        user_id: None,
        tags: Vec::new(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    };
    if !invocation.is_json() {
        invocation.screen.note(&format!("asking the demo's lead: {TASK}"));
    }
    let runtime = errand.bench.runtime.clone();
    let created = runtime.create(root).await.map_err(|error| errand.bench.refused(&error))?;
    let show = if invocation.screen.is_live { Show::Tree } else { Show::Lines };
    let live = errand.live(created.thread, show);
    errand.wait(live, until_quiet(&runtime, created.thread)).await?;
    conclude(&invocation, &errand, created.thread, Work::Run(created.run)).await
}

/// What goes on in a folder that is gone cannot be resumed.
fn without_hint(failure: Failure) -> Failure {
    let reports = failure.reports.into_iter().map(|report| Report { hint: None, ..report });
    Failure { reports: reports.collect(), ..failure }
}

/// The demo's own project, whatever the settings of the person who looks at it.
fn invocation(folder: &Path, options: &Options, screen: Screen) -> Result<Invocation, Failure> {
    let project = Project::open(Some(folder), None)?;
    let script = format!("script:{}", folder.join("script.json").display());
    let options = Options { model: Some(script), log: options.log, json: options.json, ..Options::default() };
    Ok(Invocation {
        packed: None,
        options,
        screen,
        project,
        settings: Settings::default(),
        settings_files: Vec::new(),
        settings_reports: Vec::new(),
    })
}

fn unwritable(fault: &std::io::Error) -> Failure {
    let report = Report::error("C013", format!("the demo's folder cannot be made: {fault}"));
    Failure::new(Exit::File, report.hint("`TMPDIR` says where temporary folders go"))
}
