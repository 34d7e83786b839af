//! An agent's draft → agent: its prompts exist, and list the tools that end its sessions.

use super::ledger::{Id, Ledger};
use super::prompt::tool_name_fault;
use super::shelf::Shelf;
use crate::draft::{AgentDraft, BindingDraft, Declared, EntryDraft, PromptDraft, SideDraft};
use crate::faults::did_you_mean;
use crate::faults::quoted;
use crate::tree::At;
use entourage_model::{Agent, Binding, Kind, Name, Prompt, Report, Severity, SideConfig, Source};
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
    Some(Agent {
        name: declared.name.value.clone(),
        kind: draft.kind,
        title: draft.title.clone(),
        description: draft.description.clone(),
        side_a: side_a?,
        side_b,
        session_turns_max: draft.session_turns_max,
        expose_as_tool: draft.expose_as_tool,
        tool_description: draft.tool_description.clone(),
        source: Source { format: draft.format.to_owned(), file: Some(declared.faults.file.clone()) },
        extra: extra(shelf, draft),
    })
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
        if let Some(fault) = tool_name_fault(name) {
            self.ledger.refuse(&self.id, fault.at(place));
        } else if self.shelf.tool_names.contains(name) {
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
            let hint = did_you_mean(name.as_str(), self.shelf.prompts.keys().map(|name| name.as_str()));
            self.ledger.refuse(&self.id, Report { hint, ..Report::error("D012", what) }.at(place));
            return None;
        };
        self.ledger.need(&self.id, Id::Prompt(name.clone()), place);
        let listing = Listing { prompt: declared, entries: &declared.draft.as_ref()?.tools };
        let stop_tool = side.stop_tool.as_ref().map(|tool| {
            // It costs no more than a way to stop: the side has others.
            if let Some(fault) = self.unlisted(&format!("{}.stopTool", side.key), &tool.value, &listing) {
                let report = Report { severity: Severity::Warning, ..fault };
                self.ledger.reports.push(report.at(self.declared.place(tool.spot)));
            }
            self.shelf.callable(&tool.value)
        });
        let mut bind = |field: &str, binding: &Option<BindingDraft>| {
            Some(self.binding(&format!("{}.{field}", side.key), binding.as_ref()?, &listing))
        };
        Some(SideConfig {
            prompt: prompts.get(name)?.clone(),
            label: side.label.clone(),
            stop_on_response: side.stop_on_response,
            stop_tool,
            stop_tool_response_property: side.stop_tool_response_property.clone(),
            steps_max: side.steps_max,
            session_stop: bind("sessionStop", &side.session_stop),
            session_fail: bind("sessionFail", &side.session_fail),
            session_status: bind("sessionStatus", &side.session_status),
        })
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
        let exists = self.shelf.tools.canonical(tool.as_str()).is_some();
        let hint = did_you_mean(tool.as_str(), listed).filter(|_| !exists);
        let add = || format!("add it to `tools` in `{}`", listing.prompt.faults.file);
        Some(Report::error("D018", format!("{subject} list")).hint(hint.unwrap_or_else(add)))
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
            EntryDraft::Full(child) if child.value.resumable.is_some() => false,
            EntryDraft::Full(child) => child.value.agent == *tool || shelf.callable(&child.value.agent) == callable,
        })
    }
}

/// What the canonical agent has no place for, under the keys of the declaration; a prompt's lies where it is named.
fn extra(shelf: &Shelf<'_>, draft: &AgentDraft) -> Map<String, Value> {
    let mut extra = draft.extra.clone();
    for side in [&draft.side_a, &draft.side_b].into_iter().flatten() {
        let mut rest = side.extra.clone();
        let prompt = side.prompt.as_ref().and_then(|name| shelf.prompts.get(&name.value)?.draft.as_ref());
        if let Some(prompt) = prompt.filter(|prompt| !prompt.extra.is_empty()) {
            rest.insert("prompt".to_owned(), Value::Object(prompt.extra.clone()));
        }
        if !rest.is_empty() {
            extra.insert(side.key.to_owned(), Value::Object(rest));
        }
    }
    extra
}
