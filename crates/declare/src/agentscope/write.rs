//! Agents as AgentScope's own files.

use super::keys::IGNORED;
use crate::Format;
use crate::exchange::vocabulary::{self, Grant};
use crate::exchange::{Record, Written, file_stem, page};
use crate::solo::{ModelWish, Solo};
use crate::tree::At;
use entourage_model::{Limits, Name, WorkspaceMode, WorkspaceWish, means_tool};
use serde_json::{Map, Value, json};

const FORMAT: Format = Format::AgentScope;

/// What looks and changes nothing.
const LOOKING: [&str; 4] = ["read_file", "list_files", "find_files", "grep_files"];

pub(crate) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let id = name.as_str().strip_prefix("agentscope/").unwrap_or(name.as_str());
        let Record { keys, losses } = if solo.format == FORMAT { own(solo) } else { foreign(name, solo) };
        let path = format!("{}/{}.md", super::FOLDER, file_stem(id));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}

/// As it was read; only a file cannot say where another server is. One that said so all the same says it again.
fn own(solo: &Solo) -> Record {
    let mut record = Record::verbatim(solo, None);
    for key in ["url", "headers"] {
        if record.keys.shift_remove(key).is_some() {
            record.losses.name(key);
        }
    }
    if let Some(Value::Object(ignored)) = record.keys.shift_remove(IGNORED) {
        record.keys.extend(ignored);
    }
    record
}

fn foreign(name: &Name, solo: &Solo) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.describe(name, &mut left);
    // An agent that says nothing works where its caller does, and as long as it likes; there it would get a folder of
    // its own, and ten steps.
    let shared = WorkspaceWish { mode: WorkspaceMode::Shared, path: None };
    record.set("workspace", workspace_value(&left.workspace.take().map_or(shared, |said| said.value)));
    record.model(&mut left, |wish| match wish {
        ModelWish::Named { provider, model } => Some(format!("{provider}:{model}")),
        ModelWish::Inherit | ModelWish::Word(_) => None,
    });
    record.set("maxIters", left.steps_max.take().map_or(Limits::default().steps, |said| said.value));
    record.copy("temperature", left.temperature.take());
    record.copy("top_p", left.top_p.take());
    put_tools(&mut record, &mut left);
    record.copy("skills", left.skills.take());
    record.copy("hidden", left.hidden.take().filter(|said| said.value));
    record.lose(left)
}

fn workspace_value(wish: &WorkspaceWish) -> Value {
    let mode = match wish.mode {
        WorkspaceMode::Isolated => "isolated",
        WorkspaceMode::Shared => "shared",
    };
    let mut value = Map::from_iter([("mode".to_owned(), mode.into())]);
    value.extend(wish.path.clone().map(|path| ("path".to_owned(), path.into())));
    Value::Object(value)
}

/// The format has one list, of what is allowed. An empty one would allow everything, so that a list of which nothing is
/// left names a tool that nobody has.
fn put_tools(record: &mut Record, left: &mut Solo) {
    if left.tools.is_none() {
        if left.read_only.take().is_some_and(|said| said.value) {
            record.set("tools", json!(LOOKING));
        }
        return;
    }
    if left.tools.as_ref().is_some_and(|said| vocabulary::only_looks(&said.value, left.format)) {
        left.read_only = None;
    }
    record.tools("tools", left, FORMAT);
    let Some(Value::Array(names)) = record.keys.get_mut("tools") else { return };
    let mut allowed: Vec<_> = names.iter().filter_map(Value::as_str).map(Name::from).collect();
    left.denied_tools.take_if(|denied| subtract(&mut allowed, &denied.value, left.format));
    *names = allowed.iter().map(|name| name.as_str().into()).collect();
    if names.is_empty() {
        names.push("none".into());
    }
}

/// Takes denied tools off a list, and says whether none of them is left in it.
fn subtract(allowed: &mut Vec<Name>, denied: &[At<String>], from: Format) -> bool {
    let mut all = true;
    for entry in denied {
        match vocabulary::grant(from, &entry.value) {
            Grant::Works(works) => {
                let ours: Vec<_> = works.iter().filter_map(|work| work.our_tool()).collect();
                allowed.retain(|name| !ours.contains(&name.as_str()));
            }
            Grant::Server { server: Some(server), tool } => {
                let denied = Name::from(format!("mcp__{server}__{}", tool.as_deref().unwrap_or("*")));
                allowed.retain(|name| !means_tool(&denied, name));
                all &= !allowed.iter().any(|name| means_tool(name, &denied));
            }
            Grant::Everything => allowed.clear(),
            Grant::Server { server: None, .. } | Grant::Agents(_) | Grant::Unknown => all = false,
        }
    }
    all
}
