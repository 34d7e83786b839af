//! `[mcp.<name>]`: MCP servers, started by a command or reached at an address.

use super::SettingsFile;
use super::file::place_of;
use crate::project;
use entourage_model::{Place, Report, Secret, ServerAddress, ServerKey, ServerValue};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

const TABLE: &str = "mcp";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wish {
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
}

/// The servers that can be used, and what is wrong with the others.
pub(super) fn servers(table: &Table, files: &[SettingsFile]) -> (BTreeMap<ServerKey, ServerAddress>, Vec<Report>) {
    let wishes: BTreeMap<String, Wish> = super::part(table, TABLE);
    let (mut servers, mut reports) = (BTreeMap::new(), Vec::new());
    for (name, wish) in wishes {
        let key = ServerKey::settled(&name);
        let report = match address(wish) {
            Ok(_) if key.name.as_str().is_empty() => {
                let report = Report::error("C056", format!("`mcp.{name}`: no tool can have this name in its own"));
                report.hint("use letters of a to z, digits, `_` and `-`")
            }
            Ok(_) if servers.contains_key(&key) => {
                let what = format!("`mcp.{name}` cannot be told from another one: both are `{key}` to a model");
                Report::error("C056", what).hint("give one of them another name")
            }
            Ok(address) => {
                servers.insert(key, address);
                continue;
            }
            Err(why) => {
                Report::error("C056", format!("`mcp.{name}` {why}")).hint("a command is started, an address is asked")
            }
        };
        let file = files.iter().rev().find(|file| file.text.contains(TABLE));
        let place = file.map(|file| place_of(&file.name, &file.text, &[TABLE, &name]));
        reports.push(Report { place, ..report });
    }
    (servers, reports)
}

fn address(wish: Wish) -> Result<ServerAddress, &'static str> {
    let given = |values: BTreeMap<String, String>| {
        values.into_iter().map(|(name, value)| (name, ServerValue::Template(Secret::new(value)))).collect()
    };
    match (wish.command, wish.url) {
        (Some(_), Some(_)) | (None, None) => Err("must have either `command` or `url`"),
        (Some(command), None) if wish.headers.is_empty() => {
            Ok(ServerAddress::Command { command, args: wish.args, env: given(wish.env) })
        }
        (Some(_), None) => Err("has `headers`, which only an address can be sent"),
        (None, Some(url)) if wish.args.is_empty() && wish.env.is_empty() => {
            Ok(ServerAddress::Url { url, headers: given(wish.headers) })
        }
        (None, Some(_)) => Err("has `args` or `env`, which only a command can be given"),
    }
}

/// A server is taken whole from one file: what one says of it must not meet what another says.
pub(super) fn take_over(merged: &mut Table, later: &Table) {
    let Some(Value::Table(later)) = later.get(TABLE) else { return };
    if let Some(Value::Table(merged)) = merged.get_mut(TABLE) {
        merged.retain(|name, _| !later.contains_key(name));
    }
}

/// Takes away from a file that nobody trusts what starts commands or sends variables elsewhere. Returns who that was, each with
/// what is said of it.
pub(super) fn distrust(table: &mut Table, file: (&str, &str)) -> Vec<(ServerKey, Report)> {
    let Some(Value::Table(servers)) = table.get_mut(TABLE) else { return Vec::new() };
    let does_harm = |server: &Value| {
        let is_command = ["command", "args", "env"].iter().any(|key| server.get(*key).is_some());
        is_command || sends_key(&server.to_string())
    };
    let names: Vec<_> = servers.iter().filter(|(_, server)| does_harm(server)).map(|(name, _)| name.clone()).collect();
    let leave_out = |name: String| {
        servers.remove(&name);
        let report = untrusted(&format!("`mcp.{name}`"), place_of(file.0, file.1, &[TABLE, &name]));
        (ServerKey::settled(&name), report)
    };
    names.into_iter().map(leave_out).collect()
}

/// Whether a text takes the key of a model's provider from the environment. Settings may read everything else: whoever
/// writes an address there writes what it is sent.
pub(crate) fn sends_key(text: &str) -> bool {
    let names = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    names.into_iter().any(|(name, _)| name.ends_with("_API_KEY"))
}

/// What is said of a server that a project may not use.
pub(crate) fn untrusted(server: &str, place: Place) -> Report {
    let what = format!(
        "{server} is left out: a project may not start commands, or send your variables elsewhere, before it is trusted"
    );
    Report::warning("C055", what).at(place).hint(project::TRUST_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_providers_are_kept_from_a_project_that_nobody_trusts() {
        for (text, expected) in [("Bearer ${OPENAI_API_KEY}", true), ("${TOKEN}", false), ("OPENAI_API_KEY", false)] {
            assert_eq!(sends_key(text), expected, "{text}");
        }
    }
}
