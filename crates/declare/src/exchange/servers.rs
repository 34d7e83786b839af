//! MCP servers as harnesses configure them.

use crate::fields::Fields;
use crate::solo::{Said, Server};
use crate::tree::{Node, Tree};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An object whose keys are the servers' names.
pub(crate) fn map(fields: &mut Fields<'_>, key: &'static str) -> Option<BTreeMap<String, Server>> {
    let node = fields.node(key)?;
    let Tree::Object(entries) = &node.tree else {
        return fields.wrong(key, "an object with a server under each name", node);
    };
    let entry = |(name, node): &(String, Node)| match of_node(node) {
        Some(server) => Some((name.clone(), server)),
        None => fields.wrong(&format!("{key}.{name}"), "a server with `command` or `url`", node),
    };
    entries.iter().map(entry).collect()
}

/// A server's own object. Absent: it says neither what to start nor what to reach.
pub(crate) fn of_node(node: &Node) -> Option<Server> {
    let Value::Object(mut rest) = node.value() else { return None };
    // What the other keys say anyway.
    let kind = rest.get("type").and_then(Value::as_str).unwrap_or_default();
    if matches!(kind, "local" | "stdio" | "http" | "streamable-http" | "streamable_http" | "remote") {
        rest.shift_remove("type");
    }
    if rest.get("tools") == Some(&json!(["*"])) {
        rest.shift_remove("tools");
    }
    if let Some(command) = text(&mut rest, "command") {
        let args = take(&mut rest, "args", texts);
        let env = take(&mut rest, "env", text_map);
        return Some(Server::Command { command, args, env, secrets: Vec::new(), rest });
    }
    let url = text(&mut rest, "url").or_else(|| text(&mut rest, "http_url")).or_else(|| text(&mut rest, "httpUrl"))?;
    let headers = take(&mut rest, "headers", text_map);
    Some(Server::Url { url, headers, rest })
}

fn text(keys: &mut Map<String, Value>, key: &str) -> Option<String> {
    let text = keys.get(key)?.as_str()?.to_owned();
    keys.shift_remove(key);
    Some(text)
}

/// A value of another shape stays among the keys, so that it is not taken for understood.
fn take<T: Default>(keys: &mut Map<String, Value>, key: &str, read: fn(&Value) -> Option<T>) -> T {
    let Some(value) = keys.get(key).and_then(read) else { return T::default() };
    keys.shift_remove(key);
    value
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(scalar).collect()
}

fn text_map(value: &Value) -> Option<BTreeMap<String, String>> {
    value.as_object()?.iter().map(|(key, value)| Some((key.clone(), scalar(value)?))).collect()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// How a target spells what its servers have in common with others'.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    /// What `type` says of a server that is started, and whether it must.
    pub(crate) command_type: Option<&'static str>,
    pub(crate) url_type: Option<&'static str>,
    /// Whether `tools` must say that all are meant.
    pub(crate) all_tools: bool,
    /// Whether a server may be named that is configured elsewhere.
    pub(crate) known: bool,
}

/// The servers of an agent in a target's words, and whether those say all.
pub(crate) fn write(said: &Said<BTreeMap<String, Server>>, spelling: Spelling) -> (Map<String, Value>, bool) {
    let mut written = Map::new();
    let mut exact = true;
    for (name, server) in &said.value {
        let (keys, rest, values) = match server {
            Server::Known => {
                exact &= spelling.known;
                if spelling.known {
                    written.insert(name.clone(), Value::Null);
                }
                continue;
            }
            Server::Command { command, args, env, rest, .. } => {
                let mut keys = typed(spelling.command_type);
                keys.insert("command".to_owned(), command.as_str().into());
                insert(&mut keys, "args", args, args.is_empty());
                insert(&mut keys, "env", env, env.is_empty());
                (keys, rest, env)
            }
            Server::Url { url, headers, rest } => {
                let kind = rest.get("type").and_then(Value::as_str).filter(|kind| *kind == "sse");
                let mut keys = typed(spelling.url_type.map(|usual| if kind.is_some() { "sse" } else { usual }));
                keys.insert("url".to_owned(), url.as_str().into());
                insert(&mut keys, "headers", headers, headers.is_empty());
                (keys, rest, headers)
            }
        };
        let mut keys = keys;
        if spelling.all_tools {
            keys.insert("tools".to_owned(), json!(["*"]));
        }
        let understood =
            |(key, value): (&String, &Value)| key == "type" && value == "sse" && spelling.url_type.is_some();
        // A secret that only the source's harness can fill in is none for another.
        exact &= rest.iter().all(understood) && !values.values().any(|value| value.contains("${{"));
        written.insert(name.clone(), Value::Object(keys));
    }
    (written, exact)
}

fn typed(kind: Option<&'static str>) -> Map<String, Value> {
    kind.map(|kind| ("type".to_owned(), Value::from(kind))).into_iter().collect()
}

fn insert(keys: &mut Map<String, Value>, key: &str, value: &impl serde::Serialize, empty: bool) {
    if !empty {
        keys.insert(key.to_owned(), serde_json::to_value(value).expect("text is JSON"));
    }
}
