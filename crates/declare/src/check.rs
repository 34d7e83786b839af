//! Drafts → agents: every name is looked up, and what depends on something broken is left out.

mod agent;
mod cast;
mod entry;
mod hook;
mod include;
mod ledger;
mod model;
mod prompt;
mod server;
mod shelf;
mod solo;
mod tool;
mod toolkit;

pub(crate) use cast::{Owner, cast};
pub use server::DeclaredServer;
pub(crate) use server::{is_heeded, settled as settled_servers, undeclared_here};
pub(crate) use solo::{Solitary, Stage, check as check_solo, is_offered};
pub(crate) use toolkit::Toolkit;

use crate::Tools;
use crate::draft::Drafts;
use entourage_model::{Agent, Hook, Name, Prompt, Report, ScriptTool};
use ledger::{Id, Ledger};
use shelf::Shelf;
use std::collections::{BTreeMap, BTreeSet};

/// What is left when everything was looked at: that without an error, in itself and in everything that it needs.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) agents: Vec<Agent>,
    pub(crate) tools: BTreeMap<Name, ScriptTool>,
    pub(crate) hooks: BTreeMap<Name, Hook>,
    /// Those that somebody calls.
    pub(crate) prompts: BTreeMap<Name, Prompt>,
    /// In no order.
    pub(crate) reports: Vec<Report>,
}

pub(crate) fn check(drafts: Drafts, tools: &dyn Tools) -> Checked {
    let mut ledger = Ledger::default();
    let mut checked = check_all(&Shelf::new(&drafts, tools, &mut ledger), &mut ledger);
    ledger.spread();
    checked.agents.retain(|agent| !ledger.is_broken(&Id::Agent(agent.name.clone())));
    checked.tools.retain(|name, _| !ledger.is_broken(&Id::Tool(name.clone())));
    checked.hooks.retain(|name, _| !ledger.is_broken(&Id::Hook(name.clone())));
    checked.prompts.retain(|name, _| !ledger.is_broken(&Id::Prompt(name.clone())));
    let reports = &mut checked.reports;
    reports.extend(drafts.reports);
    reports.extend(drafts.agents.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(drafts.prompts.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(drafts.tools.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(drafts.models.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(drafts.hooks.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(ledger.reports);
    checked
}

fn check_all(shelf: &Shelf<'_>, ledger: &mut Ledger) -> Checked {
    let tools = tool::check_all(shelf, ledger);
    let hooks = hook::check_all(shelf);
    let models = model::check_all(shelf, ledger);
    let texts = include::render(shelf, ledger);
    let mut prompts: BTreeMap<&Name, Prompt> = BTreeMap::new();
    for (name, declared) in &shelf.prompts {
        let Some(draft) = &declared.draft else { continue };
        let text = texts.get(*name).cloned().unwrap_or_default();
        let checker = prompt::Checker { shelf, models: &models, declared, draft };
        prompts.insert(name, checker.check(text, ledger));
    }
    let agents = shelf.agents.values().filter_map(|declared| agent::check(shelf, &prompts, declared, ledger)).collect();
    entry::idle_in_prompts(shelf, &prompts, ledger);
    let called = called(&prompts, &tools);
    let prompts = prompts.into_iter().filter(|(name, _)| called.contains(*name));
    let prompts = prompts.map(|(name, prompt)| (name.clone(), prompt)).collect();
    Checked { agents, tools, hooks, prompts, reports: Vec::new() }
}

/// The names of everything that a prompt or a tool calls.
fn called(prompts: &BTreeMap<&Name, Prompt>, tools: &BTreeMap<Name, ScriptTool>) -> BTreeSet<Name> {
    entry::called_prompts(prompts).chain(tools.values().flat_map(|tool| &tool.uses)).cloned().collect()
}
