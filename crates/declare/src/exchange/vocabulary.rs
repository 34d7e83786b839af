//! What each harness calls its tools, and the same list in another's words.

mod words;

use crate::Format;
use crate::tree::At;
use entourage_model::Name;
use std::collections::BTreeSet;

use Work::*;
use words::{OURS, words};

/// What a tool does, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    ReadFile,
    ListFiles,
    FindFiles,
    GrepFiles,
    WriteFile,
    EditFile,
    Shell,
    WebFetch,
    WebSearch,
    Todo,
    /// Starting other agents.
    Agent,
    Skill,
    /// Asking the user.
    Ask,
    Notebook,
    Memory,
    Think,
    LanguageServer,
}

impl Work {
    /// Our tool that does it. Absent: we have none.
    pub(crate) fn our_tool(self) -> Option<&'static str> {
        match self {
            ReadFile => Some("read_file"),
            ListFiles => Some("list_files"),
            FindFiles => Some("find_files"),
            GrepFiles => Some("grep_files"),
            WriteFile => Some("write_file"),
            EditFile => Some("edit_file"),
            Shell => Some("shell"),
            WebFetch | WebSearch | Todo | Agent | Skill | Ask | Notebook | Memory | Think | LanguageServer => None,
        }
    }

    fn changes_something(self) -> bool {
        match self {
            WriteFile | EditFile | Shell | Notebook => true,
            ReadFile | ListFiles | FindFiles | GrepFiles | WebFetch | WebSearch | Todo | Agent | Skill | Ask
            | Memory | Think | LanguageServer => false,
        }
    }
}

/// What one entry of a list of tools allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    Works(&'static [Work]),
    /// Starting these agents only.
    Agents(Vec<Name>),
    /// Tools of MCP servers; of any server, and any tool, if none is said.
    Server {
        server: Option<String>,
        tool: Option<String>,
    },
    Everything,
    /// Something that only its own harness knows.
    Unknown,
}

/// What `entry` allows in a list of `format`.
pub(crate) fn grant(format: Format, entry: &str) -> Grant {
    if let Some(works) = find(format, entry) {
        return Grant::Works(works);
    }
    match format {
        Format::ClaudeCode => claude_code_grant(entry),
        Format::Gemini => gemini_grant(entry),
        Format::GithubCopilot => github_copilot_grant(entry),
        Format::StandardAgents | Format::Stax | Format::AgentScope | Format::Generic | Format::Dex => {
            // Whoever writes for no harness in particular uses the words of the one he knows.
            [Format::ClaudeCode, Format::Dex, Format::Gemini, Format::Opencode]
                .iter()
                .find_map(|other| find(*other, entry))
                .map_or_else(|| claude_code_grant(entry), Grant::Works)
        }
        Format::Opencode => opencode_grant(entry),
        // Their lists have servers beside tools; a reader says those in these words.
        Format::DockerAgent | Format::Goose if entry.starts_with("mcp__") => claude_code_grant(entry),
        Format::DockerAgent | Format::Goose | Format::Openclaw | Format::Codex | Format::Cursor | Format::Windsurf => {
            Grant::Unknown
        }
    }
}

fn find(format: Format, entry: &str) -> Option<&'static [Work]> {
    let is_case_free = format == Format::GithubCopilot;
    let same = |word: &str| word == entry || (is_case_free && word.eq_ignore_ascii_case(entry));
    words(format).iter().find(|(word, _)| same(word)).map(|(_, works)| *works)
}

fn claude_code_grant(entry: &str) -> Grant {
    if let Some(rest) = entry.strip_prefix("mcp__") {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
        return server_grant(server, tool);
    }
    let limited = entry.strip_suffix(')').and_then(|entry| entry.split_once('('));
    match limited {
        Some(("Agent" | "Task", agents)) => {
            let names = agents.split(',').map(str::trim).filter(|name| !name.is_empty());
            Grant::Agents(names.map(Name::from).collect())
        }
        _ if entry == "*" => Grant::Everything,
        _ => Grant::Unknown,
    }
}

fn gemini_grant(entry: &str) -> Grant {
    match entry.strip_prefix("mcp_") {
        Some("*") => Grant::Server { server: None, tool: None },
        // The server's own name may have an underscore; the harness, too, takes the first for the end.
        Some(rest) => match rest.split_once('_') {
            Some((server, tool)) => server_grant(server, tool),
            None => Grant::Unknown,
        },
        None if entry == "*" => Grant::Everything,
        None => Grant::Unknown,
    }
}

fn github_copilot_grant(entry: &str) -> Grant {
    match entry.split_once('/') {
        Some(("execute" | "read" | "edit" | "search" | "web" | "agent" | "todo" | "vscode", _)) => Grant::Unknown,
        Some((server, tool)) => server_grant(server, tool),
        None if entry == "*" => Grant::Everything,
        None => Grant::Unknown,
    }
}

