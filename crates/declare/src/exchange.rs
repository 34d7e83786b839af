//! Other harnesses' files: one in, as the neutral file that a project keeps; agents out, in any format.
//!
//! A format's module has three functions side by side: `read` takes a whole file, `reread` takes what an agent keeps
//! of its declaration under `x-<format>`, and `write` gives the files of a format. What does not survive is named, by
//! the key that the source has for it.

mod beside;
mod claude_code;
mod codex;
mod companions;
mod cursor;
mod delegate;
mod docker_agent;
mod entries;
mod gemini;
mod generic;
mod github_copilot;
mod goose;
mod kept;
mod keys;
mod loss;
mod models;
mod naming;
mod neutral;
mod openclaw;
mod opencode;
mod page;
mod servers;
mod sniff;
mod standard_agents;
mod strict;
mod toolsets;
pub(crate) mod vocabulary;
mod windsurf;

use crate::check::undeclared_here;
use crate::faults::{Faults, did_you_mean, quoted};
use crate::files::{self, Files, MemoryFiles};
use crate::solo::{Server, Solo};
use crate::tree::{Node, Spot};
use crate::{Format, agentscope, dex, stax};
use delegate::Beyonds;
use entourage_model::{Agent, Name, Part, Report, ServerKey, Team};
use serde_json::Value;

pub use delegate::{delegate, model_keys};
pub(crate) use entries::rest;
pub(crate) use keys::{complete, said, without_nulls};
pub(crate) use loss::Record;
pub(crate) use models::{REFERENCES as PROVIDERS, stax_model};
pub(crate) use naming::{file_stem, slug};
pub(crate) use neutral::read as read_neutral;
pub use page::page;
pub(crate) use page::yaml_text;
pub use sniff::{declared_as, declared_in};

/// A field of a declaration that did not survive, as the source spells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// By its name in the source.
    pub agent: String,
    /// Nested as `a.b`.
    pub field: String,
}

/// Agents in a format's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Paths relative to the folder that they are written to, and texts.
    pub files: Vec<(String, String)>,
    /// Each agent's name in the target, and the file that it is in.
    pub agents: Vec<(String, String)>,
    pub losses: Vec<Loss>,
}

/// What a file of any format held.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    pub agents: Vec<ImportedAgent>,
    /// Keys that are kept and have no effect here.
    pub losses: Vec<Loss>,
    pub reports: Vec<Report>,
}

/// An agent as the project keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedAgent {
    pub name: Name,
    /// The source's.
    pub format: Format,
    /// Where the project keeps it, relative to the project.
    pub path: String,
    pub text: String,
    /// MCP servers that it names and does not bring, as the source spells them.
    pub servers: Vec<String>,
}

impl ImportedAgent {
    /// What is said of the servers that it names and that are not among those of the project, given as a list.
    pub fn undeclared_servers(&self, known: &[Name]) -> Vec<Report> {
        let is_known = |server: &str| known.contains(&ServerKey::settled(server).name);
        let missing = self.servers.iter().filter(|server| !is_known(server));
        missing.map(|server| undeclared_here(self.name.as_str(), server, known)).collect()
    }
}

/// Reads one file of another harness. Its format is `from`, else what its path and its text look like. Agents without
/// an error are there even if others in the same file have one.
pub fn import(path: &str, bytes: &[u8], from: Option<Format>) -> Imported {
    import_beside(path, bytes, from, None)
}

/// The same, where the file may name others: `beside` is the folder that it lies in, or, for one of AgentScope, the
/// project.
pub fn import_beside(path: &str, bytes: &[u8], from: Option<Format>, beside: Option<&dyn Files>) -> Imported {
    let mut faults = Faults::new(path);
    let found = match files::text(&MemoryFiles::from_iter([(path, bytes)]), path) {
        Ok(text) => {
            let text = text.unwrap_or_default();
            read_text(&File { path, text: &text, beside }, from, &mut faults)
        }
        Err(report) => {
            faults.reports.push(report);
            Vec::new()
        }
    };
    let mut imported = Imported { reports: faults.reports, ..Imported::default() };
    for (name, solo) in found {
        imported.losses.extend(loss::without_effect(&name, &solo));
        companions::name(&name, &solo, &mut imported.losses);
        let path = neutral::path(&name);
        let text = neutral::write(&name, &solo);
        let servers = solo.servers.iter().flat_map(|said| &said.value);
        let servers = servers.filter(|(_, server)| matches!(server, Server::Known)).map(|(name, _)| name.clone());
        let servers = servers.collect();
        imported.agents.push(ImportedAgent { name, format: solo.format, path, text, servers });
    }
    imported
}

