//! An agent's draft → agent: its prompts exist, and list the tools that end its sessions.

use super::entry::{child_fault, told_secret, unknown_agent};
use super::hook;
use super::ledger::{Id, Ledger};
use super::prompt::tool_name_fault;
use super::shelf::Shelf;
use crate::draft::{AgentDraft, BindingDraft, Declared, EntryDraft, PromptDraft, SideDraft};
use crate::faults::{meant_or, quoted};
use crate::tree::At;
use entourage_model::{
    Agent, Binding, Kind, Name, ParentHook, Prompt, Report, Severity, SideConfig, Source, ToolEntry,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Absent: the agent is broken, and the ledger knows. An agent that is given may be broken too.
pub(super) fn check(
    shelf: &Shelf<'_>,
    prompts: &BTreeMap<&Name, Prompt>,
    declared: &Declared<AgentDraft>,
    ledger: &mut Ledger,
) -> Option<Agent> {
    let draft = declared.draft.as_ref()?;
    let mut checker = Checker { shelf, declared, id: Id::Agent(declared.name.value.clone()), ledger };
    checker.exposure(draft);
    let mut side = |side: &SideDraft| checker.side(side, prompts);
    let side_a = draft.side_a.as_ref().and_then(&mut side);
    let side_b = draft.side_b.as_ref().and_then(side);
    let (hooks, parent_hooks) = checker.hooks(draft);
    let source = Source { format: draft.format.to_owned(), file: Some(declared.faults.file.clone()) };
    let side_a = side_a?;
    let prompt = side_a.prompt.clone();
    Some(Agent {
        kind: draft.kind,
        title: draft.title.clone(),
        side_a,
        side_b,
        session_turns_max: draft.session_turns_max,
        expose_as_tool: draft.expose_as_tool,
        tool_description: draft.tool_description.clone(),
        env: draft.env.clone(),
        variables: draft.variables.clone(),
        hooks,
        parent_hooks,
        extra: extra(shelf, draft),
        ..Agent::one_sided(declared.name.value.clone(), description(draft), prompt, source)
    })
}

/// An agent that only says what callers are told says that to people, too.
fn description(draft: &AgentDraft) -> &str {
    let said = draft.tool_description.as_deref().filter(|_| draft.description.trim().is_empty());
    said.unwrap_or(&draft.description)
}

struct Checker<'a> {
    shelf: &'a Shelf<'a>,
    declared: &'a Declared<AgentDraft>,
    id: Id,
    ledger: &'a mut Ledger,
}

