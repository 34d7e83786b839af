//! What a writer can say, and what it has to leave out.

use crate::Format;
use crate::check::is_heeded;
use crate::exchange::delegate::{Beyond, Beyonds, is_lax};
use crate::exchange::servers::{self, Spelling};
use crate::exchange::vocabulary::{self, Grant};
use crate::exchange::{Loss, Written, models};
use crate::solo::{ModelWish, Said, Server, Solo};
use crate::tree::At;
use entourage_model::Name;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The keys of one agent that have no place in the target, each once.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    fields: Vec<String>,
}

impl Losses {
    pub(crate) fn name(&mut self, key: &str) {
        if !self.fields.iter().any(|field| field == key) {
            self.fields.push(key.to_owned());
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        other.fields.iter().for_each(|key| self.name(key));
    }

    /// Whether the key was named; it is not any more.
    fn take(&mut self, key: &str) -> bool {
        let named = self.fields.iter().position(|field| field == key);
        named.map(|at| self.fields.remove(at)).is_some()
    }

    pub(crate) fn of_all(&mut self, said: &[Said<Value>]) {
        said.iter().for_each(|said| self.name(&said.key));
    }
}

/// The keys of one agent in a target's file, and what has none there.
///
/// A writer takes out of a copy of the declaration whatever it has a word for, and hands in what is left: so nothing
/// can be forgotten.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) keys: Map<String, Value>,
    pub(crate) losses: Losses,
}

impl Record {
    /// What the same format said, under the name that the agent has now.
    pub(crate) fn verbatim(solo: &Solo, name: Option<&Name>) -> Self {
        let mut keys = Map::new();
        if let Some(name) = name.filter(|_| !solo.verbatim.contains_key("name")) {
            keys.insert("name".to_owned(), name.as_str().into());
        }
        keys.extend(solo.verbatim.clone());
        if let Some(name) = name {
            keys.insert("name".to_owned(), name.as_str().into());
        }
        Self { keys, losses: Losses::default() }
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.keys.insert(key.to_owned(), value.into());
    }

    /// Writes a field, or names it as lost if the target has no word for its value.
    pub(crate) fn put<T>(&mut self, key: &str, said: Option<Said<T>>, write: impl FnOnce(&T) -> Option<Value>) {
        let Some(said) = said else { return };
        match write(&said.value) {
            Some(value) => self.set(key, value),
            None => self.losses.name(&said.key),
        }
    }

    /// Writes a field whose every value the target can say.
    pub(crate) fn copy<T: Into<Value>>(&mut self, key: &str, said: Option<Said<T>>) {
        if let Some(said) = said {
            self.set(key, said.value);
        }
    }

    /// Writes what callers are told of the agent. A target that must say something is given its title or its name.
    pub(crate) fn describe(&mut self, name: &Name, left: &mut Solo) {
        let title = left.title.as_ref().map(|said| said.value.clone());
        let description = left.description.take().map(|said| said.value).filter(|text| !text.trim().is_empty());
        self.set("description", description.or(title).unwrap_or_else(|| name.to_string()));
    }

    /// Writes the model, unless it is the caller's: then it is enough to say nothing.
    pub(crate) fn model(&mut self, left: &mut Solo, write: impl FnOnce(&ModelWish) -> Option<String>) {
        let said = left.model.take().filter(|said| said.value != ModelWish::Inherit);
        self.put("model", said, |wish| write(wish).map(Value::from));
    }

    /// Writes the list of allowed tools in the target's words; it is named as lost if it does not say the same. A list
    /// without a word in the target stays a list, since none would mean all.
    pub(crate) fn tools(&mut self, key: &str, left: &mut Solo, to: Format) {
        let Some(said) = left.tools.take() else { return };
        let translated = vocabulary::translate(&said.value, left.format, to);
        if !translated.exact {
            self.losses.name(&said.key);
        }
        if !translated.everything {
            self.set(key, translated.names);
        }
    }

    /// The same for denied tools, where an empty list says nothing.
    pub(crate) fn denied_tools(&mut self, key: &str, left: &mut Solo, to: Format) {
        let Some(said) = left.denied_tools.take() else { return };
        let translated = vocabulary::translate(&said.value, left.format, to);
        if !translated.exact || translated.everything {
            self.losses.name(&said.key);
        }
        if !translated.names.is_empty() {
            self.set(key, translated.names);
        }
    }

    /// Writes that the agent changes nothing, if the declaration says so, or if it leaves it no tool to do so. The
    /// latter is more than nothing, and less than the list, which therefore stays to be named as lost.
    pub(crate) fn only_looks(&mut self, left: &mut Solo) -> bool {
        let by_list = |list: &Option<Said<Vec<At<String>>>>, judge: fn(&[At<String>], Format) -> bool| {
            list.as_ref().is_some_and(|said| judge(&said.value, left.format))
        };
        let by_tools = by_list(&left.tools, vocabulary::only_looks);
        let by_denial = by_list(&left.denied_tools, vocabulary::denies_change);
        let said = left.read_only.take().is_some_and(|said| said.value);
        said || by_tools || by_denial
    }

