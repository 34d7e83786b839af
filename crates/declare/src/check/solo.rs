//! A declaration with one side → agent: its tools, its model and its children are looked up.
//!
//! What is not found costs the agent that and no more: other harnesses have tools, models and words that are not here.

use super::cast::Role;
use super::server::{self, DeclaredServer};
use super::toolkit::{Meaning, Toolkit};
use crate::agentscope;
use crate::exchange::PROVIDERS;
use crate::faults::{did_you_mean, quoted};
use crate::format::Format;
use crate::solo::{Invocation, ModelWish, ReturnMode, Said, Solo};
use crate::tree::{At, Spot};
use entourage_model::{
    Agent, ChildEntry, ModelRef, Name, Place, Prompt, Reasoning, Remote, Report, Sampling, Secret, SideConfig, Source,
    ToolEntry, WorkspaceMode, WorkspaceWish,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What declarations with one side may name.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) toolkit: Toolkit<'a>,
    pub(crate) cast: &'a BTreeMap<Name, Role<'a>>,
    /// Agents with two sides that can be somebody's child.
    pub(crate) children: BTreeSet<Name>,
    /// Ids of declarations with errors, which are told of elsewhere.
    pub(crate) broken: BTreeSet<&'a Name>,
}

/// An agent, and what is not stored with it.
#[derive(Debug)]
pub(crate) struct Solitary {
    pub(crate) agent: Agent,
    /// Header values that the settings write out, by the header's name.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// The MCP servers that the declaration brings.
    pub(crate) servers: Vec<DeclaredServer>,
    /// Where the declaration names the folder that defines the agent.
    pub(crate) folder: Option<Place>,
}

pub(crate) fn check(name: &Name, role: &Role<'_>, stage: &Stage<'_>, reports: &mut Vec<Report>) -> Solitary {
    let solo = role.solo;
    let mut checker = Checker { role, stage, reports };
    let mut prompt = Prompt::new(name.clone(), instructions(solo));
    prompt.model = solo.model.as_ref().and_then(|said| checker.model(said, &said.value));
    let fallbacks = solo.fallbacks.iter().flat_map(|said| said.value.iter().map(move |wish| (said, wish)));
    prompt.fallbacks = fallbacks.filter_map(|(said, wish)| checker.model(said, wish)).collect();
    prompt.reasoning =
        solo.effort.as_ref().map(|said| Reasoning { effort: Some(said.value.clone()), tokens_max: None });
    prompt.sampling = Sampling {
        temperature: solo.temperature.as_ref().map(|said| said.value),
        top_p: solo.top_p.as_ref().map(|said| said.value),
    };
    prompt.tools = checker.tools();
    prompt.tools.extend(checker.children());
    let grants = server::grants(name, role, stage.toolkit, reports);
    prompt.tools.extend(grants.tools.into_iter().map(ToolEntry::Tool));
    (prompt.servers, prompt.denied_tools) = (grants.servers, grants.denied);
    let is_read_only = solo.read_only.as_ref().is_some_and(|said| said.value);
    prompt.read_only = is_read_only && !prompt.servers.is_empty();
    let source = Source { format: solo.format.name().to_owned(), file: role.file().map(str::to_owned) };
    let (remote, headers) = remote(solo);
    let agent = Agent {
        title: solo.title.as_ref().map(|said| said.value.clone()),
        tool_description: pitch(solo),
        workspace: workspace(solo),
        unlisted: !is_offered(role),
        remote,
        extra: Map::from_iter([(solo.format.vendor_key(), Value::Object(verbatim(solo)))]),
        ..Agent::one_sided(name.clone(), description(solo), prompt.clone(), source)
    };
    let side_a = SideConfig { steps_max: steps_max(role), ..SideConfig::new(prompt) };
    let folder = solo.folder_spot.map(|spot| role.declared.place(spot));
    Solitary { agent: Agent { side_a, ..agent }, headers, servers: grants.declared, folder }
}

#[derive(Clone, Copy)]
enum List {
    Allowed,
    Denied,
}

struct Checker<'a> {
    role: &'a Role<'a>,
    stage: &'a Stage<'a>,
    reports: &'a mut Vec<Report>,
}

