//! Everything that a declaration may name.

use super::ledger::{Id, Ledger};
use crate::Tools;
use crate::draft::{AgentDraft, Declared, Drafts, PromptDraft};
use crate::tree::At;
use entourage_model::{Name, Report};
use std::collections::BTreeMap;

pub(super) struct Shelf<'a> {
    pub(super) agents: BTreeMap<&'a Name, &'a Declared<AgentDraft>>,
    pub(super) prompts: BTreeMap<&'a Name, &'a Declared<PromptDraft>>,
    pub(super) tools: &'a dyn Tools,
    pub(super) tool_names: Vec<Name>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(drafts: &'a Drafts, tools: &'a dyn Tools, ledger: &mut Ledger) -> Self {
        let agents = place(&drafts.agents, Id::Agent, ledger);
        let prompts = place(&drafts.prompts, Id::Prompt, ledger);
        Self { agents, prompts, tools, tool_names: tools.names() }
    }

    /// The name under which a call of `name` is seen: an alias is never called, its tool is.
    pub(super) fn callable(&self, name: &Name) -> Name {
        self.tools.canonical(name.as_str()).unwrap_or_else(|| name.clone())
    }
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
