//! Hooks: those that are declared, and those that a definition names.

use super::ledger::{Id, Ledger};
use super::shelf::Shelf;
use crate::Format;
use crate::draft::Declared;
use crate::faults::{meant_or, quoted};
use crate::tree::At;
use entourage_model::{Hook, Name, Report, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn check_all(shelf: &Shelf<'_>) -> BTreeMap<Name, Hook> {
    let hook = |(name, declared): (&&Name, _)| {
        let Declared { draft, faults, .. }: &Declared<crate::draft::HookDraft> = declared;
        let draft = draft.as_ref()?;
        let source = Source { format: Format::StandardAgents.name().to_owned(), file: Some(faults.file.clone()) };
        Some((
            (*name).clone(),
            Hook { event: draft.event.clone()?, program: Arc::clone(draft.program.as_ref()?), source },
        ))
    };
    shelf.hooks.iter().map(|(name, declared)| (name, *declared)).filter_map(hook).collect()
}

/// The hooks that `declared` names, as far as they are declared themselves.
pub(super) fn named<D>(
    shelf: &Shelf<'_>,
    id: &Id,
    declared: &Declared<D>,
    names: &[At<Name>],
    ledger: &mut Ledger,
) -> Vec<Name> {
    for At { value: name, spot } in names {
        let place = declared.place(*spot);
        if shelf.hooks.contains_key(name) {
            ledger.need(id, Id::Hook(name.clone()));
            continue;
        }
        let what = format!("{id} names hook {}, which is not declared", quoted(name.as_str()));
        let hooks = shelf.hooks.keys().map(|name| name.as_str());
        let hint = meant_or(name.as_str(), hooks, "add a hook with this `id` to `agents/hooks`");
        ledger.refuse(id, Report::error("D033", what).at(place).hint(hint));
    }
    names.iter().map(|name| name.value.clone()).collect()
}
