//! MCP servers of this project: which of them may be used, and how they are started.

use crate::declarations;
use crate::environment;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::project::Project;
use crate::settings::{Settings, SettingsFile, Trust, untrusted};
use entourage_declare::{DeclaredServer, Loaded};
use entourage_model::{Agent, Prompt, Report, ServerAddress, ServerKey, ServerValue, Team, ToolEntry, server_of};
use entourage_outside::mcp::{Book, ServerSettings, Servers};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The report of a server that was left out.
pub(crate) const LEFT_OUT: &str = "C055";
/// The report of secrets that a server will not be sent.
const UNSENT: &str = "D133";
/// The report of a bundle's files that its agent cannot open.
const LEFT_BEHIND: &str = "D134";
/// What stands before the paths of files that are the user's own.
const HOME: &str = "~/";

/// Takes away what starts commands or reads the environment for a project that nobody trusts: agents that name them do
/// without. What was left out of the settings has been told of there.
pub(crate) fn distrust(
    loaded: &mut Loaded,
    project: &Project,
    settled: &BTreeSet<ServerKey>,
    trust: impl Fn(&Agent) -> Trust,
) {
    let team = &mut loaded.team;
    settled.iter().for_each(|server| leave_out(team, server));
    let is_trusted = |server: &DeclaredServer| {
        let agent = server.key.agent.as_ref().and_then(|name| team.agents.get(name));
        let does_harm = match &server.address {
            ServerAddress::Command { .. } => true,
            ServerAddress::Url { headers, .. } => headers.values().any(ServerValue::reads_environment),
        };
        let is_users = server.place.file.starts_with(HOME);
        !does_harm || is_users || agent.is_some_and(|agent| trust(agent) == Trust::User)
    };
    let (kept, left_out): (Vec<_>, Vec<_>) = std::mem::take(&mut loaded.servers).into_iter().partition(is_trusted);
    loaded.servers = kept;
    for server in left_out {
        let Some(name) = &server.key.agent else { continue };
        leave_out(team, &server.key);
        let what = format!("the MCP server `{}` of agent `{name}`", server.key);
        loaded.reports.push(untrusted(&what, server.place).hint(project.trust_hint()));
    }
}

/// Takes a server and its tools from every prompt that has it.
fn leave_out(team: &mut Team, server: &ServerKey) {
    let strip = |prompt: &mut Prompt| {
        if !prompt.servers.iter().any(|entry| entry.key == *server) {
            return;
        }
        prompt.servers.retain(|entry| entry.key != *server);
        let is_its = |entry: &ToolEntry| server_of(entry.name().as_str()) == Some(server.name.as_str());
        prompt.tools.retain(|entry| !is_its(entry));
    };
    for agent in team.agents.values_mut() {
        let agent = Arc::make_mut(agent);
        strip(&mut agent.side_a.prompt);
        agent.side_b.iter_mut().for_each(|side| strip(&mut side.prompt));
    }
    team.prompts.values_mut().for_each(|prompt| strip(Arc::make_mut(prompt)));
}

/// Those that may be used in this process, none of them started.
pub(crate) fn open(invocation: &Invocation) -> Result<Servers, Failure> {
    let project = invocation.project.again()?;
    let (settings, files) = (invocation.settings.clone(), invocation.settings_files.clone());
    let folder = std::path::absolute(&invocation.project.root).unwrap_or_else(|_| invocation.project.root.clone());
    let book = move || book(&project, &settings, &files);
    Ok(Servers::new(ServerSettings::new(folder, environment::variable), book))
}

/// How those are reached.
pub(crate) fn book(project: &Project, settings: &Settings, files: &[SettingsFile]) -> Book {
    let declared = declarations::load(project, settings, files).servers;
    let declared = declared.into_iter().map(|server| (server.key, server.address));
    settings.servers.clone().into_iter().chain(declared).collect()
}

/// Tells of servers that agents name and that were left out, or lack what they want, and of files that a bundle's agent
/// will not find: whoever runs them would wonder.
pub(crate) fn warn(invocation: &Invocation, reports: &[Report]) {
    let is_told = |report: &&Report| [LEFT_OUT, UNSENT, LEFT_BEHIND].contains(&report.code.0);
    reports.iter().filter(is_told).for_each(|report| invocation.screen.report(report));
}
