//! The built-in agent `lead`: whoever declares no agent to talk to talks to it.

use crate::check::{Toolkit, settled_servers};
use crate::faults::quoted;
use crate::files::{self, Files};
use crate::format::Format;
use crate::tools::can_be_called;
use entourage_model::{Agent, ChildEntry, Kind, Name, Place, Prompt, Report, Source, Team, ToolEntry, server_tools};
use std::collections::BTreeSet;

pub(crate) const NAME: &str = "lead";

/// What a project says to whoever works on it.
const INSTRUCTIONS_FILE: &str = "AGENTS.md";

const DESCRIPTION: &str = "Leads the work in this project; comes with entourage.";

const INSTRUCTIONS: &str = "\
You lead the work in this project. Do what you are asked: look before you change anything, use your tools rather than \
guess, and say plainly what you did and what you could not do. Where another agent fits a piece of the work, give it \
that piece with everything it needs to know: it sees nothing else of this conversation.";

/// Has every tool. Other agents it starts by the dialects that it speaks; where `standard` is one of them, every exposed
/// agent and those that are `offered` are children that it waits for.
pub(crate) fn lead(
    files: &dyn Files,
    kit: Toolkit<'_>,
    team: &Team,
    offered: Option<&BTreeSet<Name>>,
    reports: &mut Vec<Report>,
) -> Agent {
    let served: Vec<_> = kit.known.servers().iter().map(server_tools).collect();
    let servers = settled_servers(served.iter());
    let own = kit.names().into_iter().chain(served).map(ToolEntry::Tool);
    let is_exposed = |agent: &Agent| agent.expose_as_tool && agent.kind == Kind::DualAi;
    let is_child = |agent: &Agent| offered.is_some_and(|offered| is_exposed(agent) || offered.contains(&agent.name));
    let children = team.agents.values().filter(|agent| is_child(agent));
    let children = children.filter(|agent| is_possible(agent, kit, reports));
    let children: Vec<_> = children.map(|agent| ToolEntry::Child(ChildEntry::blocking(agent.name.clone()))).collect();
    let mut prompt = Prompt::new(Name::from(NAME), instructions(files, reports));
    prompt.tools = own.chain(children).collect();
    prompt.servers = servers;
    let source = Source { format: Format::StandardAgents.name().to_owned(), file: None };
    Agent::one_sided(Name::from(NAME), DESCRIPTION, prompt, source)
}

/// A child is called by its name. One that had to give its name to another, as `format/name`, cannot be called, and
/// whoever wrote it was told of the clash.
fn is_possible(agent: &Agent, kit: Toolkit<'_>, reports: &mut Vec<Report>) -> bool {
    let name = agent.name.as_str();
    let reason = match () {
        () if name.strip_prefix(&agent.source.format).is_some_and(|rest| rest.starts_with('/')) => return false,
        () if !can_be_called(name) => "no tool can have this name",
        () if kit.has(&agent.name) => "a tool has this name",
        () => return true,
    };
    let report = Report::warning("D099", format!("`lead` cannot start agent {}: {reason}", quoted(name)));
    let report = report.hint("give it another name, of letters of a to z, digits, `_` and `-`");
    reports.push(match &agent.source.file {
        Some(file) => report.at(Place::at(file, 1, 1)),
        None => report,
    });
    false
}

fn instructions(files: &dyn Files, reports: &mut Vec<Report>) -> String {
    let text = main_text(files).unwrap_or_else(|report| {
        reports.push(report);
        None
    });
    text.unwrap_or_else(|| INSTRUCTIONS.to_owned())
}

/// What the project says to whoever works on it, if it says anything.
pub(crate) fn main_text(files: &dyn Files) -> Result<Option<String>, Report> {
    Ok(files::text(files, INSTRUCTIONS_FILE)?.filter(|text| !text.trim().is_empty()))
}
