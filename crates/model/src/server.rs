//! MCP servers, whose tools agents may call: what a prompt says of them, how they are reached, and what their tools are
//! called.

use crate::{Digest, Name, Secret, ToolSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What every model provider takes as a tool's name.
const NAME_BYTES_MAX: usize = 64;
/// A server's name leaves room for its tools'.
const SERVER_BYTES_MAX: usize = 30;
/// What the names of all tools of servers begin with.
const PREFIX: &str = "mcp__";
/// What stands for every tool of a server.
const ALL: &str = "*";

/// A server that a prompt uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    #[serde(flatten)]
    pub key: ServerKey,
    /// The prompt names it: without it nobody is asked. Otherwise it came with the toolkit, and is done without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// Who declares a server, and how it is called there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerKey {
    /// As it stands in the names of its tools.
    pub name: Name,
    /// The agent whose declaration brings it. Absent: the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Name>,
}

impl ServerKey {
    /// A server of the settings.
    pub fn settled(name: &str) -> Self {
        Self { name: server_name(name), agent: None }
    }

    /// A server that an agent's own declaration brings.
    pub fn of_agent(agent: &Name, name: &str) -> Self {
        Self { name: server_name(name), agent: Some(agent.clone()) }
    }
}

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())
    }
}

/// How a server is reached. It is never stored with agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    Command { command: String, args: Vec<String>, env: BTreeMap<String, ServerValue> },
    Url { url: String, headers: BTreeMap<String, ServerValue> },
}

/// What a server is given as a variable or a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerValue {
    /// As it is: nothing is read in it.
    Plain(Secret),
    /// `${NAME}` in it is read from the environment when the server is started.
    Template(Secret),
    /// A secret that its declaration only names, and that the environment holds as `variable`. One that is not required
    /// may be absent; the server does without it then.
    Wanted { secret: String, variable: String, required: bool },
}

impl ServerAddress {
    /// Every value that the server is given.
    pub fn values(&self) -> impl Iterator<Item = &ServerValue> {
        match self {
            Self::Command { env, .. } => env.values(),
            Self::Url { headers, .. } => headers.values(),
        }
    }
}

impl ServerValue {
    /// Whether something of the user's environment would be in it.
    pub fn reads_environment(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Template(text) => text.reveal().contains("${"),
            Self::Wanted { .. } => true,
        }
    }
}

/// What this process knows of servers at the moment.
pub trait Served: Send + Sync + fmt::Debug {
    /// The tools that the server has, as far as is known.
    fn tools(&self, server: &ServerKey) -> Option<Arc<BTreeMap<Name, Arc<ToolSpec>>>>;

    /// Why the server cannot be used right now. Nothing if it can, or nobody has tried.
    fn fault(&self, server: &ServerKey) -> Option<String>;
}

/// Nobody serves anything.
#[derive(Clone, Copy, Debug)]
pub struct Unserved;

impl Served for Unserved {
    fn tools(&self, _server: &ServerKey) -> Option<Arc<BTreeMap<Name, Arc<ToolSpec>>>> {
        None
    }

    fn fault(&self, _server: &ServerKey) -> Option<String> {
        None
    }
}

/// A server's name as it stands in the names of its tools: it ends where two underscores follow.
pub fn server_name(name: &str) -> Name {
    let mut plain = plain(name);
    while plain.contains("__") {
        plain = plain.replace("__", "_");
    }
    let plain = plain.trim_matches('_');
    if plain.len() <= SERVER_BYTES_MAX { Name::from(plain) } else { cut(plain, name, SERVER_BYTES_MAX) }
}

/// What a model calls a server's tool.
pub fn server_tool(server: &Name, tool: &str) -> Name {
    let whole = format!("{PREFIX}{server}__{}", plain(tool));
    if whole.len() <= NAME_BYTES_MAX { Name::from(whole) } else { marked(&whole, tool) }
}

/// The same for a tool whose plain name another one has already.
pub fn server_tool_again(server: &Name, tool: &str) -> Name {
    marked(&format!("{PREFIX}{server}__{}", plain(tool)), tool)
}

/// What stands for every tool of a server in a list of tools.
pub fn server_tools(server: &Name) -> Name {
    Name::from(format!("{PREFIX}{server}__{ALL}"))
}

/// The server that a name in a list of tools is about.
pub fn server_of(tool: &str) -> Option<&str> {
    tool.strip_prefix(PREFIX)?.split_once("__").map(|(server, _)| server)
}

/// Whether a name in a list of tools means this tool.
pub fn means_tool(listed: &Name, tool: &Name) -> bool {
    listed == tool
        || listed.as_str().strip_suffix(ALL).is_some_and(|head| {
            server_of(listed.as_str()).is_some() && tool.as_str().len() > head.len() && tool.as_str().starts_with(head)
        })
}

fn plain(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }).collect()
}

fn marked(whole: &str, tool: &str) -> Name {
    cut(whole, tool, NAME_BYTES_MAX)
}

/// As much of a plain name as fits, with a mark that depends on all of what it stands for.
fn cut(plain: &str, meant: &str, bytes_max: usize) -> Name {
    let digest = Digest::of(meant.as_bytes()).to_string();
    let mark: String = digest.chars().skip("sha256:".len()).take(8).collect();
    let head = plain.get(..bytes_max - mark.len() - 1).unwrap_or(plain);
    Name::from(format!("{head}_{mark}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_have_names_that_every_provider_takes() {
        for (server, tool, expected) in [
            ("files", "read", "mcp__files__read"),
            ("my files", "read.all/of it", "mcp__my_files__read_all_of_it"),
            ("a__b", "c__d", "mcp__a_b__c__d"),
            ("_x_", "é", "mcp__x___"),
        ] {
            assert_eq!(server_tool(&server_name(server), tool).as_str(), expected);
        }
        let long = server_tool(&server_name("files"), &"x".repeat(200));
        assert_eq!(long.as_str().len(), NAME_BYTES_MAX);
        assert_ne!(long, server_tool(&server_name("files"), &"x".repeat(201)));
    }

    #[test]
    fn a_listed_name_means_a_tool_or_all_of_a_server() {
        let means = |listed: &str, tool: &str| means_tool(&Name::from(listed), &Name::from(tool));
        assert!(means("mcp__files__*", "mcp__files__read"));
        assert!(means("mcp__files__read", "mcp__files__read"));
        assert!(means("read_file", "read_file"));
        assert!(!means("mcp__files__*", "mcp__files2__read"));
        assert!(!means("mcp__files__*", "mcp__files__"));
        assert!(!means("*", "read_file"));
        assert_eq!(server_of("mcp__files__read__all"), Some("files"));
        assert_eq!(server_of("read_file"), None);
    }
}
