//! Drafts → agents: every name is looked up, and what depends on something broken is left out.

mod agent;
mod include;
mod ledger;
mod prompt;
mod shelf;

use crate::Tools;
use crate::draft::Drafts;
use entourage_model::{Agent, Name, Prompt, Report};
use ledger::{Id, Ledger};
use shelf::Shelf;
use std::collections::BTreeMap;

/// What is left when everything was looked at.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Those without an error, in themselves and in everything that they need.
    pub(crate) agents: Vec<Agent>,
    /// In no order.
    pub(crate) reports: Vec<Report>,
}

pub(crate) fn check(drafts: Drafts, tools: &dyn Tools) -> Checked {
    let mut ledger = Ledger::default();
    let agents = check_agents(&Shelf::new(&drafts, tools, &mut ledger), &mut ledger);
    ledger.spread();
    let agents = agents.into_iter().filter(|agent| !ledger.is_broken(&Id::Agent(agent.name.clone()))).collect();
    let mut reports = drafts.reports;
    reports.extend(drafts.agents.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(drafts.prompts.into_iter().flat_map(|declared| declared.faults.reports));
    reports.extend(ledger.reports);
    Checked { agents, reports }
}

fn check_agents(shelf: &Shelf<'_>, ledger: &mut Ledger) -> Vec<Agent> {
    let texts = include::render(shelf, ledger);
    let mut prompts: BTreeMap<&Name, Prompt> = BTreeMap::new();
    for (name, declared) in &shelf.prompts {
        let Some(draft) = &declared.draft else { continue };
        let text = texts.get(*name).cloned().unwrap_or_default();
        prompts.insert(name, prompt::check(shelf, declared, draft, text, ledger));
    }
    let check = |declared| agent::check(shelf, &prompts, declared, ledger);
    shelf.agents.values().copied().filter_map(check).collect()
}
