//! The servers whose tools an agent wants: `defineMcp()`.

use super::agent::Secrets;
use super::source::Source;
use super::{WantedSecret, spec_version};
use crate::faults::{Faults, did_you_mean, quoted};
use crate::fields::{Fields, Shape};
use crate::solo::{Server, ServerSecret};
use crate::tree::{Node, Tree};
use entourage_model::Report;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a server is reached, and whether that is the older way.
const TRANSPORTS: [(&str, bool); 2] = [("http", false), (OLDER, true)];
const OLDER: &str = "sse";

/// What was found.
pub(super) struct Read {
    /// As it was written.
    pub(super) document: Value,
    pub(super) servers: BTreeMap<String, Server>,
    /// The secrets that none of `secrets` is.
    pub(super) wanted: Vec<WantedSecret>,
}

/// Absent: reported.
pub(super) fn read(source: &Source<'_>, path: &str, secrets: &Secrets, faults: &mut Faults) -> Option<Read> {
    let mut own = Faults::new(path);
    let node = source.definition(path, &mut own);
    let read = node.and_then(|node| {
        let servers = servers(&node, secrets, &mut own)?;
        Some(Read { document: node.value(), servers, wanted: undeclared(&node, secrets, &own) })
    });
    faults.reports.append(&mut own.reports);
    read
}

/// The secrets that servers want and nobody here declares.
fn undeclared(node: &Node, secrets: &Secrets, faults: &Faults) -> Vec<WantedSecret> {
    let mut wanted = Vec::new();
    let Some(Tree::Object(entries)) = node.field("servers").map(|servers| &servers.tree) else { return wanted };
    for (name, server) in entries {
        let Some(Tree::List(items)) = server.field("secrets").map(|secrets| &secrets.tree) else { continue };
        let texts = items.iter().filter_map(|item| if let Tree::Text(text) = &item.tree { Some(text) } else { None });
        for key in texts.filter(|key| !secrets.contains_key(*key)) {
            let what = format!("server {} wants the secret {}, which is not declared", quoted(name), quoted(key));
            let hint = did_you_mean(key, secrets.keys().map(String::as_str));
            let hint = hint.unwrap_or_else(|| "add it to `secrets`".to_owned());
            let report = Report::error("D067", what).at(faults.place(server.spot)).hint(hint);
            wanted.push(WantedSecret { key: key.clone(), report });
        }
    }
    wanted
}

/// The servers of a document that an agent keeps; it was checked when it was read.
pub(super) fn kept(node: &Node) -> Option<BTreeMap<String, Server>> {
    servers(node, &Secrets::new(), &mut Faults::new(""))
}

fn servers(node: &Node, secrets: &Secrets, faults: &mut Faults) -> Option<BTreeMap<String, Server>> {
    let mut fields = Fields::of(node, "", faults)?;
    spec_version(&mut fields);
    let node = fields.require("servers")?;
    let Tree::Object(entries) = &node.tree else { return fields.wrong("servers", "an object", node) };
    if entries.is_empty() {
        fields.report(node, Report::error("D057", "`servers` is empty").hint("add one, or remove `mcp`"));
    }
    let servers = entries.iter().filter_map(|(name, node)| {
        let inner = fields.within(node, &format!("servers.{name}"))?;
        Some((name.clone(), server(inner, name, node, secrets)?))
    });
    let servers = servers.collect();
    fields.finish();
    Some(servers)
}

fn server(mut fields: Fields<'_>, name: &str, node: &Node, secrets: &Secrets) -> Option<Server> {
    let command = fields.text("command");
    let url = fields.text("url");
    let args = fields.texts("args").unwrap_or_default();
    let env = fields.text_map("env").unwrap_or_default();
    let headers = fields.text_map("headers").unwrap_or_default();
    let is_older = fields.choice("transport", &TRANSPORTS).unwrap_or_default();
    if url.is_some() {
        fields.advise("transport", "add `transport`, which is `http` or `sse`; without it `http` is meant");
    }
    for key in ["description", "cwd"] {
        fields.keep(key, Shape::Text);
    }
    fields.keep("enabled", Shape::Flag);
    fields.keep("connectTimeoutMs", Shape::Amount);
    fields.keep("metadata", Shape::TextMap);
    fields.keep("registryRef", Shape::Map);
    let wanted = fields.texts("secrets").unwrap_or_default();
    let wanted: Vec<ServerSecret> = wanted.iter().filter_map(|key| secrets.get(key).cloned()).collect();
    let enabled = fields.texts("enabledTools");
    let disabled = fields.texts("disabledTools");
    for tool in disabled.iter().flatten().filter(|tool| enabled.iter().flatten().any(|enabled| enabled == *tool)) {
        let what = format!("server `{name}` has {} among both its enabled and its disabled tools", quoted(tool));
        fields.report(node, Report::error("D068", what).hint("remove it from one of them"));
    }
    if command.is_some() == url.is_some() {
        let what = format!("server `{name}` must have either `command` or `url`");
        fields.report(node, Report::error("D069", what).hint("a command is started, an address is asked"));
    }
    let mut rest = fields.finish();
    rest.extend(is_older.then(|| ("transport".to_owned(), OLDER.into())));
    for (key, tools) in [("enabledTools", enabled), ("disabledTools", disabled)] {
        rest.extend(tools.map(|tools| (key.to_owned(), tools.into())));
    }
    if url.is_some() && !wanted.is_empty() {
        let keys: Vec<_> = wanted.iter().map(|secret| secret.key.as_str()).collect();
        rest.insert("secrets".to_owned(), keys.into());
    }
    match (command, url) {
        (Some(command), None) => Some(Server::Command { command, args, env, secrets: wanted, rest }),
        (None, Some(url)) => Some(Server::Url { url, headers, rest }),
        (Some(_), Some(_)) | (None, None) => None,
    }
}
