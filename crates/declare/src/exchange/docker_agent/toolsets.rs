//! Toolsets: Docker Agent's own tools and MCP servers in one list. An agent without any has no tools.

use crate::exchange::Record;
use crate::exchange::entries::{entries, entry, text};
use crate::exchange::toolsets::{OfferedServer, Toolsets, is_event_stream, says_all};
use crate::exchange::vocabulary::Work;
use crate::fields::Fields;
use crate::solo::{Said, Server, Solo};
use crate::tree::{At, Node, Tree};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KEY: &str = "toolsets";

/// The tools of `filesystem` by what they do.
const FILES: [(Work, &[&str]); 6] = [
    (Work::ReadFile, &["read_file", "read_multiple_files"]),
    (Work::ListFiles, &["list_directory", "directory_tree"]),
    (Work::FindFiles, &["search_files"]),
    (Work::GrepFiles, &["search_files_content"]),
    (Work::WriteFile, &["write_file"]),
    (Work::EditFile, &["edit_file"]),
];

/// The other toolsets that do what other harnesses have, too.
const OTHERS: [(Work, &str); 6] = [
    (Work::Shell, "shell"),
    (Work::WebFetch, "fetch"),
    (Work::Todo, "todo"),
    (Work::Memory, "memory"),
    (Work::Think, "think"),
    (Work::Ask, "user_prompt"),
];

/// Reads the list into the tools and servers of `solo`; what is said beyond that has no other word. `file` is what
/// lies around the agents, where servers are defined that several of them use.
pub(super) fn read(node: Option<&Node>, file: Option<&Node>, fields: &mut Fields<'_>, solo: &mut Solo) {
    let mut reader = Reader { file, tools: Vec::new(), servers: BTreeMap::new(), rest: Vec::new() };
    let spot = node.map_or(crate::tree::Spot::START, |node| node.spot);
    match node.map(|node| (&node.tree, node)) {
        None => {}
        Some((Tree::List(items), _)) => items.iter().for_each(|item| reader.add(item)),
        Some((_, node)) => drop(fields.wrong::<()>(KEY, "an array", node)),
    }
    solo.tools = Some(Said { key: KEY.to_owned(), spot, value: reader.tools });
    let servers = Some(reader.servers).filter(|servers| !servers.is_empty());
    solo.servers = servers.map(|value| Said { key: KEY.to_owned(), spot, value });
    solo.rest.extend(reader.rest);
}

struct Reader<'a> {
    file: Option<&'a Node>,
    tools: Vec<At<String>>,
    servers: BTreeMap<String, Server>,
    rest: Vec<Said<Value>>,
}

impl Reader<'_> {
    fn add(&mut self, item: &Node) {
        match text(item, "type") {
            Some("mcp") => self.mcp(item),
            Some("filesystem" | "file") => self.own(item, "filesystem"),
            Some(kind) => self.own(item, kind),
            None => self.odd(item, KEY),
        }
    }

    fn allow(&mut self, item: &Node, tool: impl Into<String>) {
        self.tools.push(At { value: tool.into(), spot: item.spot });
    }

    fn odd(&mut self, item: &Node, key: &str) {
        self.rest.push(Said { key: key.to_owned(), spot: item.spot, value: item.value() });
    }

    fn own(&mut self, item: &Node, kind: &str) {
        let only = texts(item, "tools");
        let looks = matches!(entry(item, "readonly"), Some(Node { tree: Tree::Flag(true), .. }));
        match (&only, looks) {
            (Some(only), false) => only.iter().for_each(|tool| self.allow(item, tool.as_str())),
            (Some(only), true) => {
                only.iter().filter(|tool| only_looks(tool)).for_each(|tool| self.allow(item, tool.as_str()));
            }
            (None, true) if kind == "filesystem" => {
                let tools = FILES.iter().flat_map(|(_, tools)| tools.iter()).filter(|tool| only_looks(tool));
                tools.for_each(|tool| self.allow(item, *tool));
            }
            (None, true) if kind == "shell" => {}
            (None, _) => self.allow(item, kind),
        }
        for (key, node) in
            entries(item).iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "tools" | "readonly"))
        {
            self.odd(node, &format!("{KEY}.{key}"));
        }
    }

    /// A server of Docker's own catalogue is known to nobody else.
    fn mcp(&mut self, item: &Node) {
        let shared = text(item, "ref").and_then(|name| Some((name, entry(entry(self.file?, "mcps")?, name)?)));
        let (given, definition) = match shared {
            Some((name, definition)) => (Some(name), definition),
            None => (None, item),
        };
        let Some(server) = server(definition) else {
            self.odd(item, &format!("{KEY}.ref"));
            return;
        };
        if given.is_some() {
            for (key, node) in entries(item) {
                if !matches!(key.as_str(), "type" | "ref" | "tools") {
                    self.odd(node, &format!("{KEY}.{key}"));
                }
            }
        }
        let name = given.or_else(|| text(item, "name")).map_or_else(|| name_of(&server), str::to_owned);
        match texts(item, "tools").or_else(|| texts(definition, "tools")) {
            Some(tools) => tools.iter().for_each(|tool| self.allow(item, format!("mcp__{name}__{tool}"))),
            None => self.allow(item, format!("mcp__{name}__*")),
        }
        self.servers.insert(name, server);
    }
}

