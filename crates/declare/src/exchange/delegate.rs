//! The subagents of a stax project in a harness's own files.
//!
//! stax says little of a subagent and keeps whatever else it is told, so a project may carry what a harness said under
//! `x-<format>`. Written for that harness it is restored; for another it is translated, and what has no word there is
//! named as `x-<format>.<key>`.

use super::{Written, models, reread, write};
use crate::Format;
use crate::faults::Faults;
use crate::files::Files;
use crate::solo::{ModelWish, Said, Solo};
use crate::stax;
use crate::tree::Node;
use entourage_model::{Name, Report, Severity};
use entourage_script::NoMemory;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What every subagent has, in the target's own keys.
const COMMON: [&str; 3] = ["description", "instructions", "model"];

/// What a bundle says of an agent beyond what the target has keys for.
#[derive(Debug, Default)]
pub(super) struct Beyond {
    /// Keys that the target may have a word for; a lax one keeps those that it has none for.
    pub(super) sayable: Map<String, Value>,
    /// Keys that its writer never looks at.
    pub(super) unread: Map<String, Value>,
    /// What another harness said: a lax target keeps it, and whatever has no word in the target is named all the same,
    /// because it had an effect there.
    pub(super) carried: Map<String, Value>,
    /// The model as the author of a definition for this very target spells it.
    pub(super) model: Option<String>,
}

/// By the agent's name. An export has none.
pub(super) type Beyonds = BTreeMap<Name, Beyond>;

/// A subagent on its way to a target.
struct Delegate {
    name: Name,
    solo: Solo,
    beyond: Beyond,
    /// The harness whose own words the definition carries.
    vendor: Option<Format>,
}

/// The subagents of the stax project in `files`, for a harness. Nothing is written of a project with an error.
pub fn delegate(files: &dyn Files, to: Format) -> Result<Written, Vec<Report>> {
    // Without a definition there are none.
    let Some(stax) = stax::read(files, &NoMemory) else { return Ok(Written::default()) };
    let mut faults = stax.primary.faults;
    let is_native = stax.primary.draft.is_some_and(|primary| adapter_type(&primary) == Some(to.name()));
    let mut delegates = Vec::new();
    for declared in stax.subagents {
        for (name, solo) in declared.sound(&mut faults) {
            delegates.extend(prepare(name, solo, to, is_native, &mut faults));
        }
    }
    if faults.has_error() {
        faults.reports.retain(|report| report.severity == Severity::Error);
        return Err(faults.reports);
    }
    Ok(write_all(delegates, to))
}

/// The keys by which the settings of a harness name a model that a definition names; none if they cannot. One that
/// was defined for that very harness is its own word.
pub fn model_keys(text: &str, to: Format, is_native: bool) -> Map<String, Value> {
    let wish = models::stax_model(text);
    let word = || is_native.then(|| text.to_owned()).filter(|_| matches!(wish, ModelWish::Word(_)));
    let mut keys = Map::new();
    let model = match to {
        Format::ClaudeCode => models::in_claude(&wish),
        Format::Gemini => models::id_of(&wish, "gemini"),
        Format::Opencode => models::path(&wish),
        Format::Codex => models::id_of(&wish, "openai").or_else(|| {
            let local = models::id_of(&wish, "ollama")?;
            keys.insert("model_provider".to_owned(), "ollama".into());
            Some(local)
        }),
        Format::StandardAgents
        | Format::Stax
        | Format::Dex
        | Format::AgentScope
        | Format::GithubCopilot
        | Format::Cursor
        | Format::Goose
        | Format::DockerAgent
        | Format::Windsurf
        | Format::Openclaw
        | Format::Generic => return keys,
    };
    if let Some(model) = model.or_else(word) {
        keys.insert("model".to_owned(), model.into());
    }
    keys
}

fn adapter_type(primary: &Solo) -> Option<&str> {
    primary.verbatim.get("adapter")?.get("type")?.as_str()
}

/// Absent: what it carries of a harness cannot be read, and that is reported.
fn prepare(name: Name, mut solo: Solo, to: Format, is_native: bool, faults: &mut Faults) -> Option<Delegate> {
    // Who may call it is said by `handoff`; only this target also says it from the caller's side.
    solo.children = solo.children.filter(|_| to == Format::GithubCopilot);
    let said = |(key, value): (&String, &Value)| (key.clone(), value.clone());
    let mut own: Map<_, _> =
        solo.verbatim.iter().filter(|(key, _)| !COMMON.contains(&key.as_str())).map(said).collect();
    let word = solo.model.as_ref().and_then(|said| match &said.value {
        ModelWish::Word(word) if is_native => Some(word.clone()),
        ModelWish::Word(_) | ModelWish::Named { .. } | ModelWish::Inherit => None,
    });
    let Some(vendor) = vendor_of(&own, to) else {
        let beyond = Beyond { sayable: own, model: word, ..Beyond::default() };
        return Some(Delegate { name, solo, beyond, vendor: None });
    };
    let carried = own.shift_remove(&vendor.vendor_key()).unwrap_or_default();
    let foreign = restore(&name, &solo, vendor, &carried, faults)?;
    if vendor == to {
        own.retain(|key, _| !says_the_same(key, &solo, &foreign));
        let beyond = Beyond { unread: own, ..Beyond::default() };
        return Some(Delegate { name, solo: foreign, beyond, vendor: Some(vendor) });
    }
    let carried = Map::from_iter([(vendor.vendor_key(), carried)]);
    let beyond = Beyond { sayable: own, carried, model: word, ..Beyond::default() };
    Some(Delegate { name, solo: joined(solo, foreign, vendor), beyond, vendor: Some(vendor) })
}

