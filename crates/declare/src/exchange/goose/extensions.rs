//! Extensions: goose's own tools and MCP servers in one list. Without the list there are those that the user has.

use crate::exchange::Record;
use crate::exchange::toolsets::{OfferedServer, Toolsets, is_event_stream, says_all};
use crate::exchange::vocabulary::Work;
use crate::fields::Fields;
use crate::solo::{Said, Server, Solo};
use crate::tree::{At, Node, Tree};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KEY: &str = "extensions";

/// What goose's own extensions do, where it is what other harnesses have, too: the first that does something is written.
const OWN: [(&str, &str, &[Work]); 4] = [
    ("platform", "todo", &[Work::Todo]),
    ("builtin", "memory", &[Work::Memory]),
    ("platform", "skills", &[Work::Skill]),
    ("platform", "summon", &[Work::Agent]),
];

/// Reads the list into the tools and servers of `solo`; what is said beyond that has no other word.
pub(super) fn read(node: &Node, fields: &mut Fields<'_>, solo: &mut Solo) {
    let Tree::List(items) = &node.tree else {
        fields.wrong::<()>(KEY, "an array", node);
        return;
    };
    let mut tools = Vec::new();
    let mut servers = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let Value::Object(mut keys) = item.value() else {
            fields.wrong::<()>(&format!("{KEY}[{index}]"), "an object", item);
            continue;
        };
        let kind = take_text(&mut keys, "type").unwrap_or_default();
        let Some(name) = take_text(&mut keys, "name") else {
            fields.wrong::<()>(&format!("{KEY}[{index}]"), "an extension with a `name`", item);
            continue;
        };
        let allow = |tools: &mut Vec<_>, value| tools.push(At { value, spot: item.spot });
        let Some(server) = server(&kind, &mut keys) else {
            allow(&mut tools, name);
            if !keys.is_empty() {
                solo.rest.push(Said { key: KEY.to_owned(), spot: item.spot, value: item.value() });
            }
            continue;
        };
        match allowed(&server) {
            Some(only) => only.into_iter().for_each(|tool| allow(&mut tools, format!("mcp__{name}__{tool}"))),
            None => allow(&mut tools, format!("mcp__{name}__*")),
        }
        servers.insert(name, without_allowed(server));
    }
    let key = || KEY.to_owned();
    solo.tools = Some(Said { key: key(), spot: node.spot, value: tools });
    solo.servers = (!servers.is_empty()).then(|| Said { key: key(), spot: node.spot, value: servers });
}

/// An MCP server. Absent: the extension is goose's own.
fn server(kind: &str, keys: &mut Map<String, Value>) -> Option<Server> {
    match kind {
        "stdio" => {
            let command = take_text(keys, "cmd")?;
            let args = take(keys, "args").unwrap_or_default();
            let env = take(keys, "envs").unwrap_or_default();
            Some(Server::Command { command, args, env, secrets: Vec::new(), rest: std::mem::take(keys) })
        }
        "sse" | "streamable_http" => {
            let url = take_text(keys, "uri")?;
            let headers = take(keys, "headers").unwrap_or_default();
            if kind == "sse" {
                keys.insert("type".to_owned(), "sse".into());
            }
            Some(Server::Url { url, headers, rest: std::mem::take(keys) })
        }
        _ => None,
    }
}

fn take_text(keys: &mut Map<String, Value>, key: &str) -> Option<String> {
    take(keys, key)
}

/// A value of another shape stays among the keys, so that it is not taken for understood.
fn take<T: serde::de::DeserializeOwned>(keys: &mut Map<String, Value>, key: &str) -> Option<T> {
    let value = serde_json::from_value(keys.get(key)?.clone()).ok()?;
    keys.shift_remove(key);
    Some(value)
}

/// The only tools of a server that may be used. Absent: all.
fn allowed(server: &Server) -> Option<Vec<String>> {
    let rest = match server {
        Server::Command { rest, .. } | Server::Url { rest, .. } => rest,
        Server::Known => return None,
    };
    let tools: Vec<String> = serde_json::from_value(rest.get("available_tools")?.clone()).ok()?;
    (!tools.is_empty()).then_some(tools)
}

fn without_allowed(mut server: Server) -> Server {
    match &mut server {
        Server::Command { rest, .. } | Server::Url { rest, .. } => drop(rest.shift_remove("available_tools")),
        Server::Known => {}
    }
    server
}

/// Writes the list, unless the agent may use whatever the user has.
pub(super) fn write(record: &mut Record, toolsets: Toolsets) {
    let Toolsets { works, works_key, servers, servers_key } = toolsets;
    if works.is_none() && servers.is_empty() {
        return;
    }
    let mut extensions = own(works.as_ref(), &works_key, record);
    for OfferedServer { name, server, tools } in servers {
        if !says_all(&server, &["type"]) {
            record.losses.name(&servers_key);
        }
        let mut extension = written(&name, &server);
        if let Some(tools) = tools {
            extension.insert("available_tools".to_owned(), tools.into());
        }
        extensions.push(Value::Object(extension));
    }
    record.set(KEY, extensions);
}

/// goose's own extensions that do what is allowed. Whoever may run commands may do with them whatever the extension for
/// files and commands does; whoever may not is better off without it.
fn own(works: Option<&BTreeSet<Work>>, key: &str, record: &mut Record) -> Vec<Value> {
    let developer = json!({ "type": "builtin", "name": "developer" });
    let Some(works) = works else { return vec![developer] };
    let mut extensions = Vec::new();
    let mut left = works.clone();
    if left.contains(&Work::Shell) {
        extensions.push(developer);
        let files =
            [Work::ReadFile, Work::ListFiles, Work::FindFiles, Work::GrepFiles, Work::WriteFile, Work::EditFile];
        left.retain(|work| *work != Work::Shell && !files.contains(work));
    }
    for (kind, name, does) in OWN {
        if does.iter().any(|work| left.contains(work)) {
            extensions.push(json!({ "type": kind, "name": name }));
            left.retain(|work| !does.contains(work));
        }
    }
    if !left.is_empty() {
        record.losses.name(key);
    }
    extensions
}

fn written(name: &str, server: &Server) -> Map<String, Value> {
    let value = match server {
        Server::Command { command, args, env, .. } => {
            json!({ "type": "stdio", "name": name, "cmd": command, "args": args, "envs": env })
        }
        Server::Url { url, headers, .. } => {
            let kind = if is_event_stream(server) { "sse" } else { "streamable_http" };
            json!({ "type": kind, "name": name, "uri": url, "headers": headers })
        }
        Server::Known => json!({ "type": "builtin", "name": name }),
    };
    let Value::Object(keys) = value else { return Map::new() };
    keys.into_iter().filter(|(_, value)| *value != json!({}) && *value != json!([])).collect()
}
