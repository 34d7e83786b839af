//! The MCP servers that a declaration with one side uses: its own and those of the settings, and which of their tools.

use super::cast::Role;
use super::toolkit::Toolkit;
use crate::exchange::vocabulary::{self, Grant};
use crate::faults::{meant_or, quoted};
use crate::format::Format;
use crate::solo::{Said, Server, ServerSecret, Solo};
use crate::tree::At;
use entourage_model::{
    Name, Place, Report, Secret, ServerAddress, ServerEntry, ServerKey, ServerValue, Severity, means_tool, server_name,
    server_of, server_tool, server_tools,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How entries of servers call the list of the only tools that there are, and the one of those that there are not.
const ONLY: [&str; 4] = ["enabledTools", "enabled_tools", "include_tools", "tools"];
const NEVER: [&str; 3] = ["disabledTools", "disabled_tools", "exclude_tools"];

/// A server that an agent's declaration brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredServer {
    pub key: ServerKey,
    pub address: ServerAddress,
    pub place: Place,
}

/// What an agent may call of servers.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// Single tools, and names that stand for all of a server.
    pub(super) tools: Vec<Name>,
    pub(super) denied: Vec<Name>,
    pub(super) servers: Vec<ServerEntry>,
    pub(super) declared: Vec<DeclaredServer>,
}

pub(super) fn grants(name: &Name, role: &Role<'_>, kit: Toolkit<'_>, reports: &mut Vec<Report>) -> Grants {
    let mut reader = Reader::new(name, role, kit);
    reader.name_own(reports);
    match &role.solo.tools {
        Some(said) => reader.allow(said, reports),
        None => reader.inherit(),
    }
    if let Some(said) = &role.solo.denied_tools {
        reader.deny(said);
    }
    reader.finish()
}

/// Whether what a server's entry says beyond its address has an effect here.
pub(crate) fn is_heeded(key: &str, value: &Value) -> bool {
    let is_list = ONLY.contains(&key) || NEVER.contains(&key);
    (is_list && value.is_array()) || (key == "enabled" && value.is_boolean())
}

/// The servers that a list of tools names, all of them of the settings.
pub(crate) fn settled<'a>(tools: impl Iterator<Item = &'a Name>) -> Vec<ServerEntry> {
    let names: BTreeSet<&str> = tools.filter_map(|tool| server_of(tool.as_str())).collect();
    names.into_iter().map(|name| ServerEntry { key: ServerKey::settled(name), required: true }).collect()
}

/// The same in a declaration that other harnesses read, too: it may be sound where it comes from, and whoever starts the
/// agent is told.
pub(crate) fn undeclared_here(agent: &str, server: &str, known: &[Name]) -> Report {
    Report { severity: Severity::Warning, ..undeclared(&format!("agent {}", quoted(agent)), server, known) }
}

/// A server that is declared nowhere.
pub(super) fn undeclared(subject: &str, server: &str, kit: &[Name]) -> Report {
    let what = format!("{subject} names the MCP server {}, which is not declared", quoted(server));
    let remedy = format!("add `[mcp.{}]` to `entourage.toml`", server_name(server));
    Report::error("C054", what).hint(meant_or(server, kit.iter().map(Name::as_str), &remedy))
}

struct Reader<'a> {
    name: &'a Name,
    role: &'a Role<'a>,
    /// Every server that it may name, and who declares it.
    known: BTreeMap<Name, ServerKey>,
    settings: Vec<Name>,
    /// Those that the declaration names or brings.
    named: BTreeSet<Name>,
    /// The only tools of a server, where its own entry lists them: there may be none.
    only: BTreeMap<Name, Vec<Name>>,
    grants: Grants,
}

impl<'a> Reader<'a> {
    fn new(name: &'a Name, role: &'a Role<'a>, kit: Toolkit<'_>) -> Self {
        let settings = kit.known.servers();
        let known = settings.iter().map(|server| (server.clone(), ServerKey::settled(server.as_str()))).collect();
        let (named, only) = (BTreeSet::new(), BTreeMap::new());
        Self { name, role, known, settings, named, only, grants: Grants::default() }
    }

