//! Tools and servers in one list, where every entry brings some tools: so do goose and Docker Agent have them.

use crate::exchange::Record;
use crate::exchange::vocabulary::{Grant, Work, grant};
use crate::solo::{Said, Server, Solo};
use crate::tree::At;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an agent may use.
#[derive(Debug)]
pub(super) struct Toolsets {
    /// What its tools may do. Absent: whatever the target's can.
    pub(super) works: Option<BTreeSet<Work>>,
    /// The key that said so, to be named if the target's words for it are not the same.
    pub(super) works_key: String,
    pub(super) servers: Vec<OfferedServer>,
    pub(super) servers_key: String,
}

/// A server of which an agent may use the tools.
#[derive(Debug)]
pub(super) struct OfferedServer {
    pub(super) name: String,
    pub(super) server: Server,
    /// Absent: all.
    pub(super) tools: Option<Vec<String>>,
}

/// Takes the tools and servers out of what is left. What no such list can say is named as lost.
pub(super) fn take(record: &mut Record, left: &mut Solo) -> Toolsets {
    let said = left.servers.take();
    let servers_key = said.as_ref().map(|said| said.key.clone()).unwrap_or_default();
    let (servers, known) = startable(said.map(|said| said.value).unwrap_or_default());
    if known {
        record.losses.name(&servers_key);
    }
    let Some(Said { key: works_key, value: list, .. }) = left.tools.take() else {
        let servers = servers.into_iter().map(|(name, server)| OfferedServer { name, server, tools: None });
        return Toolsets { works: None, works_key: String::new(), servers: servers.collect(), servers_key };
    };
    let mut allowed = Allowed::default();
    list.iter().for_each(|entry| allowed.add(left, entry, &servers));
    if !allowed.exact() {
        record.losses.name(&works_key);
    }
    if !allowed.everything && subtract(left.denied_tools.as_ref(), left, &mut allowed.works) {
        left.denied_tools = None;
    }
    let mut offered = Vec::new();
    for (name, server) in servers {
        match allowed.tools_of(&name) {
            Some(tools) => offered.push(OfferedServer { name, server, tools }),
            None => record.losses.name(&servers_key),
        }
    }
    let works = (!allowed.everything).then_some(allowed.works);
    Toolsets { works, works_key, servers: offered, servers_key }
}

/// The servers that say how to reach them, and whether there are others.
fn startable(servers: BTreeMap<String, Server>) -> (BTreeMap<String, Server>, bool) {
    let all = servers.len();
    let known: BTreeMap<_, _> = servers.into_iter().filter(|(_, server)| *server != Server::Known).collect();
    let left_out = known.len() < all;
    (known, left_out)
}

#[derive(Default)]
struct Allowed {
    works: BTreeSet<Work>,
    /// By server; of one that is there without any tool, all are allowed.
    tools: BTreeMap<String, BTreeSet<String>>,
    every_server: bool,
    everything: bool,
    unsaid: bool,
}

impl Allowed {
    fn add(&mut self, solo: &Solo, entry: &At<String>, servers: &BTreeMap<String, Server>) {
        match grant(solo.format, &entry.value) {
            Grant::Works(works) => self.works.extend(works.iter().copied()),
            // The children say which.
            Grant::Agents(_) => drop(self.works.insert(Work::Agent)),
            Grant::Everything => self.everything = true,
            Grant::Server { server: None, tool } => {
                self.every_server = true;
                self.unsaid |= tool.is_some();
            }
            Grant::Server { server: Some(server), tool } if servers.contains_key(&server) => match tool {
                None => drop(self.tools.insert(server, BTreeSet::new())),
                Some(tool) => match self.tools.get_mut(&server) {
                    Some(tools) if tools.is_empty() => {}
                    Some(tools) => drop(tools.insert(tool)),
                    None => drop(self.tools.insert(server, BTreeSet::from([tool]))),
                },
            },
            Grant::Server { server: Some(_), .. } | Grant::Unknown => self.unsaid = true,
        }
    }

    fn exact(&self) -> bool {
        !self.unsaid
    }

    /// The tools of a server that may be used, none meaning all. Absent: no tool of it.
    fn tools_of(&self, server: &str) -> Option<Option<Vec<String>>> {
        if self.everything || self.every_server {
            return Some(None);
        }
        let tools = self.tools.get(server)?;
        Some((!tools.is_empty()).then(|| tools.iter().cloned().collect()))
    }
}

/// Takes denied tools from allowed ones. It works if nothing else is denied.
fn subtract(denied: Option<&Said<Vec<At<String>>>>, solo: &Solo, works: &mut BTreeSet<Work>) -> bool {
    let Some(denied) = denied else { return false };
    let mut all = true;
    for entry in &denied.value {
        match grant(solo.format, &entry.value) {
            Grant::Works(denied) => works.retain(|work| !denied.contains(work)),
            Grant::Agents(_) | Grant::Server { .. } | Grant::Everything | Grant::Unknown => all = false,
        }
    }
    all
}

/// Whether a server says no more than a list of this kind can. A secret that only the source's harness can fill in is
/// none for another.
pub(super) fn says_all(server: &Server, understood: &[&str]) -> bool {
    let (values, rest) = match server {
        Server::Known => return true,
        Server::Command { env, rest, .. } => (env, rest),
        Server::Url { headers, rest, .. } => (headers, rest),
    };
    rest.keys().all(|key| understood.contains(&key.as_str())) && !values.values().any(|value| value.contains("${{"))
}

/// Whether a server is reached by the older of the two ways.
pub(super) fn is_event_stream(server: &Server) -> bool {
    match server {
        Server::Url { rest, .. } => rest.get("type").and_then(Value::as_str) == Some("sse"),
        Server::Known | Server::Command { .. } => false,
    }
}