    /// Writes the servers, and names them as lost if the target cannot say all of them.
    pub(crate) fn servers(&mut self, left: &mut Solo, spelling: Spelling) -> Option<Map<String, Value>> {
        let said = left.servers.take()?;
        let (written, exact) = servers::write(&said, spelling);
        if !exact {
            self.losses.name(&said.key);
        }
        (!written.is_empty()).then_some(written)
    }

    /// Names everything that was not taken. A flag that is not set, and the caller's model, say nothing.
    pub(crate) fn lose(mut self, mut left: Solo) -> Self {
        left.model = left.model.filter(|said| said.value != ModelWish::Inherit);
        for flag in [&mut left.read_only, &mut left.background, &mut left.hidden] {
            *flag = flag.take().filter(|said| said.value);
        }
        left.keys().into_iter().for_each(|key| self.losses.name(key));
        self.losses.of_all(&left.rest);
        self
    }

    /// Adds what a bundle says beyond the target's own keys: a lax target keeps it, a strict one loses it.
    pub(super) fn settle(mut self, to: Format, beyond: Option<&Beyond>) -> Self {
        let Some(beyond) = beyond else { return self };
        if let Some(model) = beyond.model.as_ref().filter(|_| self.losses.take("model")) {
            self.set("model", model.as_str());
        }
        if !is_lax(to) {
            beyond.unread.keys().for_each(|key| self.losses.name(key));
            return self;
        }
        let mut kept = beyond.unread.clone();
        kept.extend(beyond.carried.clone());
        for (key, value) in &beyond.sayable {
            if self.losses.take(key) {
                kept.insert(key.clone(), value.clone());
            }
        }
        if !kept.is_empty() {
            self.set(&Format::Stax.vendor_key(), kept);
        }
        self
    }
}

impl Written {
    /// Adds an agent that has a file to itself.
    pub(crate) fn add(&mut self, name: &Name, path: String, text: String, losses: Losses) {
        self.agents.push((name.to_string(), path.clone()));
        self.files.push((path, text));
        self.lose(name, losses);
    }

    pub(crate) fn lose(&mut self, name: &Name, losses: Losses) {
        let agent = name.to_string();
        self.losses.extend(losses.fields.into_iter().map(|field| Loss { agent: agent.clone(), field }));
    }
}

/// The keys that are kept with the agent and have no effect, or not all of it, when it runs here.
pub(super) fn without_effect(name: &Name, solo: &Solo) -> Vec<Loss> {
    let mut left = solo.clone();
    let is_ours = |wish: &ModelWish| match wish {
        ModelWish::Named { provider, .. } => models::REFERENCES.contains(&provider.as_str()),
        ModelWish::Inherit => true,
        ModelWish::Word(_) => false,
    };
    left.model = left.model.filter(|said| !is_ours(&said.value));
    left.fallbacks = left.fallbacks.filter(|said| !said.value.iter().all(is_ours));
    left.tools = left.tools.filter(|said| !said.value.iter().all(|entry| has_counterpart(solo.format, &entry.value)));
    left.denied_tools = None;
    // Where a key says nothing else, servers are started here as they are there, but for what is said beyond their
    // addresses; one that nobody declares is told of.
    let unheeded = left.servers.take_if(|said| said.key.to_lowercase().starts_with("mcp"));
    (left.description, left.title, left.children) = (None, None, None);
    (left.effort, left.temperature, left.top_p) = (None, None, None);
    (left.steps_max, left.read_only, left.workspace) = (None, None, None);
    (left.url, left.headers, left.invocation) = (None, None, None);
    let mut written = Written::default();
    written.lose(name, Record::default().lose(left).losses);
    let mut losses = written.losses;
    let unheeded = unheeded.iter().flat_map(unheeded_keys).map(|field| Loss { agent: name.to_string(), field });
    for loss in unheeded.chain(refused_by_its_own(name, solo)) {
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
    losses
}

/// The keys of servers' entries that nothing here looks at.
fn unheeded_keys(said: &Said<BTreeMap<String, Server>>) -> Vec<String> {
    let of_server = |(name, server): (&String, &Server)| {
        let unheeded = server.rest().into_iter().flatten().filter(|(key, value)| !is_heeded(key, value));
        unheeded.map(|(key, _)| format!("{}.{name}.{key}", said.key)).collect::<Vec<_>>()
    };
    said.value.iter().flat_map(of_server).collect()
}

/// The keys that a strict format does not know itself, however deep they lie.
fn refused_by_its_own(name: &Name, solo: &Solo) -> Vec<Loss> {
    if !matches!(solo.format, Format::Codex | Format::Gemini | Format::DockerAgent) {
        return Vec::new();
    }
    super::write(solo.format, &[(name.clone(), solo.clone())], &Beyonds::new()).losses
}

fn has_counterpart(format: Format, entry: &str) -> bool {
    match vocabulary::grant(format, entry) {
        Grant::Works(works) => works.iter().any(|work| work.our_tool().is_some()),
        Grant::Agents(_) | Grant::Server { .. } | Grant::Everything => true,
        Grant::Unknown => false,
    }
}