fn read_text(file: &File<'_>, from: Option<Format>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    if from.is_none()
        && let Some(found) = kept::read(file, faults)
    {
        return found;
    }
    let mut found = match from.map_or_else(|| sniff::sniff(file), Ok) {
        Ok(format) => read(format, file, faults),
        Err(report) => {
            faults.reports.push(report);
            Vec::new()
        }
    };
    found.retain(|(name, _)| {
        let is_named = !name.as_str().trim().is_empty();
        if !is_named {
            let report = Report::error("D118", "an agent has no name: neither its file nor its key is one");
            faults.push(Spot::START, report.hint("name it"));
        }
        is_named
    });
    found
}

/// A file that a format's reader is given.
#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    /// As the caller knows it; only the file name counts.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    /// The folder that it lies in, for what it names there. Absent: it can name nothing.
    pub(crate) beside: Option<&'a dyn Files>,
}

impl File<'_> {
    /// The file's name without the first of `suffixes` that it ends in.
    pub(crate) fn stem(&self, suffixes: &[&str]) -> &str {
        let name = self.path.rsplit(['/', '\\']).next().unwrap_or(self.path);
        suffixes.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
    }
}

/// The agents of a whole file. One that has an error is left out.
fn read(format: Format, file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    match format {
        Format::ClaudeCode => claude_code::read(file, faults),
        Format::Opencode => opencode::read(file, faults),
        Format::GithubCopilot => github_copilot::read(file, faults),
        Format::Gemini => gemini::read(file, faults),
        Format::Cursor => cursor::read(file, faults),
        Format::Codex => codex::read(file, faults),
        Format::Stax => stax::import(file, faults),
        Format::StandardAgents | Format::Windsurf | Format::Openclaw | Format::Generic => {
            let report = Report::error("D112", format!("no file of `{format}` holds an agent by itself"));
            let hint = "import a file of another format; a project's own declarations are read where they are";
            faults.push(Spot::START, report.hint(hint));
            Vec::new()
        }
        Format::Goose => goose::read(file, faults),
        Format::DockerAgent => docker_agent::read(file, faults),
        Format::Dex => dex::import(file, faults),
        Format::AgentScope => agentscope::import(file, faults),
    }
}

/// An agent from what it keeps of its declaration under `x-<format>`. Absent: reported.
pub(crate) fn reread(format: Format, name: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    match format {
        Format::ClaudeCode => claude_code::reread(name, node, body, faults),
        Format::Opencode => opencode::reread(name, node, body, faults),
        Format::GithubCopilot => github_copilot::reread(name, node, body, faults),
        Format::Gemini => gemini::reread(name, node, body, faults),
        Format::Cursor => cursor::reread(name, node, body, faults),
        Format::Codex => codex::reread(name, node, body, faults),
        Format::Goose => goose::reread(name, node, body, faults),
        Format::DockerAgent => docker_agent::reread(name, node, body, faults),
        Format::Stax => stax::reread(node, body, faults),
        Format::StandardAgents | Format::Windsurf | Format::Openclaw | Format::Generic => {
            let what = format!("{} is of a format that no agent is kept in", quoted(&format.vendor_key()));
            faults.push(node.spot, Report::error("D112", what).hint("remove it"));
            None
        }
        Format::Dex => dex::reread(name, node, body, faults),
        Format::AgentScope => agentscope::reread(name, node, body, faults),
    }
}

/// The files of a format.
fn write(to: Format, agents: &[(Name, Solo)], beyonds: &Beyonds) -> Written {
    match to {
        Format::ClaudeCode => claude_code::write(agents, beyonds),
        Format::Opencode => opencode::write(agents, beyonds),
        Format::GithubCopilot => github_copilot::write(agents, beyonds),
        Format::Gemini => gemini::write(agents, beyonds),
        Format::Cursor => cursor::write(agents, beyonds),
        Format::Codex => codex::write(agents, beyonds),
        Format::Windsurf => windsurf::write(agents),
        Format::Openclaw => openclaw::write(agents),
        Format::Generic => generic::write(agents),
        Format::Goose => goose::write(agents),
        Format::DockerAgent => docker_agent::write(agents),
        Format::Dex => dex::write(agents),
        Format::AgentScope => agentscope::write(agents),
        Format::Stax => stax::write(agents),
        // Refused before it comes to this.
        Format::StandardAgents => Written::default(),
    }
}

