//! `entourage import`: other harnesses' agents become agents of this project, and what is lost is said.

use super::export::{describe_losses, format_named, losses_json, names};
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::output::{Output, texts};
use crate::project::{Project, read_outside};
use crate::table::cell;
use clap::Args;
use entourage_bundle::materialize::OnClash;
use entourage_declare::{FILE_BYTES_MAX, Files, Format, Imported, ImportedAgent, Kind, Loaded};
use entourage_model::{Agent, Name, Place, Report, Severity};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How deep a folder is looked through.
const DEPTH_MAX: usize = 16;
/// Folders that hold other people's files.
const SKIPPED: [&str; 4] = ["node_modules", "target", ".git", ".entourage"];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage import ~/.claude/agents/reviewer.md       one agent
  entourage import ../other-project                   every agent that has a file there, in every format below
  entourage import team.yaml --from docker-agent

Imported agents are Markdown files in `.agents/agents/`, with everything that the source said; `export` writes them
back without a loss, but for the folders that an agent of stax names. A loss at import is a field that has no effect
when the agent runs here. Agents of settings files (`[subagents.ID]`) and of Standard Agents are not imported.")]
pub(crate) struct Arguments {
    /// Files, or folders to look through
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Where `.agents/agents/` is written [default: the project]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = |name: &str| format_named(name, Format::is_imported),
        help = format!("The format of the files, if it cannot be guessed: {}", names(Format::is_imported).join(", ")),
    )]
    from: Option<Format>,
}

pub(crate) fn perform(invocation: &Invocation, arguments: &Arguments) -> Result<(), Failure> {
    let mut found = Vec::new();
    for path in &arguments.paths {
        for (shown, file) in sources(path)? {
            found.push((read(&shown, &file, arguments.from)?, shown));
        }
    }
    let (mut refused, warnings): (Vec<_>, Vec<_>) = found
        .iter()
        .flat_map(|(imported, _)| imported.reports.iter().cloned())
        .partition(|report| report.severity == Severity::Error);
    let known = invocation.settings.known_servers();
    let undeclared = found.iter().flat_map(|(imported, from)| {
        let agents = imported.agents.iter().flat_map(|agent| agent.undeclared_servers(&known));
        agents.map(move |report| report.at(Place::file(from)))
    });
    for warning in warnings.into_iter().chain(undeclared) {
        invocation.screen.report(&warning);
    }
    refused.extend(clashes(invocation, arguments, &found));
    if !refused.is_empty() {
        return Err(Failure { reports: refused, exit: Exit::Usage });
    }
    let agents: Vec<_> = found.iter().flat_map(|(imported, _)| &imported.agents).collect();
    if agents.is_empty() {
        let report = Report::error("C031", "there is no agent in what was to be imported");
        return Err(Failure::usage(report.hint("give a file that declares one, and its format by `--from FORMAT`")));
    }
    let files = texts(agents.iter().map(|agent| (agent.path.as_str(), agent.text.as_str())));
    Output::open(arguments.out.as_deref(), &invocation.project)?.write(&files, OnClash::Refuse)?;
    tell(invocation, &found, &agents);
    Ok(())
}

fn read(shown: &str, file: &Path, from: Option<Format>) -> Result<Imported, Failure> {
    let bytes = read_outside(file, FILE_BYTES_MAX).map_err(|fault| unreadable(shown, &fault))?;
    let beside = named_from(file).and_then(|folder| Project::open(Some(&folder), None).ok());
    let beside = beside.as_ref().map(|folder| folder as &dyn Files);
    // A path that begins below the folder that tells the format does not show it.
    let by_place =
        || entourage_declare::declared_as(&whole(file)).filter(|_| entourage_declare::declared_as(shown).is_none());
    Ok(entourage_declare::import_beside(shown, &bytes, from.or_else(by_place), beside))
}

/// The folder that paths in a file begin at: the one that it lies in. AgentScope's begin at the project.
fn named_from(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?;
    let folder = folder.canonicalize().ok()?;
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    let is_subagents = folder.file_name().is_some_and(|name| name == "subagents");
    if is_markdown && is_subagents { folder.parent().map(Path::to_owned) } else { Some(folder) }
}