/// The harness whose words a definition carries: the target's own if there are several.
fn vendor_of(keys: &Map<String, Value>, to: Format) -> Option<Format> {
    let carries = |format: &Format| keys.get(&format.vendor_key()).is_some_and(Value::is_object);
    let known = Format::ALL.into_iter().filter(|format| !matches!(format, Format::Stax | Format::StandardAgents));
    [to].into_iter().chain(known).find(carries)
}

/// The agent as its harness declared it. What the definition itself says of the description counts, unless it is only
/// there because a definition must have one.
fn restore(name: &Name, solo: &Solo, vendor: Format, carried: &Value, faults: &mut Faults) -> Option<Solo> {
    let Value::Object(mut said) = carried.clone() else { return None };
    let description = solo.description.as_ref().map(|said| said.value.as_str()).unwrap_or_default();
    if said.contains_key("description") || description != name.as_str() {
        said.insert("description".to_owned(), description.into());
    }
    reread(vendor, name, &Node::without_place(&Value::Object(said)), &solo.body, faults)
}

/// Whether a key of the definition only repeats what the harness said in its own words.
fn says_the_same(key: &str, own: &Solo, foreign: &Solo) -> bool {
    fn is_same<T: PartialEq>(own: &Option<Said<T>>, foreign: &Option<Said<T>>) -> bool {
        own.is_some() && own.as_ref().map(|said| &said.value) == foreign.as_ref().map(|said| &said.value)
    }
    match key {
        "invocation" => is_same(&own.invocation, &foreign.invocation),
        "handoff" => is_same(&own.handoff, &foreign.handoff),
        "tags" => is_same(&own.tags, &foreign.tags),
        "metadata" => is_same(&own.metadata, &foreign.metadata),
        _ => false,
    }
}

/// What the harness said, and on top of it what the definition says itself.
fn joined(own: Solo, mut foreign: Solo, vendor: Format) -> Solo {
    foreign.description = own.description;
    foreign.model = own.model.or(foreign.model);
    foreign.invocation = own.invocation.or(foreign.invocation);
    foreign.handoff = own.handoff.or(foreign.handoff);
    foreign.tags = own.tags.or(foreign.tags);
    foreign.metadata = own.metadata.or(foreign.metadata);
    let is_other = |said: &Said<Value>| said.key != vendor.vendor_key();
    foreign.rest.extend(own.rest.into_iter().filter(is_other));
    foreign
}

fn write_all(delegates: Vec<Delegate>, to: Format) -> Written {
    let (mut agents, mut beyonds, mut vendors) = (Vec::new(), Beyonds::new(), BTreeMap::new());
    for Delegate { name, solo, beyond, vendor } in delegates {
        vendors.extend(vendor.map(|vendor| (name.to_string(), vendor)));
        agents.push((name.clone(), solo));
        beyonds.insert(name, beyond);
    }
    let mut written = write(to, &agents, &beyonds);
    for loss in &mut written.losses {
        let Some(vendor) = vendors.get(&loss.agent) else { continue };
        let own = &beyonds[loss.agent.as_str()];
        let is_own = own.sayable.contains_key(&loss.field) || own.unread.contains_key(&loss.field);
        if !is_own && loss.field != "model" {
            loss.field = format!("{}.{}", vendor.vendor_key(), loss.field);
        }
    }
    written.losses.sort();
    written.losses.dedup();
    written
}

/// Whether a target's reader lets a key be that it does not know. opencode hands such a key on to the model's provider.
pub(super) fn is_lax(format: Format) -> bool {
    match format {
        Format::ClaudeCode | Format::Cursor | Format::GithubCopilot => true,
        Format::StandardAgents
        | Format::Stax
        | Format::Dex
        | Format::AgentScope
        | Format::Codex
        | Format::Opencode
        | Format::Gemini
        | Format::Goose
        | Format::DockerAgent
        | Format::Windsurf
        | Format::Openclaw
        | Format::Generic => false,
    }
}