impl Checker<'_> {
    fn warn(&mut self, spot: Spot, report: Report) {
        let place = self.role.declared.place(spot);
        self.reports.push(report.at(place));
    }

    fn subject(&self) -> String {
        format!("agent {}", quoted(self.role.id().as_str()))
    }

    /// Absent: the project's own model is used.
    fn model<T>(&mut self, said: &Said<T>, wish: &ModelWish) -> Option<ModelRef> {
        let ModelWish::Named { provider, model } = wish else { return None };
        if PROVIDERS.contains(&provider.as_str()) {
            return ModelRef::parse(&format!("{provider}:{model}"));
        }
        let what = format!("{} names a model of {}, which is no provider here", self.subject(), quoted(provider));
        let hint = entourage_model::meant(provider, PROVIDERS).map_or_else(
            || {
                format!(
                    "the project's own model is used; providers are {}",
                    PROVIDERS.map(|name| format!("`{name}`")).join(", ")
                )
            },
            |meant| format!("did you mean `{meant}`? Until then the project's own model is used"),
        );
        self.warn(said.spot, Report::warning("D096", what).hint(hint));
        None
    }

    fn tools(&mut self) -> Vec<ToolEntry> {
        let solo = self.role.solo;
        let kit = self.stage.toolkit;
        let mut tools = kit.names();
        if let Some(said) = &solo.tools {
            let allowed = self.listed(said, List::Allowed);
            tools.retain(|tool| allowed.contains(tool));
        }
        if let Some(said) = &solo.denied_tools {
            let denied = self.listed(said, List::Denied);
            tools.retain(|tool| !denied.contains(tool));
        }
        if solo.read_only.as_ref().is_some_and(|said| said.value) {
            tools.retain(|tool| kit.is_pure(tool));
        }
        tools.into_iter().map(ToolEntry::Tool).collect()
    }

    /// The tools that a list means. A name that nobody knows means none.
    fn listed(&mut self, said: &Said<Vec<At<String>>>, list: List) -> BTreeSet<Name> {
        let kit = self.stage.toolkit;
        let mut tools = BTreeSet::new();
        for entry in &said.value {
            let (reason, hint) = match (kit.resolve(self.role.solo.format, &entry.value), list) {
                (Meaning::Tools(found), _) => {
                    tools.extend(found);
                    continue;
                }
                // Nobody can use it anyway.
                (Meaning::Elsewhere, List::Denied) => continue,
                (Meaning::Elsewhere, List::Allowed) => {
                    ("which has no counterpart here", Some("here it does without".to_owned()))
                }
                (Meaning::Unknown, _) => {
                    let meant = did_you_mean(&entry.value, kit.names().iter().map(Name::as_str));
                    ("which nobody provides", meant)
                }
            };
            let verb = match list {
                List::Allowed => "may use",
                List::Denied => "may not use",
            };
            let what = format!("{} {verb} tool {}, {reason}", self.subject(), quoted(&entry.value));
            self.warn(entry.spot, Report { hint, ..Report::warning("D095", what) });
        }
        tools
    }

    /// An agent that it may start is a tool of its own.
    fn children(&mut self) -> Vec<ToolEntry> {
        let mut entries: Vec<ChildEntry> = Vec::new();
        for child in self.role.solo.children.iter().flat_map(|said| &said.value) {
            let Some(name) = self.child(&child.value) else {
                if !self.stage.broken.contains(&child.value) {
                    let what = format!(
                        "{} may start agent {}, which is not declared",
                        self.subject(),
                        quoted(child.value.as_str())
                    );
                    let hint = did_you_mean(child.value.as_str(), self.stage.cast.keys().map(Name::as_str));
                    self.warn(child.spot, Report { hint, ..Report::warning("D097", what) });
                }
                continue;
            };
            if !crate::tools::can_be_called(child.value.as_str()) || self.stage.toolkit.has(&child.value) {
                let what = format!(
                    "{} cannot start agent {}: no tool can have that name beside the others",
                    self.subject(),
                    quoted(child.value.as_str())
                );
                self.warn(child.spot, Report::warning("D097", what).hint("give the agent another name"));
                continue;
            }
            let alias = (name != child.value).then(|| child.value.clone());
            if !entries.iter().any(|entry| *entry.name() == child.value) {
                entries.push(ChildEntry { alias, ..ChildEntry::blocking(name) });
            }
        }
        entries.into_iter().map(ToolEntry::Child).collect()
    }

    /// An agent of the same format goes before others with its name.
    fn child(&self, id: &Name) -> Option<Name> {
        let format = self.role.solo.format;
        let own = self.stage.cast.iter().find(|(_, role)| {
            let is_own = role.solo.format == format && !role.is_overridden;
            is_own && role.id() == id
        });
        let own = own.map(|(name, _)| name.clone());
        own.or_else(|| (self.stage.cast.contains_key(id) || self.stage.children.contains(id)).then(|| id.clone()))
    }
}

