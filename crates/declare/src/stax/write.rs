//! Agents as a stax project: an agent that has all of them as its subagents.

use super::leftover;
use crate::exchange::{Loss, Record, Written};
use crate::format::Format;
use crate::solo::{Handoff, Invocation, ModelWish, ReturnMode, Solo};
use entourage_model::Name;
use serde_json::{Map, Value, json};

const SUBAGENTS: &str = "subagents.json";

/// A primary agent of stax among them stays that; otherwise one is made that only has subagents.
pub(crate) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    let is_primary = |solo: &Solo| solo.format == Format::Stax && solo.verbatim.contains_key("adapter");
    let mut subagents = Map::new();
    for (name, solo) in agents.iter().filter(|(_, solo)| !is_primary(solo)) {
        let Record { mut keys, losses } = if solo.format == Format::Stax { own(solo) } else { foreign(name, solo) };
        let path = format!("subagents/{name}.md");
        keys.insert("instructions".to_owned(), format!("./{path}").into());
        subagents.insert(name.to_string(), Value::Object(keys));
        written.files.push((path, solo.body.clone()));
        written.agents.push((name.to_string(), SUBAGENTS.to_owned()));
        written.lose(name, losses);
    }
    if !subagents.is_empty() {
        written.files.push((SUBAGENTS.to_owned(), pretty(&json!({ "specVersion": "1.0.0", "agents": subagents }))));
    }
    let primary = agents.iter().find(|(_, solo)| is_primary(solo));
    let has_subagents = !subagents.is_empty();
    match primary {
        Some((name, solo)) => write_primary(name, solo, has_subagents, &mut written),
        None => written.files.push(("agent.json".to_owned(), pretty(&bare_agent()))),
    }
    written
}

pub(super) fn own(solo: &Solo) -> Record {
    Record { keys: solo.verbatim.clone(), ..Record::default() }
}

pub(super) fn foreign(name: &Name, solo: &Solo) -> Record {
    let mut left = solo.clone();
    let mut record = Record::default();
    record.describe(name, &mut left);
    record.model(&mut left, model);
    record.put("invocation", left.invocation.take(), |invocation| Some(invocation_word(*invocation).into()));
    record.put("handoff", left.handoff.take(), |handoff| Some(handoff_value(handoff)));
    record.put("tags", left.tags.take(), |tags| Some(json!(tags)));
    record.put("metadata", left.metadata.take(), |metadata| Some(json!(metadata)));
    leftover::give_back(solo, &mut left, &mut record);
    record.lose(left)
}

/// Free text there, so that a model keeps its provider.
fn model(wish: &ModelWish) -> Option<String> {
    match wish {
        ModelWish::Named { provider, model } => Some(format!("{provider}:{model}")),
        ModelWish::Word(_) | ModelWish::Inherit => None,
    }
}

fn invocation_word(invocation: Invocation) -> &'static str {
    match invocation {
        Invocation::Manual => "manual",
        Invocation::Delegate => "delegate",
        Invocation::Automatic => "automatic",
    }
}

fn handoff_value(handoff: &Handoff) -> Value {
    let mut value = json!({});
    if let Some(callers) = &handoff.allowed_from {
        value["allowedFrom"] = json!(callers);
    }
    if let Some(mode) = handoff.return_mode {
        let word = match mode {
            ReturnMode::Report => "report",
            ReturnMode::Patch => "patch",
            ReturnMode::Continue => "continue",
        };
        value["returnMode"] = word.into();
    }
    value
}

/// The prompt is what the agent's own files came to, so that those are not needed any more.
fn write_primary(name: &Name, solo: &Solo, has_subagents: bool, written: &mut Written) {
    const COMPILED: [&str; 5] = ["prompt", "persona", "rules", "surfaces", "instructionTree"];
    const ELSEWHERE: [&str; 4] = ["skills", "knowledge", "memory", "mcp"];
    let mut keys = solo.verbatim.clone();
    let mcp = keys.get("mcp").filter(|mcp| mcp.is_object()).cloned();
    COMPILED.iter().chain(&ELSEWHERE).chain(&["subagents"]).for_each(|key| {
        keys.shift_remove(*key);
    });
    keys.insert("prompt".to_owned(), "./prompt.md".into());
    if has_subagents {
        keys.insert("subagents".to_owned(), format!("./{SUBAGENTS}").into());
    }
    if let Some(document) = &mcp {
        keys.insert("mcp".to_owned(), "./mcp.json".into());
        written.files.push(("mcp.json".to_owned(), pretty(document)));
    }
    written.files.push(("prompt.md".to_owned(), solo.body.clone()));
    written.files.push(("agent.json".to_owned(), pretty(&Value::Object(keys))));
    written.agents.push((name.to_string(), "agent.json".to_owned()));
    let lost = ELSEWHERE.iter().filter(|key| solo.verbatim.contains_key(**key) && (**key != "mcp" || mcp.is_none()));
    written.losses.extend(lost.map(|key| Loss { agent: name.to_string(), field: (*key).to_owned() }));
}

fn bare_agent() -> Value {
    let mut agent = agent_without_parts("agents");
    agent["subagents"] = format!("./{SUBAGENTS}").into();
    agent
}

/// An agent for whoever takes it.
pub(super) fn agent_without_parts(name: &str) -> Value {
    json!({
        "specVersion": "1.0.0",
        "name": name,
        "version": "0.0.0",
        "adapter": {
            "type": "generic",
            "runtime": "generic",
            "adapterVersion": "1.0.0",
            "importMode": "bundle",
            "fidelity": "best-effort",
            "config": {},
            "features": {},
            "targets": [{ "kind": "file", "path": SUBAGENTS }],
        },
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
