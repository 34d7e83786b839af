//! `entourage export`: this project's agents as another harness's files, and what is lost is said.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::output::{Output, texts};
use crate::settings::Trust;
use crate::table::cell;
use crate::{definition_folder, remote_agent};
use clap::Args;
use entourage_bundle::materialize::OnClash;
use entourage_declare::{Format, Loaded, Loss};
use entourage_model::{Agent, Name, Report, Severity, Team, nearest};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage export --to claude-code                   every declared agent, into .claude/agents
  entourage export --to codex --out ../other reviewer

Each field that the target has no word for is named. A file that is there already and differs is not overwritten,
unless `--force` is given.")]
pub(crate) struct Arguments {
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = |name: &str| format_named(name, Format::is_exported),
        help = format!("The format to write: {}", names(Format::is_exported).join(", ")),
    )]
    to: Format,
    /// Where the target's folders are written [default: the project]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite files that are there already
    #[arg(long)]
    force: bool,
    /// Only these agents [default: every declared one]
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
}

/// What `--to` and `--from` take. Only the formats that are meant are named; why another one is refused is told later.
pub(super) fn format_named(name: &str, is_meant: fn(Format) -> bool) -> Result<Format, String> {
    Format::of_name(name).ok_or_else(|| {
        let names = names(is_meant);
        let meant = nearest(name, names.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
        format!("the formats are {}{}", names.join(", "), meant.unwrap_or_default())
    })
}

/// The names of the formats that are meant.
pub(super) fn names(is_meant: fn(Format) -> bool) -> Vec<&'static str> {
    Format::ALL.into_iter().filter(|format| is_meant(*format)).map(Format::name).collect()
}

pub(crate) fn perform(invocation: &Invocation, arguments: &Arguments) -> Result<(), Failure> {
    let Loaded { team, reports, .. } = declared(invocation, arguments.to);
    let broken: Vec<_> = reports.into_iter().filter(|report| report.severity == Severity::Error).collect();
    if arguments.agents.is_empty() {
        // What is written may not be all that there was meant to be.
        broken.iter().for_each(|report| invocation.screen.report(report));
    }
    let names = chosen(&team, &arguments.agents, &broken)?;
    let (names, left_out) = split(invocation, &team, names, arguments)?;
    let mut written = entourage_declare::export(&team, &names, arguments.to)
        .map_err(|reports| Failure { reports, exit: Exit::Usage })?;
    written.losses.extend(left_out);
    let files = texts(written.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let on_clash = if arguments.force { OnClash::Overwrite } else { OnClash::Refuse };
    Output::open(arguments.out.as_deref(), &invocation.project)?.write(&files, on_clash)?;
    if invocation.is_json() {
        let format = arguments.to.name();
        let agents: Vec<_> =
            written.agents.iter().map(|(name, file)| json!({ "name": name, "format": format, "file": file })).collect();
        invocation.screen.json(&json!({ "agents": agents, "losses": losses_json(&written.losses) }));
    } else {
        let lines: Vec<_> = written.agents.iter().map(|(name, file)| cell(&format!("{name} → {file}"))).collect();
        invocation.screen.data(&lines.join("\n"));
        describe_losses(invocation, &written.losses, &format!("has no word in {} and is lost", arguments.to));
    }
    Ok(())
}

/// What the project declares. Only AgentScope has a word for a folder that defines an agent; for others the folder's
/// prompt is the agent's own.
fn declared(invocation: &Invocation, to: Format) -> Loaded {
    let mut loaded = invocation.declared();
    if to != Format::AgentScope {
        definition_folder::read_prompts(&mut loaded, &invocation.project, |_| Trust::Nobody);
    }
    loaded
}

/// The agents that were named, or everything that the project itself declares.
fn chosen(team: &Team, wanted: &[String], broken: &[Report]) -> Result<Vec<Name>, Failure> {
    if wanted.is_empty() {
        let own: Vec<_> = team.agents.values().filter(|agent| agent.source.file.is_some()).collect();
        if own.is_empty() {
            let report = Report::error("C034", "this project declares no agent");
            return Err(Failure::usage(
                report.hint("`entourage init` starts a project, `entourage import` brings agents in"),
            ));
        }
        return Ok(own.into_iter().map(|agent| agent.name.clone()).collect());
    }
    let mut reports = Vec::new();
    let mut names = Vec::new();
    for name in wanted {
        match team.agents.get_key_value(name.as_str()) {
            Some((name, _)) => names.push(name.clone()),
            None => reports.extend(absent(team, name, broken)),
        }
    }
    if reports.is_empty() { Ok(names) } else { Err(Failure { reports, exit: Exit::Usage }) }
}

/// Why an agent is not there: the faults of its file, if it has one.
fn absent(team: &Team, name: &str, broken: &[Report]) -> Vec<Report> {
    let is_its = |report: &&Report| report.place.as_ref().is_some_and(|place| is_named(&place.file, name));
    let faults: Vec<_> = broken.iter().filter(is_its).cloned().collect();
    if !faults.is_empty() {
        return faults;
    }
    let meant = nearest(name, team.agents.keys().map(Name::as_str)).map(|name| format!("did you mean `{name}`?"));
    let broken = (!broken.is_empty()).then(|| "some declarations are broken: `entourage check` shows them".to_owned());
    vec![Report { hint: meant.or(broken), ..Report::error("C010", format!("there is no agent `{name}`")) }]
}

/// Whether a file is called as an agent is.
fn is_named(file: &str, agent: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_prefix(agent).is_some_and(|ending| ending.starts_with('.'))
}

/// Those that can be exported, and what is lost of the others: an agent that runs elsewhere has no text here, and some
/// formats take none without. One that was asked for by name is refused.
fn split(
    invocation: &Invocation,
    team: &Team,
    names: Vec<Name>,
    arguments: &Arguments,
) -> Result<(Vec<Name>, Vec<Loss>), Failure> {
    let to = arguments.to;
    let is_elsewhere = |agent: &Agent| agent.remote.is_some() && entourage_declare::needs_prompt(agent, to);
    let agent = |name: &Name| team.agent(name).filter(|agent| is_elsewhere(agent));
    let reports = names.iter().filter_map(agent).map(|agent| {
        let what = format!("agent `{}` runs on another server, and `{to}` takes no agent without a prompt", agent.name);
        let place = remote_agent::place(&invocation.settings_files, agent);
        let hint = "declare it there by the means of that harness, or export it to another format";
        let report =
            if arguments.agents.is_empty() { Report::warning("B089", what) } else { Report::error("B089", what) };
        report.at(place).hint(hint)
    });
    let reports: Vec<_> = reports.collect();
    if !arguments.agents.is_empty() && !reports.is_empty() {
        return Err(Failure { reports, exit: Exit::Usage });
    }
    reports.iter().for_each(|report| invocation.screen.report(report));
    let (elsewhere, here): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| agent(name).is_some());
    let losses = elsewhere.into_iter().map(|agent| Loss { agent: agent.to_string(), field: "url".to_owned() });
    Ok((here, losses.collect()))
}

pub(super) fn losses_json(losses: &[Loss]) -> Vec<Value> {
    losses.iter().map(|loss| json!({ "agent": loss.agent, "field": loss.field })).collect()
}

pub(super) fn describe_losses(invocation: &Invocation, losses: &[Loss], fate: &str) {
    for Loss { agent, field } in losses {
        invocation.screen.note(&cell(&format!("`{field}` of `{agent}` {fate}")));
    }
}