/// Whether lead offers it to its model.
pub(crate) fn is_offered(role: &Role<'_>) -> bool {
    let solo = role.solo;
    if role.is_overridden {
        return false;
    }
    match solo.format {
        Format::AgentScope => agentscope::is_offered(solo),
        Format::Opencode => solo.verbatim.get("mode").and_then(Value::as_str) != Some("primary"),
        _ => true,
    }
}

/// A folder's `AGENTS.md` is the prompt, or another server has it.
fn is_defined_elsewhere(solo: &Solo) -> bool {
    solo.url.is_some() || solo.workspace.as_ref().is_some_and(|said| said.value.path.is_some())
}

/// The declaration's text as it is, unless something else takes its place.
fn instructions(solo: &Solo) -> String {
    if is_defined_elsewhere(solo) {
        return String::new();
    }
    let handoff = solo.handoff.as_ref().and_then(|said| said.value.return_mode);
    let told = match handoff {
        None => return solo.body.clone(),
        Some(ReturnMode::Report) => {
            "Your last message goes back to whoever called you: make it a report of what you found and did."
        }
        Some(ReturnMode::Patch) => {
            "Your last message goes back to whoever called you: make it a patch that can be applied as it is."
        }
        Some(ReturnMode::Continue) => {
            "Whoever called you goes on from where you stop: end with everything needed to continue."
        }
    };
    format!("{}\n\n{told}", solo.body.trim_end())
}

/// Everything that was read; a text that has no effect too.
fn verbatim(solo: &Solo) -> Map<String, Value> {
    let mut verbatim = solo.verbatim.clone();
    if is_defined_elsewhere(solo) && !solo.body.trim().is_empty() {
        verbatim.insert("body".to_owned(), solo.body.clone().into());
    }
    verbatim
}

/// A profile that does not say what it is for says what it is called.
fn description(solo: &Solo) -> String {
    let said = solo.description.as_ref().or(solo.title.as_ref());
    said.map(|said| said.value.clone()).unwrap_or_default()
}

/// What a parent's model is told, where it is more than the description.
fn pitch(solo: &Solo) -> Option<String> {
    let invocation = solo.invocation.as_ref().map(|said| said.value);
    let when = match invocation.or((solo.format == Format::Stax).then_some(Invocation::Delegate))? {
        Invocation::Manual => "Use it only when the user asks for it.",
        Invocation::Delegate => "Use it when the work fits what it is for.",
        Invocation::Automatic => "Use it proactively, of your own accord, whenever it fits.",
    };
    Some(format!("{}\n\n{when}", description(solo)).trim_start().to_owned())
}

/// AgentScope limits every declared agent, and mirrors the caller in the one that it brings.
fn steps_max(role: &Role<'_>) -> Option<u32> {
    let said = role.solo.steps_max.as_ref().map(|said| said.value);
    let default = role.file().filter(|_| role.solo.format == Format::AgentScope).map(|_| agentscope::STEPS_MAX);
    said.or(default)
}

fn workspace(solo: &Solo) -> Option<WorkspaceWish> {
    let said = solo.workspace.as_ref().map(|said| said.value.clone());
    said.or_else(|| match solo.format {
        Format::AgentScope => Some(WorkspaceWish::default()),
        Format::Dex => Some(WorkspaceWish { mode: WorkspaceMode::Shared, path: None }),
        _ => None,
    })
}

/// Where it runs, and the header values that are not stored.
fn remote(solo: &Solo) -> (Option<Remote>, BTreeMap<String, Secret>) {
    let Some(url) = &solo.url else { return (None, BTreeMap::new()) };
    let headers = solo.headers.iter().flat_map(|said| &said.value);
    let (templates, literals): (Vec<_>, Vec<_>) = headers.partition(|(_, value)| agentscope::is_template(value));
    let headers = templates.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let literals = literals.into_iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect();
    (Some(Remote { url: url.value.clone(), headers }), literals)
}