/// The files that `path` stands for, each as people know it.
fn sources(path: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let shown = path.display().to_string();
    if !path.is_dir() {
        return Ok(vec![(shown, path.to_owned())]);
    }
    let folder = Project::open(Some(path), None)?;
    let mut files = Vec::new();
    walk(&folder, "", DEPTH_MAX, &mut files).map_err(|fault| unreadable(&shown, &fault))?;
    let files = entourage_declare::declared_in(&whole(path), &folder, files);
    if files.is_empty() {
        let report = Report::error("C031", format!("`{shown}` declares no agent in any format that can be imported"));
        return Err(Failure::usage(report.hint("give the file itself, and its format by `--from FORMAT`")));
    }
    Ok(files.into_iter().map(|file| (format!("{}/{file}", shown.trim_end_matches('/')), path.join(file))).collect())
}

/// A path from the root on: where a file lies tells what it is, and `.` says nothing of that.
fn whole(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The files below a folder. Links are not followed.
fn walk(root: &Project, folder: &str, depth_left: usize, found: &mut Vec<String>) -> std::io::Result<()> {
    for (name, kind) in root.entries(folder)? {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match kind {
            Kind::File => found.push(path),
            Kind::Folder if depth_left > 0 && !SKIPPED.contains(&name.as_str()) => {
                walk(root, &path, depth_left - 1, found)?;
            }
            Kind::Folder | Kind::Link | Kind::Other => {}
        }
    }
    Ok(())
}

/// A name that is taken, here or twice among what is imported, would hide an agent.
fn clashes(invocation: &Invocation, arguments: &Arguments, found: &[(Imported, String)]) -> Vec<Report> {
    let Loaded { team, broken, .. } = invocation.declared();
    let owner = |agent: &Agent| match &agent.source.file {
        // What is written elsewhere meets the agents that are everywhere.
        Some(_) if arguments.out.is_some() => None,
        Some(file) => Some(format!("`{file}`")),
        None => Some("a built-in agent".to_owned()),
    };
    let mut taken: BTreeMap<_, _> =
        team.agents.values().filter_map(|agent| Some((agent.name.clone(), owner(agent)?))).collect();
    if arguments.out.is_none() {
        taken.extend(broken.into_iter().map(|(name, file)| (name, format!("`{file}`, which is broken"))));
    }
    let mut files: BTreeMap<String, &Name> = BTreeMap::new();
    let mut reports = Vec::new();
    for (agent, from) in
        found.iter().flat_map(|(imported, from)| imported.agents.iter().map(move |agent| (agent, from)))
    {
        if let Some(other) = taken.insert(agent.name.clone(), format!("`{from}`")) {
            let what = format!("the name `{}` is taken already, by {other}", agent.name);
            let report = Report::error("C032", what).at(Place::file(from));
            reports.push(report.hint("rename one of them; nothing was imported"));
        } else if let Some(other) = files.insert(agent.path.to_lowercase(), &agent.name) {
            let what = format!("agents `{other}` and `{}` would both be kept in `{}`", agent.name, agent.path);
            let report = Report::error("C032", what).at(Place::file(from));
            reports.push(report.hint("rename one of them; nothing was imported"));
        }
    }
    reports
}

fn tell(invocation: &Invocation, found: &[(Imported, String)], agents: &[&ImportedAgent]) {
    let losses: Vec<_> = found.iter().flat_map(|(imported, _)| imported.losses.iter().cloned()).collect();
    if invocation.is_json() {
        let agents: Vec<_> = agents
            .iter()
            .map(|agent| json!({ "name": agent.name, "format": agent.format.name(), "file": agent.path }))
            .collect();
        return invocation.screen.json(&json!({ "agents": agents, "losses": losses_json(&losses) }));
    }
    let lines: Vec<_> =
        agents.iter().map(|agent| cell(&format!("{} ({}) → {}", agent.name, agent.format, agent.path))).collect();
    invocation.screen.data(&lines.join("\n"));
    describe_losses(invocation, &losses, "has no effect here; it is kept");
}

fn unreadable(shown: &str, fault: &std::io::Error) -> Failure {
    let report = Report::error("C033", format!("`{shown}` cannot be read: {fault}")).at(Place::file(shown));
    Failure::new(Exit::File, report.hint("check that it is there and that you may read it"))
}