fn only_looks(tool: &str) -> bool {
    let changes =
        |(work, tools): &(Work, &[&str])| matches!(work, Work::WriteFile | Work::EditFile) && tools.contains(&tool);
    tool != "shell" && !FILES.iter().any(changes)
}

fn texts(node: &Node, key: &str) -> Option<Vec<String>> {
    serde_json::from_value(entry(node, key)?.value()).ok()
}

fn server(node: &Node) -> Option<Server> {
    let Value::Object(mut rest) = node.value() else { return None };
    ["type", "name", "tools"].iter().for_each(|key| drop(rest.shift_remove(*key)));
    if let Some(directory) = rest.shift_remove("working_dir") {
        rest.insert("cwd".to_owned(), directory);
    }
    if let Some(command) = take(&mut rest, "command") {
        let args = take(&mut rest, "args").unwrap_or_default();
        let env = take(&mut rest, "env").unwrap_or_default();
        return Some(Server::Command { command, args, env, secrets: Vec::new(), rest });
    }
    let mut remote: Map<String, Value> = take(&mut rest, "remote")?;
    let url = take(&mut remote, "url")?;
    let headers = take(&mut remote, "headers").unwrap_or_default();
    let transport: Option<String> = take(&mut remote, "transport_type");
    match transport.as_deref() {
        Some("sse") => drop(rest.insert("type".to_owned(), "sse".into())),
        None | Some("streamable" | "streamable-http" | "streamable_http" | "http") => {}
        Some(other) => drop(rest.insert("type".to_owned(), other.into())),
    }
    rest.extend(remote);
    Some(Server::Url { url, headers, rest })
}

/// A value of another shape stays among the keys, so that it is not taken for understood.
fn take<T: serde::de::DeserializeOwned>(keys: &mut Map<String, Value>, key: &str) -> Option<T> {
    let value = serde_json::from_value(keys.get(key)?.clone()).ok()?;
    keys.shift_remove(key);
    Some(value)
}

/// A name for a server that has none: that of the program, or of the machine.
fn name_of(server: &Server) -> String {
    let word = match server {
        Server::Command { command, .. } => command.rsplit(['/', '\\']).next().unwrap_or(command),
        Server::Url { url, .. } => {
            let address = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            address.split(['/', ':', '?']).next().unwrap_or(address)
        }
        Server::Known => "",
    };
    crate::exchange::slug(word)
}

/// Writes the list. Without a list of tools the agent may use what is usual.
pub(super) fn write(record: &mut Record, toolsets: Toolsets, has_children: bool) {
    let Toolsets { works, works_key, servers, servers_key } = toolsets;
    let mut written = match works {
        None => ["filesystem", "shell", "fetch", "todo"].map(|kind| json!({ "type": kind })).into(),
        Some(works) => own(&works, &works_key, record, has_children),
    };
    for OfferedServer { name, server, tools } in servers {
        if !says_all(&server, &["type", "cwd"]) {
            record.losses.name(&servers_key);
        }
        let mut toolset = of_server(&name, &server);
        if let Some(tools) = tools {
            toolset.insert("tools".to_owned(), tools.into());
        }
        written.push(Value::Object(toolset));
    }
    if !written.is_empty() {
        record.set(KEY, written);
    }
}

fn own(works: &BTreeSet<Work>, key: &str, record: &mut Record, has_children: bool) -> Vec<Value> {
    let mut written = Vec::new();
    let mut left = works.clone();
    let files: Vec<_> = FILES.iter().filter(|(work, _)| left.remove(work)).collect();
    if files.len() == FILES.len() {
        written.push(json!({ "type": "filesystem" }));
    } else if !files.is_empty() {
        let tools: Vec<_> = files.iter().flat_map(|(_, tools)| tools.iter()).collect();
        written.push(json!({ "type": "filesystem", "tools": tools }));
    }
    for (_, kind) in OTHERS.iter().filter(|(work, _)| left.remove(work)) {
        written.push(json!({ "type": kind }));
    }
    // Whoever has children may start them.
    if has_children {
        left.remove(&Work::Agent);
    }
    if !left.is_empty() {
        record.losses.name(key);
    }
    written
}

fn of_server(name: &str, server: &Server) -> Map<String, Value> {
    let value = match server {
        Server::Command { command, args, env, rest, .. } => {
            let directory = rest.get("cwd").cloned().unwrap_or_else(|| json!({}));
            json!({ "type": "mcp", "name": name, "command": command, "args": args, "env": env, "working_dir": directory })
        }
        Server::Url { url, headers, .. } => {
            let transport = if is_event_stream(server) { "sse" } else { "streamable" };
            let mut remote = json!({ "url": url, "transport_type": transport });
            if !headers.is_empty() {
                remote["headers"] = json!(headers);
            }
            json!({ "type": "mcp", "name": name, "remote": remote })
        }
        Server::Known => json!({}),
    };
    let Value::Object(keys) = value else { return Map::new() };
    keys.into_iter().filter(|(_, value)| *value != json!({}) && *value != json!([])).collect()
}