impl Checker<'_> {
    /// `lead` offers every exposed agent beside every tool, so its name must be possible there.
    fn exposure(&mut self, draft: &AgentDraft) {
        if !draft.expose_as_tool || draft.kind != Kind::DualAi {
            return;
        }
        let At { value: name, spot } = &self.declared.name;
        let place = self.declared.place(*spot);
        if let Some(fault) = tool_name_fault(&self.id, name) {
            self.ledger.refuse(&self.id, fault.at(place));
        } else if self.shelf.tools.canonical(name.as_str()).as_ref() == Some(name) {
            let what = format!("{} is exposed as a tool and has the name of a tool", self.id);
            self.ledger.refuse(&self.id, Report::error("D011", what).at(place).hint("give it another name"));
        }
    }

    /// Absent: broken, and reported.
    fn side(&mut self, side: &SideDraft, prompts: &BTreeMap<&Name, Prompt>) -> Option<SideConfig> {
        let At { value: name, spot } = side.prompt.as_ref()?;
        let place = self.declared.place(*spot);
        let Some(declared) = self.shelf.prompts.get(name) else {
            let what = format!("{} uses prompt {}, which is not declared", self.id, quoted(name.as_str()));
            let prompts = self.shelf.prompts.keys().map(|name| name.as_str());
            let hint = meant_or(name.as_str(), prompts, "add it to `agents/prompts`");
            self.ledger.refuse(&self.id, Report::error("D012", what).hint(hint).at(place));
            return None;
        };
        self.ledger.need(&self.id, Id::Prompt(name.clone()));
        let listing = Listing { prompt: declared, entries: &declared.draft.as_ref()?.tools };
        let stop_tool = side.stop_tool.as_ref().map(|tool| {
            if let Some(fault) = self.unlisted(&format!("{}.stopTool", side.key), &tool.value, &listing) {
                let fault = fault.at(self.declared.place(tool.spot));
                if self.is_provided(&tool.value) {
                    // It costs no more than a way to stop: the side has others.
                    self.ledger.reports.push(Report { severity: Severity::Warning, ..fault });
                } else {
                    self.ledger.refuse(&self.id, fault);
                }
            }
            self.shelf.callable(&tool.value)
        });
        let mut bind = |field: &str, binding: &Option<BindingDraft>| {
            Some(self.binding(&format!("{}.{field}", side.key), binding.as_ref()?, &listing))
        };
        let (session_stop, session_fail) =
            (bind("sessionStop", &side.session_stop), bind("sessionFail", &side.session_fail));
        let session_status = bind("sessionStatus", &side.session_status);
        let mut prompt = prompts.get(name)?.clone();
        self.subagents(side, &mut prompt);
        Some(SideConfig {
            prompt,
            label: side.label.clone(),
            stop_on_response: side.stop_on_response,
            stop_tool,
            stop_tool_response_property: side.stop_tool_response_property.clone(),
            steps_max: side.steps_max,
            session_stop,
            session_fail,
            session_status,
        })
    }

    /// A side's own children join those that its prompt lists.
    fn subagents(&mut self, side: &SideDraft, prompt: &mut Prompt) {
        for At { value: child, spot } in &side.subagents {
            let place = self.declared.place(*spot);
            let refused = match self.shelf.agents.get(&child.agent) {
                Some(agent) => child_fault(&self.id, agent),
                None => Some(unknown_agent(self.shelf, &self.id, child.agent.as_str())),
            };
            let is_taken = prompt.children().any(|other| other.name() == child.name());
            let twice = || {
                let what =
                    format!("`{}` of {} has two children called {}", side.key, self.id, quoted(child.name().as_str()));
                Report::error("D019", what).hint("give one of them another name by `as`")
            };
            match refused.or_else(|| is_taken.then(twice)) {
                Some(report) => self.ledger.refuse(&self.id, report.at(place)),
                None => {
                    let told = told_secret(self.shelf, &self.id, child);
                    self.ledger.reports.extend(told.map(|report| report.at(place)));
                    self.ledger.need(&self.id, Id::Agent(child.agent.clone()));
                    prompt.tools.push(ToolEntry::Child(child.clone()));
                }
            }
        }
    }

    /// Its own, and those for a parent.
    fn hooks(&mut self, draft: &AgentDraft) -> (Vec<Name>, Vec<ParentHook>) {
        let named: Vec<_> = draft.parent_hooks.iter().map(|parent| parent.hook.clone()).collect();
        let named = hook::named(self.shelf, &self.id, self.declared, &named, self.ledger);
        let stages = draft.parent_hooks.iter().map(|parent| parent.stage);
        let parent_hooks = named.into_iter().zip(stages).map(|(hook, stage)| ParentHook { hook, stage }).collect();
        (hook::named(self.shelf, &self.id, self.declared, &draft.hooks, self.ledger), parent_hooks)
    }

    fn binding(&mut self, field: &str, binding: &BindingDraft, listing: &Listing<'_>) -> Binding {
        let At { value: tool, spot } = &binding.tool;
        if let Some(fault) = self.unlisted(field, tool, listing) {
            self.ledger.refuse(&self.id, fault.at(self.declared.place(*spot)));
        }
        Binding {
            tool: self.shelf.callable(tool),
            message_property: binding.message_property.clone(),
            attachments_property: binding.attachments_property.clone(),
        }
    }

    /// Whether any model could be offered something of this name.
    fn is_provided(&self, name: &Name) -> bool {
        self.shelf.tool(name).is_some()
            || self.shelf.prompts.contains_key(name)
            || self.shelf.agents.contains_key(name)
            || matches!(name.as_str(), "subagent_create" | "subagent_message")
    }

    /// What is wrong with a field that names a tool which the side's model is never offered.
    fn unlisted(&self, field: &str, tool: &Name, listing: &Listing<'_>) -> Option<Report> {
        if listing.offers(tool, self.shelf) {
            return None;
        }
        let prompt = Id::Prompt(listing.prompt.name.value.clone());
        let subject = format!("`{field}` of {} is {}, which {prompt} does not", self.id, quoted(tool.as_str()));
        if listing.entries.iter().any(|entry| entry.name() == tool) {
            let report = Report::error("D018", format!("{subject} offer as a tool"));
            return Some(report.hint("list it without `resumable`"));
        }
        let listed = listing.entries.iter().map(|entry| entry.name().as_str());
        let exists = self.shelf.tool(tool).is_some();
        let add = format!("add it to `tools` in `{}`", listing.prompt.faults.file);
        let hint = if exists { add } else { meant_or(tool.as_str(), listed, &add) };
        Some(Report::error("D018", format!("{subject} list")).hint(hint))
    }
}

/// What a prompt lists, whether it exists or not: a tool that does not is reported at the prompt.
struct Listing<'a> {
    prompt: &'a Declared<PromptDraft>,
    entries: &'a [EntryDraft],
}

impl Listing<'_> {
    /// A resumable child is no tool of its own.
    fn offers(&self, tool: &Name, shelf: &Shelf<'_>) -> bool {
        let callable = shelf.callable(tool);
        self.entries.iter().any(|entry| match entry {
            EntryDraft::Bare(name) => shelf.callable(&name.value) == callable,
            EntryDraft::Full(entry) if entry.child.resumable.is_some() => false,
            EntryDraft::Full(entry) => entry.child.name() == tool || shelf.callable(&entry.child.agent) == callable,
        })
    }
}

/// What the canonical agent has no place for, under the keys of the declaration; a prompt's lies where it is named.
fn extra(shelf: &Shelf<'_>, draft: &AgentDraft) -> Map<String, Value> {
    let mut extra = draft.extra.clone();
    for side in [&draft.side_a, &draft.side_b].into_iter().flatten() {
        let mut rest = side.extra.clone();
        let prompt = side.prompt.as_ref().and_then(|name| shelf.prompts.get(&name.value)?.draft.as_ref());
        let prompt = prompt.map(|prompt| prompt_extra(shelf, prompt)).filter(|extra| !extra.is_empty());
        rest.extend(prompt.map(|prompt| ("prompt".to_owned(), Value::Object(prompt))));
        if !rest.is_empty() {
            extra.insert(side.key.to_owned(), Value::Object(rest));
        }
    }
    extra
}

/// A model's definition lies where it is named.
fn prompt_extra(shelf: &Shelf<'_>, prompt: &PromptDraft) -> Map<String, Value> {
    let mut extra = prompt.extra.clone();
    let model = prompt.model.as_ref().map(|model| &model.value);
    let defined = model.and_then(|name| Some((name, shelf.models.get(name)?.draft.as_ref()?)));
    if let Some((name, model)) = defined {
        let mut model = model.extra.clone();
        model.insert("name".to_owned(), Value::from(name.as_str()));
        extra.insert("model".to_owned(), Value::Object(model));
    }
    extra
}
