//! Where an agent's prompt comes from: its own text, a folder, or another server that runs it.

use super::keys::{IGNORED, Keys, Whence, said};
use crate::faults::quoted;
use crate::solo::{Said, Solo};
use crate::tree::{Node, Tree};
use entourage_model::{Remote, Report};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A shorter credential is somebody's example.
const CREDENTIAL_CHARS_MIN: usize = 20;

pub(super) fn read(keys: &mut Keys<'_>, solo: &mut Solo, whence: Whence<'_>) {
    match whence {
        Whence::File { body } => {
            body.clone_into(&mut solo.body);
            ignore_remote(keys);
            ignore_body(keys, solo);
        }
        Whence::Settings => {
            solo.body = body(keys).unwrap_or_default();
            read_remote(keys, solo);
            exclude(keys, solo);
        }
        Whence::Kept { body } => {
            let kept = keys.node("body").and_then(Node::scalar_text).unwrap_or_default();
            solo.body = if body.is_empty() { kept } else { body.to_owned() };
            keys.node(IGNORED);
            read_remote(keys, solo);
        }
    }
}

fn body(keys: &mut Keys<'_>) -> Option<String> {
    let node = keys.node("body")?;
    match &node.tree {
        Tree::Text(text) => Some(text.clone()),
        _ => keys.fields.wrong("body", "a string", node),
    }
}

fn ignore_remote(keys: &mut Keys<'_>) {
    for key in ["url", "headers"] {
        if let Some(node) = keys.node(key) {
            let what = format!("{} has no effect in a Markdown file", keys.fields.named(key));
            let hint = "declare the agent in `entourage.toml` under `[subagents.<id>]`";
            keys.fields.report(node, Report::warning("D091", what).hint(hint));
        }
    }
}

fn ignore_body(keys: &mut Keys<'_>, solo: &Solo) {
    let Some(workspace) = &solo.workspace else { return };
    if let Some(path) = workspace.value.path.as_ref().filter(|_| !solo.body.trim().is_empty()) {
        let what = "the text of this file is ignored, because `workspace.path` is set";
        let hint = format!("put it into {}, or remove `path`", quoted(&format!("{path}/AGENTS.md")));
        keys.fields.report_at(workspace.spot, Report::warning("D087", what).hint(hint));
    }
}

fn read_remote(keys: &mut Keys<'_>, solo: &mut Solo) {
    solo.url = url(keys);
    solo.headers = headers(keys);
    if let Some(said) = solo.headers.as_ref().filter(|_| solo.url.is_none()) {
        let what = format!("{} has no effect without `url`", keys.fields.named("headers"));
        keys.fields.report_at(said.spot, Report::warning("D091", what).hint("add `url`, or remove it"));
    }
}

/// A blank one is none.
fn url(keys: &mut Keys<'_>) -> Option<Said<String>> {
    let node = keys.node("url")?;
    let Tree::Text(text) = &node.tree else { return keys.fields.wrong("url", "a string", node) };
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_possible = host.is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#']));
    if !is_possible || text.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
        let what = format!("{} is {}, which is no address of a server", keys.fields.named("url"), quoted(text));
        keys.fields.report(node, Report::error("D092", what).hint("begin it with `http://` or `https://`"));
        return None;
    }
    let remote = Remote { url: text.to_owned(), headers: BTreeMap::new() };
    if remote.shown_url() != text {
        // It is not repeated: it may be a secret.
        let what = format!("{} has more than the address of a server", keys.fields.named("url"));
        let hint = "put what lets us in into `headers`, as `${NAME}`; nothing may follow the path";
        keys.fields.report(node, Report::error("D092", what).hint(hint));
        return None;
    }
    Some(said("url", node, text.to_owned()))
}

fn headers(keys: &mut Keys<'_>) -> Option<Said<BTreeMap<String, String>>> {
    let node = keys.node("headers")?;
    let Tree::Object(entries) = &node.tree else { return keys.fields.wrong("headers", "an object", node) };
    let mut headers = BTreeMap::new();
    for (name, item) in entries.iter().filter(|(_, item)| !matches!(item.tree, Tree::Null)) {
        let Some(value) = item.scalar_text() else {
            keys.fields.wrong::<()>(&format!("headers.{name}"), "a string", item);
            continue;
        };
        if !is_header_name(name) || value.contains(char::is_control) {
            // The value is not repeated: it may be a secret.
            let what = format!("{} cannot be sent as a header", keys.fields.named(&format!("headers.{name}")));
            let hint = "a name is letters, digits and `-`, a value one line of text";
            keys.fields.report(item, Report::error("D092", what).hint(hint));
            continue;
        }
        if is_credential(name, &value) {
            let what =
                format!("{} looks like a secret that is written out", keys.fields.named(&format!("headers.{name}")));
            let hint = "keep it in a variable, and write `${NAME}` here";
            keys.fields.report(item, Report::warning("D093", what).hint(hint));
        }
        headers.insert(name.clone(), value);
    }
    (!headers.is_empty()).then(|| said("headers", node, headers))
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_credential(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_telling = ["authorization", "cookie", "token", "secret", "key"].iter().any(|word| name.ends_with(word));
    let credential = value.rsplit(' ').next().unwrap_or_default();
    is_telling && !is_template(value) && credential.chars().nth(CREDENTIAL_CHARS_MIN - 1).is_some()
}

/// Whether a value is to be completed from the environment. Any other is what is sent.
pub(crate) fn is_template(value: &str) -> bool {
    value.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
}

/// Values that are sent as they are lie in the settings file and nowhere else.
pub(super) fn forget_values(verbatim: &mut Map<String, Value>) {
    let Some(Value::Object(headers)) = verbatim.get_mut("headers") else { return };
    for value in headers.values_mut().filter(|value| !value.as_str().is_some_and(is_template)) {
        *value = Value::Null;
    }
}

/// What a file says of another server is kept where nobody takes it for the settings' word.
pub(super) fn set_aside(verbatim: &mut Map<String, Value>) {
    let ignored = ["url", "headers"].into_iter().filter_map(|key| verbatim.shift_remove_entry(key));
    let ignored: Map<_, _> = ignored.collect();
    if !ignored.is_empty() {
        verbatim.insert(IGNORED.to_owned(), Value::Object(ignored));
    }
}

/// At most one of them says what the agent is.
fn exclude(keys: &mut Keys<'_>, solo: &Solo) {
    let has_path = solo.workspace.as_ref().is_some_and(|said| said.value.path.is_some());
    let has_body = !solo.body.trim().is_empty();
    let has_url = solo.url.is_some();
    for (excluded, first, second) in [
        (has_url && has_path, "url", "workspace.path"),
        (has_url && has_body, "url", "body"),
        (has_path && has_body, "workspace.path", "body"),
    ] {
        if excluded {
            let spot_key = if second == "body" { "body" } else { "workspace" };
            let (first, second) = (keys.fields.named(first), keys.fields.named(second));
            let Some(node) = keys.node(spot_key) else { continue };
            let report = Report::error("D088", format!("{first} and {second} exclude each other"));
            keys.fields.report(node, report.hint("an agent is its own text, a folder, or a server: keep one of them"));
        }
    }
}