    fn solo(&self) -> &'a Solo {
        self.role.solo
    }

    fn subject(&self) -> String {
        format!("agent {}", quoted(self.role.id().as_str()))
    }

    /// The servers under a key of their own. One that is switched off is as if it were not there.
    fn name_own(&mut self, reports: &mut Vec<Report>) {
        let Some(said) = &self.solo().servers else { return };
        let place = self.role.declared.place(said.spot);
        for (spelt, server) in &said.value {
            let (address, rest) = match server {
                Server::Known => {
                    let key = ServerKey::settled(spelt);
                    if !self.settings.contains(&key.name) {
                        reports.push(undeclared_here(self.role.id().as_str(), spelt, &self.settings).at(place.clone()));
                    }
                    self.named.insert(key.name.clone());
                    self.known.insert(key.name.clone(), key);
                    continue;
                }
                Server::Command { command, args, env, secrets, rest } => {
                    let wanted = secrets.iter().map(wanted);
                    // What the declaration gives itself counts.
                    let env = wanted.chain(self.given(env)).collect();
                    (ServerAddress::Command { command: command.clone(), args: args.clone(), env }, rest)
                }
                Server::Url { url, headers, rest } => {
                    (ServerAddress::Url { url: url.clone(), headers: self.given(headers) }, rest)
                }
            };
            if rest.get("enabled") == Some(&Value::Bool(false)) {
                continue;
            }
            reports.extend(self.unsent(spelt, rest).map(|report| report.at(place.clone())));
            let key = ServerKey::of_agent(self.name, spelt);
            self.limit(&key.name, rest);
            self.named.insert(key.name.clone());
            self.known.insert(key.name.clone(), key.clone());
            self.grants.declared.push(DeclaredServer { key, address, place: place.clone() });
        }
    }

    /// Nothing says in which header a secret would be expected.
    fn unsent(&self, server: &str, rest: &serde_json::Map<String, Value>) -> Option<Report> {
        let secrets = rest.get("secrets").filter(|_| self.solo().format == Format::Stax)?.as_array()?;
        let keys = secrets.iter().filter_map(Value::as_str).map(quoted).collect::<Vec<_>>().join(", ");
        let what = format!("the MCP server {} wants secrets, which are not sent to an address: {keys}", quoted(server));
        let hint = "if it cannot be used without, declare it as `[mcp.*]` in your own settings, with a header";
        Some(Report::warning("D133", what).hint(hint))
    }

    /// A bundle's values are what they are: it is to read nothing of whoever runs it. Other harnesses fill in `${NAME}`.
    fn given(&self, values: &BTreeMap<String, String>) -> BTreeMap<String, ServerValue> {
        let is_plain = self.solo().format == Format::Stax;
        let given = if is_plain { ServerValue::Plain } else { ServerValue::Template };
        values.iter().map(|(name, value)| (name.clone(), given(Secret::new(value)))).collect()
    }

    /// The tools that a server's own entry allows or forbids.
    fn limit(&mut self, server: &Name, rest: &serde_json::Map<String, Value>) {
        let list = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| rest.get(*key)?.as_array());
            found.map(|list| list.iter().filter_map(Value::as_str).map(|tool| server_tool(server, tool)).collect())
        };
        let only: Option<Vec<Name>> = list(&ONLY);
        self.only.extend(only.map(|only| (server.clone(), only)));
        self.grants.denied.extend(list(&NEVER).unwrap_or_default());
    }

    /// Without a list it has what its caller has, and its own.
    fn inherit(&mut self) {
        self.grants.tools.extend(self.settings.iter().map(server_tools));
        self.complete();
    }

    /// A server that the declaration brings is there for its tools, unless it lists some of them.
    fn complete(&mut self) {
        for server in &self.named {
            let is_listed = |tool: &Name| server_of(tool.as_str()) == Some(server.as_str());
            if !self.grants.tools.iter().any(is_listed) {
                self.grants.tools.push(server_tools(server));
            }
        }
        self.narrow();
    }

    /// What a server's own entry does not list is not there, whoever else allows it.
    fn narrow(&mut self) {
        for (server, only) in &self.only {
            let is_its = |tool: &mut Name| server_of(tool.as_str()) == Some(server.as_str());
            let allowed: Vec<_> = self.grants.tools.extract_if(.., is_its).collect();
            let is_allowed = |tool: &&Name| allowed.iter().any(|allowed| means_tool(allowed, tool));
            self.grants.tools.extend(only.iter().filter(is_allowed).cloned());
        }
    }

    fn allow(&mut self, said: &Said<Vec<At<String>>>, reports: &mut Vec<Report>) {
        for entry in &said.value {
            match vocabulary::grant(self.solo().format, &entry.value) {
                Grant::Server { server: Some(server), tool } => {
                    let server = server_name(&server);
                    if self.known.contains_key(&server) {
                        self.named.insert(server.clone());
                        self.grants
                            .tools
                            .push(tool.map_or_else(|| server_tools(&server), |tool| server_tool(&server, &tool)));
                    } else {
                        reports.extend(self.unknown(entry, &server));
                    }
                }
                Grant::Server { server: None, .. } | Grant::Everything => {
                    self.grants.tools.extend(self.known.keys().map(server_tools));
                }
                Grant::Works(_) | Grant::Agents(_) | Grant::Unknown => {}
            }
        }
        self.complete();
    }

    /// A list of another harness may name what only that one has. opencode's words for tools and servers look the same.
    fn unknown(&self, entry: &At<String>, server: &Name) -> Option<Report> {
        if self.solo().format == Format::Opencode {
            return None;
        }
        let what = format!(
            "{} may use tool {}, but there is no MCP server {}",
            self.subject(),
            quoted(&entry.value),
            quoted(server.as_str())
        );
        let remedy = format!("add `[mcp.{server}]` to `entourage.toml`");
        let hint = meant_or(server.as_str(), self.known.keys().map(Name::as_str), &remedy);
        Some(Report::warning("D095", what).hint(hint).at(self.role.declared.place(entry.spot)))
    }

    fn deny(&mut self, said: &Said<Vec<At<String>>>) {
        for entry in &said.value {
            let denied = match vocabulary::grant(self.solo().format, &entry.value) {
                Grant::Server { server: Some(server), tool: Some(tool) } => server_tool(&server_name(&server), &tool),
                Grant::Server { server: Some(server), tool: None } => server_tools(&server_name(&server)),
                Grant::Server { server: None, .. } | Grant::Everything => {
                    self.grants.tools.clear();
                    continue;
                }
                Grant::Works(_) | Grant::Agents(_) | Grant::Unknown => continue,
            };
            self.grants.tools.retain(|tool| !means_tool(&denied, tool) && *tool != denied);
            self.grants.denied.push(denied);
        }
    }

    /// The servers that are left are those of the tools that are left.
    fn finish(mut self) -> Grants {
        self.grants.tools.sort_unstable();
        self.grants.tools.dedup();
        let used: BTreeSet<&str> = self.grants.tools.iter().filter_map(|tool| server_of(tool.as_str())).collect();
        let entry = |server: &str| {
            let key = self.known.get(server)?.clone();
            Some(ServerEntry { required: self.named.contains(server), key })
        };
        self.grants.servers = used.iter().filter_map(|server| entry(server)).collect();
        self.grants.denied.retain(|tool| server_of(tool.as_str()).is_some_and(|server| used.contains(server)));
        self.grants
    }
}

/// The variable that a secret is to be found in.
fn wanted(ServerSecret { key, variable, required }: &ServerSecret) -> (String, ServerValue) {
    let value = ServerValue::Wanted { secret: key.clone(), variable: variable.clone(), required: *required };
    (variable.clone(), value)
}
