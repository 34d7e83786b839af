//! `entourage export`: this project's agents as another harness's files, and what is lost is said.

use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::output::{Output, texts};
use clap::Args;
use entourage_bundle::materialize::OnClash;
use entourage_declare::{Format, Loss};
use entourage_model::{Name, Report, Team, nearest};
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
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = format_named)]
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

/// What `--to` and `--from` take.
pub(super) fn format_named(name: &str) -> Result<Format, String> {
    Format::of_name(name).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        let meant = nearest(name, names.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
        format!("the formats are {}{}", names.join(", "), meant.unwrap_or_default())
    })
}

pub(crate) fn perform(invocation: &Invocation, arguments: &Arguments) -> Result<(), Failure> {
    let team = invocation.declared().team;
    let names = chosen(&team, &arguments.agents)?;
    let written = entourage_declare::export(&team, &names, arguments.to)
        .map_err(|reports| Failure { reports, exit: Exit::Usage })?;
    let files = texts(written.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let on_clash = if arguments.force { OnClash::Overwrite } else { OnClash::Refuse };
    Output::open(arguments.out.as_deref(), &invocation.project)?.write(&files, on_clash)?;
    if invocation.is_json() {
        let format = arguments.to.name();
        let agents: Vec<_> =
            written.agents.iter().map(|(name, file)| json!({ "name": name, "format": format, "file": file })).collect();
        invocation.screen.json(&json!({ "agents": agents, "losses": losses_json(&written.losses) }));
    } else {
        let lines: Vec<_> = written.agents.iter().map(|(name, file)| format!("{name} → {file}")).collect();
        invocation.screen.data(&lines.join("\n"));
        describe_losses(invocation, &written.losses, &format!("has no word in {} and is lost", arguments.to));
    }
    Ok(())
}

/// The agents that were named, or everything that the project itself declares.
fn chosen(team: &Team, wanted: &[String]) -> Result<Vec<Name>, Failure> {
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
            None => {
                let meant = nearest(name, team.agents.keys().map(Name::as_str));
                let hint = meant.map(|name| format!("did you mean `{name}`?"));
                reports.push(Report { hint, ..Report::error("C010", format!("there is no agent `{name}`")) });
            }
        }
    }
    if reports.is_empty() { Ok(names) } else { Err(Failure { reports, exit: Exit::Usage }) }
}

pub(super) fn losses_json(losses: &[Loss]) -> Vec<Value> {
    losses.iter().map(|loss| json!({ "agent": loss.agent, "field": loss.field })).collect()
}

pub(super) fn describe_losses(invocation: &Invocation, losses: &[Loss], fate: &str) {
    for Loss { agent, field } in losses {
        invocation.screen.note(&format!("`{field}` of `{agent}` {fate}"));
    }
}
