//! The servers whose tools an agent wants: `defineMcp()`.

use super::source::Source;
use super::spec_version;
use crate::faults::{Faults, did_you_mean, quoted};
use crate::fields::{Fields, Shape};
use crate::solo::Server;
use crate::tree::{Node, Tree};
use entourage_model::Report;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const TRANSPORTS: [(&str, ()); 2] = [("http", ()), ("sse", ())];

/// The document as it was written, and the servers in it. Absent: reported.
pub(super) fn read(
    source: &Source<'_>,
    path: &str,
    secrets: &BTreeSet<String>,
    faults: &mut Faults,
) -> Option<(Value, BTreeMap<String, Server>)> {
    let mut own = Faults::new(path);
    let node = source.definition(path, &mut own);
    let servers = node.and_then(|node| Some((node.value(), servers(&node, secrets, &mut own)?)));
    faults.reports.append(&mut own.reports);
    servers
}

fn servers(node: &Node, secrets: &BTreeSet<String>, faults: &mut Faults) -> Option<BTreeMap<String, Server>> {
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

fn server(mut fields: Fields<'_>, name: &str, node: &Node, secrets: &BTreeSet<String>) -> Option<Server> {
    let command = fields.text("command");
    let url = fields.text("url");
    let args = fields.texts("args").unwrap_or_default();
    let env = fields.text_map("env").unwrap_or_default();
    let headers = fields.text_map("headers").unwrap_or_default();
    fields.choice("transport", &TRANSPORTS);
    for key in ["description", "cwd"] {
        fields.keep(key, Shape::Text);
    }
    fields.keep("enabled", Shape::Flag);
    fields.keep("connectTimeoutMs", Shape::Any);
    fields.keep("metadata", Shape::TextMap);
    fields.keep("registryRef", Shape::Map);
    for secret in fields.texts("secrets").into_iter().flatten().filter(|secret| !secrets.contains(secret)) {
        let what = format!("server `{name}` wants the secret {}, which the agent does not declare", quoted(&secret));
        let hint = did_you_mean(&secret, secrets.iter().map(String::as_str));
        let hint = hint.unwrap_or_else(|| "add it to `secrets`".to_owned());
        fields.report(node, Report::error("D067", what).hint(hint));
    }
    let enabled = fields.texts("enabledTools").unwrap_or_default();
    let disabled = fields.texts("disabledTools").unwrap_or_default();
    for tool in disabled.iter().filter(|tool| enabled.contains(tool)) {
        let what = format!("server `{name}` has {} among both its enabled and its disabled tools", quoted(tool));
        fields.report(node, Report::error("D068", what).hint("remove it from one of them"));
    }
    if command.is_some() == url.is_some() {
        let what = format!("server `{name}` must have either `command` or `url`");
        fields.report(node, Report::error("D069", what).hint("a command is started, an address is asked"));
    }
    let mut rest = fields.finish();
    for (key, tools) in [("enabledTools", enabled), ("disabledTools", disabled)] {
        rest.extend((!tools.is_empty()).then(|| (key.to_owned(), tools.into())));
    }
    match (command, url) {
        (Some(command), None) => Some(Server::Command { command, args, env, rest }),
        (None, Some(url)) => Some(Server::Url { url, headers, rest }),
        (Some(_), Some(_)) | (None, None) => None,
    }
}
