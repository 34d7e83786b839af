//! Everything that a declaration may name.

use super::ledger::{Id, Ledger};
use crate::Tools;
use crate::draft::{AgentDraft, Declared, Drafts, EntryDraft, HookDraft, ModelDraft, PromptDraft, ToolDraft};
use crate::tree::At;
use entourage_model::{ChildEntry, Name, Report, Variable};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Shelf<'a> {
    pub(super) agents: BTreeMap<&'a Name, &'a Declared<AgentDraft>>,
    pub(super) prompts: BTreeMap<&'a Name, &'a Declared<PromptDraft>>,
    pub(super) models: BTreeMap<&'a Name, &'a Declared<ModelDraft>>,
    pub(super) hooks: BTreeMap<&'a Name, &'a Declared<HookDraft>>,
    /// Those that the project brings.
    pub(super) own_tools: BTreeMap<&'a Name, &'a Declared<ToolDraft>>,
    /// Those that are there without it.
    pub(super) tools: &'a dyn Tools,
    /// The names of both.
    pub(super) tool_names: Vec<Name>,
    secrets: BTreeSet<&'a str>,
    /// The variables whose values no prompt may show.
    hidden: BTreeSet<&'a str>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(drafts: &'a Drafts, tools: &'a dyn Tools, ledger: &mut Ledger) -> Self {
        let own_tools = place(&drafts.tools, Id::Tool, ledger);
        let names: BTreeSet<Name> = tools.names().into_iter().chain(own_tools.keys().copied().cloned()).collect();
        Self {
            agents: place(&drafts.agents, Id::Agent, ledger),
            prompts: place(&drafts.prompts, Id::Prompt, ledger),
            models: place(&drafts.models, Id::Model, ledger),
            hooks: place(&drafts.hooks, Id::Hook, ledger),
            own_tools,
            tools,
            tool_names: names.into_iter().collect(),
            secrets: asked(drafts).filter(|variable| variable.secret).map(|variable| variable.name.as_str()).collect(),
            hidden: hidden(drafts),
        }
    }

    /// The own name of the tool that answers to `name`, be it the project's or not. Absent: nobody provides it.
    pub(super) fn tool(&self, name: &Name) -> Option<Name> {
        if self.own_tools.contains_key(name) { Some(name.clone()) } else { self.tools.canonical(name.as_str()) }
    }

    /// The name under which a call of `name` is seen: an alias is never called, its tool is.
    pub(super) fn callable(&self, name: &Name) -> Name {
        self.tool(name).unwrap_or_else(|| name.clone())
    }

    /// Everything that a prompt may list, by name.
    pub(super) fn callables(&self) -> impl Iterator<Item = &Name> {
        let declared = self.agents.keys().chain(self.prompts.keys()).copied();
        self.tool_names.iter().chain(declared)
    }

    /// Whether a variable is shown to a model only where its author says so in so many words.
    pub(super) fn is_secret(&self, variable: &str) -> bool {
        self.secrets.contains(variable)
    }

    /// Whether a variable is secret, or is only for those to whom it is given: a prompt would show it to a model.
    pub(super) fn is_hidden(&self, variable: &str) -> bool {
        self.hidden.contains(variable)
    }
}

/// Every variable that some definition asks for. A name means the same one wherever it is asked for, so that one
/// definition that hides it is enough.
fn asked(drafts: &Drafts) -> impl Iterator<Item = &Variable> {
    let agents = drafts.agents.iter().filter_map(|declared| declared.draft.as_ref());
    let prompts = drafts.prompts.iter().filter_map(|declared| declared.draft.as_ref());
    let tools = drafts.tools.iter().filter_map(|declared| declared.draft.as_ref());
    let by_agents = agents.flat_map(|agent| &agent.variables);
    let by_prompts = prompts.flat_map(|prompt| &prompt.variables);
    by_agents.chain(by_prompts).chain(tools.flat_map(|tool| &tool.variables))
}

fn hidden(drafts: &Drafts) -> BTreeSet<&str> {
    let hides = |variable: &&Variable| variable.secret || variable.scoped;
    let mut hidden: BTreeSet<&str> = asked(drafts).filter(hides).map(|variable| variable.name.as_str()).collect();
    let agents = drafts.agents.iter().filter_map(|declared| declared.draft.as_ref());
    let prompts = drafts.prompts.iter().filter_map(|declared| declared.draft.as_ref());
    let sides = agents.flat_map(|agent| [&agent.side_a, &agent.side_b].into_iter().flatten());
    let related = sides.flat_map(|side| side.subagents.iter().map(|child| &child.value));
    let listed = prompts.flat_map(|prompt| &prompt.tools).filter_map(|entry| match entry {
        EntryDraft::Full(entry) => Some(&entry.child),
        EntryDraft::Bare(_) => None,
    });
    hidden.extend(related.chain(listed).flat_map(ChildEntry::handed_on));
    hidden
}

/// The declarations by name. Of two with one name the later is taken. A file that does not say its name stands under
/// its stem, unless another has that name: then whoever names it is not told that it does not exist.
fn place<'a, D>(
    declared: &'a [Declared<D>],
    id: fn(Name) -> Id,
    ledger: &mut Ledger,
) -> BTreeMap<&'a Name, &'a Declared<D>> {
    let mut placed: BTreeMap<&Name, &Declared<D>> = BTreeMap::new();
    for later in declared.iter().filter(|declared| declared.draft.is_some()) {
        let At { value: name, spot } = &later.name;
        if let Some(earlier) = placed.insert(name, later) {
            let (first, second) = (&earlier.faults.file, &later.faults.file);
            let what = format!("{} is declared twice: in `{first}` and in `{second}`", id(name.clone()));
            let hint = format!("give one of them another name; until then `{second}` counts");
            // It breaks neither: at run time the later counts.
            ledger.reports.push(Report::error("D010", what).at(later.place(*spot)).hint(hint));
        }
    }
    for nameless in declared.iter().filter(|declared| declared.draft.is_none()) {
        placed.entry(&nameless.name.value).or_insert(nameless);
    }
    for (name, declared) in &placed {
        if declared.draft.is_none() || declared.faults.has_error() {
            ledger.broken(id((*name).clone()));
        }
    }
    placed
}