/// The agents of `names` in the files of another format, or their own.
pub fn export(team: &Team, names: &[Name], to: Format) -> Result<Written, Vec<Report>> {
    let mut reports = Vec::new();
    if !to.is_exported() {
        let known = Format::ALL.into_iter().filter(|format| format.is_exported()).map(Format::name).collect::<Vec<_>>();
        let report = Report::error("D117", format!("agents cannot be exported to {}", quoted(to.name())));
        reports.push(report.hint(format!("the formats are {}", known.join(", "))));
    }
    let agents = solos(team, names, to, &mut reports);
    reports.extend(agents.iter().filter(|(_, solo)| lacks_prompt(to, solo)).map(|(name, _)| {
        let what = format!("agent {} has no prompt, and `{to}` refuses an agent without one", quoted(name.as_str()));
        Report::error("D120", what).hint("write what it is to do into its declaration, or export it to another format")
    }));
    let fitted = naming::fit(to, agents, &mut reports);
    if !reports.is_empty() {
        return Err(reports);
    }
    let mut written = write(to, &fitted.agents, &Beyonds::new());
    fitted.agents.iter().for_each(|(name, solo)| companions::name(name, solo, &mut written.losses));
    fitted.finish(&mut written, &mut reports);
    if reports.is_empty() { Ok(written) } else { Err(reports) }
}

/// Whether an agent that is told nothing could not be used in this format, and this one is told nothing.
pub fn needs_prompt(agent: &Agent, to: Format) -> bool {
    solo_of(agent).is_ok_and(|solo| lacks_prompt(to, &solo))
}

/// The declarations of `names`, under names that the target allows.
pub(crate) fn fitted(team: &Team, names: &[Name], to: Format) -> Result<Vec<(Name, Solo)>, Vec<Report>> {
    let mut reports = Vec::new();
    let agents = solos(team, names, to, &mut reports);
    let fitted = naming::fit(to, agents, &mut reports);
    if reports.is_empty() { Ok(fitted.agents) } else { Err(reports) }
}

/// The text that an agent is told.
pub(crate) fn prompt_of(agent: &Agent) -> String {
    text_of(agent)
}

/// Whether the target would refuse the agent because it is told nothing.
fn lacks_prompt(to: Format, solo: &Solo) -> bool {
    // What the format itself said goes back as it was.
    let is_blank = solo.format != to && solo.body.trim().is_empty();
    match to {
        Format::Codex | Format::Stax => is_blank,
        // A recipe may have nothing but its first message.
        Format::Goose => is_blank && solo.opening.as_ref().is_none_or(|said| said.value.trim().is_empty()),
        Format::StandardAgents
        | Format::Dex
        | Format::AgentScope
        | Format::ClaudeCode
        | Format::Opencode
        | Format::GithubCopilot
        | Format::Gemini
        | Format::Cursor
        | Format::DockerAgent
        | Format::Windsurf
        | Format::Openclaw
        | Format::Generic => false,
    }
}

/// The declarations of `names`. A file of Docker Agent must hold every agent that one in it calls, so that for it those
/// are there, too.
fn solos(team: &Team, names: &[Name], to: Format, reports: &mut Vec<Report>) -> Vec<(Name, Solo)> {
    let mut wanted = names.to_vec();
    let mut agents = Vec::new();
    let mut next = 0;
    while let Some(name) = wanted.get(next).cloned() {
        next += 1;
        let Some(agent) = team.agent(&name) else {
            let report = Report::error("D111", format!("there is no agent {}", quoted(name.as_str())));
            let hint = did_you_mean(name.as_str(), team.agents.keys().map(Name::as_str));
            reports.push(Report { hint, ..report });
            continue;
        };
        match solo_of(agent) {
            Ok(solo) => {
                let children = solo.children.iter().flat_map(|said| &said.value).map(|child| &child.value);
                for child in children.filter(|child| to == Format::DockerAgent && team.agent(child).is_some()) {
                    if !wanted.contains(child) {
                        wanted.push(child.clone());
                    }
                }
                agents.push((name, solo));
            }
            Err(found) => reports.extend(found),
        }
    }
    agents
}

/// The declaration that an agent was made from, as far as one side can say it.
fn solo_of(agent: &Agent) -> Result<Solo, Vec<Report>> {
    let format = Format::of_name(&agent.source.format);
    let kept = format.and_then(|format| Some((format, agent.extra.get(&format.vendor_key())?)));
    let Some((format, Value::Object(verbatim))) = kept else {
        return Ok(standard_agents::solo(agent));
    };
    let mut faults = Faults::new(agent.source.file.clone().unwrap_or_default());
    let node = Node::without_place(&Value::Object(verbatim.clone()));
    let solo = reread(format, &agent.name, &node, &text_of(agent), &mut faults);
    solo.ok_or(faults.reports)
}

/// The prompt's text; a declaration with one side has no variables in it.
fn text_of(agent: &Agent) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Env(_) | Part::Variable(_) => String::new(),
    };
    agent.side_a.prompt.instructions.0.iter().map(text).collect()
}