/// A single tool of a server looks like any other.
fn opencode_grant(entry: &str) -> Grant {
    match entry.strip_suffix("_*") {
        Some(server) => server_grant(server, "*"),
        None if entry == "*" => Grant::Everything,
        None => Grant::Unknown,
    }
}

fn server_grant(server: &str, tool: &str) -> Grant {
    let said = |text: &str| (text != "*" && !text.is_empty()).then(|| text.to_owned());
    Grant::Server { server: said(server), tool: said(tool) }
}

/// A list of tools in another harness's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Translated {
    pub(crate) names: Vec<String>,
    /// Whether the list allows just what the source's does.
    pub(crate) exact: bool,
    /// Whether the source allows everything by name.
    pub(crate) everything: bool,
}

/// Entries without a word in the target are left out. A word that stands for more than was meant is taken, since its
/// tools are of a kind; the list is then not exact.
pub(crate) fn translate(list: &[At<String>], from: Format, to: Format) -> Translated {
    let mut translated = Translated { exact: true, ..Translated::default() };
    let (mut meant, mut written) = (BTreeSet::<Work>::new(), BTreeSet::<Work>::new());
    for entry in list {
        match grant(from, &entry.value) {
            Grant::Works(works) => {
                meant.extend(works);
                let found = works.iter().map(|work| words(to).iter().find(|(_, works)| works.contains(work)));
                for (word, works) in found.flatten() {
                    written.extend(*works);
                    translated.add((*word).to_owned());
                }
            }
            Grant::Agents(names) if to == Format::ClaudeCode => translated.add(format!("Agent({})", joined(&names))),
            Grant::Server { server, tool } => match server_word(to, server.as_deref(), tool.as_deref()) {
                Some(word) => translated.add(word),
                None => translated.exact = false,
            },
            Grant::Everything => translated.everything = true,
            Grant::Agents(_) | Grant::Unknown => translated.exact = false,
        }
    }
    translated.exact &= meant == written;
    translated
}

impl Translated {
    fn add(&mut self, name: String) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

fn joined(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

fn server_word(to: Format, server: Option<&str>, tool: Option<&str>) -> Option<String> {
    let tool = tool.unwrap_or("*");
    match to {
        Format::ClaudeCode | Format::StandardAgents | Format::Stax | Format::AgentScope | Format::Generic => {
            Some(format!("mcp__{}__{tool}", server?))
        }
        Format::Gemini => match server {
            Some(server) if !server.contains('_') => Some(format!("mcp_{server}_{tool}")),
            Some(_) => None,
            None => Some("mcp_*".to_owned()),
        },
        Format::GithubCopilot => Some(format!("{}/{tool}", server?)),
        Format::Opencode => Some(format!("{}_{tool}", server?)),
        Format::Dex
        | Format::Codex
        | Format::Cursor
        | Format::Goose
        | Format::DockerAgent
        | Format::Windsurf
        | Format::Openclaw => None,
    }
}

/// Our tools that an entry of a list allows or denies. Absent: nobody knows what it means.
pub(crate) fn our_tools(format: Format, entry: &str) -> Option<Vec<&'static str>> {
    match grant(format, entry) {
        Grant::Works(works) => Some(works.iter().filter_map(|work| work.our_tool()).collect()),
        Grant::Agents(_) | Grant::Server { .. } => Some(Vec::new()),
        Grant::Everything => {
            Some(OURS.iter().flat_map(|(_, works)| works.iter()).filter_map(|work| work.our_tool()).collect())
        }
        Grant::Unknown => None,
    }
}

/// Whether nothing in a list of allowed tools can change a file or run a command.
pub(crate) fn only_looks(list: &[At<String>], format: Format) -> bool {
    list.iter().all(|entry| match grant(format, &entry.value) {
        Grant::Works(works) => !works.iter().any(|work| work.changes_something()),
        Grant::Agents(_) | Grant::Server { .. } => true,
        Grant::Everything | Grant::Unknown => false,
    })
}

/// Whether a list of denied tools leaves none that can change a file or run a command.
pub(crate) fn denies_change(list: &[At<String>], format: Format) -> bool {
    let denied: BTreeSet<Work> = list
        .iter()
        .flat_map(|entry| match grant(format, &entry.value) {
            Grant::Works(works) => works,
            Grant::Agents(_) | Grant::Server { .. } | Grant::Everything | Grant::Unknown => &[],
        })
        .copied()
        .collect();
    [WriteFile, EditFile, Shell].iter().all(|work| denied.contains(work))
}
