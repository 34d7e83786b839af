//! Model definitions → references: which model a name means, and which are asked when it cannot answer.

use super::ledger::{Id, Ledger};
use super::shelf::Shelf;
use crate::draft::{Declared, ModelDraft};
use crate::faults::{meant_or, quoted};
use crate::tree::At;
use entourage_model::{ModelRef, Name, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many others a model may fall back to, in a row or side by side.
const FALLBACKS_MAX: usize = 32;

/// A model and, in order, those that answer in its place.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) model: ModelRef,
    pub(super) fallbacks: Vec<ModelRef>,
}

/// The definitions that could be read, by name. One with a broken fallback is among them, and the ledger knows.
pub(super) type Models<'a> = BTreeMap<&'a Name, Resolved>;

pub(super) fn check_all<'a>(shelf: &Shelf<'a>, ledger: &mut Ledger) -> Models<'a> {
    let mut walker = Walker { shelf, ledger, done: BTreeSet::new(), trail: Vec::new() };
    for (name, declared) in &shelf.models {
        walker.visit(name, declared);
    }
    let mut models = Models::new();
    for (name, declared) in &shelf.models {
        let Some(draft) = &declared.draft else { continue };
        let fallbacks = fallbacks(shelf, name, draft).unwrap_or_else(|| {
            let id = Id::Model((*name).clone());
            let what = format!("{id} falls back to more than {FALLBACKS_MAX} others, directly or by way of them");
            let report = Report::error("D032", what).at(declared.place(declared.name.spot));
            ledger.refuse(&id, report.hint("let models fall back to fewer others"));
            Vec::new()
        });
        models.extend(reference(draft).map(|model| (*name, Resolved { model, fallbacks })));
    }
    models
}

/// What a prompt's `model` means: a defined name, or else `provider:model`.
pub(super) fn named(shelf: &Shelf<'_>, models: &Models<'_>, id: &Id, name: &Name) -> Result<Resolved, Report> {
    if let Some(resolved) = models.get(name) {
        return Ok(resolved.clone());
    }
    match ModelRef::parse(name.as_str()) {
        Some(model) => Ok(Resolved { model, fallbacks: Vec::new() }),
        None => Err(unknown(shelf, id, name)),
    }
}

fn reference(draft: &ModelDraft) -> Option<ModelRef> {
    ModelRef::parse(&format!("{}:{}", draft.provider.as_ref()?, draft.model.as_ref()?))
}

/// Its own fallbacks first, then theirs; none twice. Absent: they are too many.
fn fallbacks(shelf: &Shelf<'_>, name: &Name, draft: &ModelDraft) -> Option<Vec<ModelRef>> {
    let mut seen = BTreeSet::from([name]);
    let mut waiting: VecDeque<&Name> = draft.fallbacks.iter().map(|fallback| &fallback.value).collect();
    let mut models = Vec::new();
    while let Some(name) = waiting.pop_front() {
        if !seen.insert(name) {
            continue;
        }
        if seen.len() > FALLBACKS_MAX + 1 {
            return None;
        }
        let defined = shelf.models.get(name).and_then(|declared| declared.draft.as_ref());
        waiting.extend(defined.iter().flat_map(|draft| &draft.fallbacks).map(|fallback| &fallback.value));
        let is_defined = shelf.models.contains_key(name);
        let model = if is_defined { defined.and_then(reference) } else { ModelRef::parse(name.as_str()) };
        models.extend(model.filter(|model| !models.contains(model)));
    }
    Some(models)
}

/// Looks at the fallbacks of every definition once.
struct Walker<'a, 'b> {
    shelf: &'b Shelf<'a>,
    ledger: &'b mut Ledger,
    done: BTreeSet<&'a Name>,
    /// The models that are being looked at, each a fallback of the one before it.
    trail: Vec<&'a Name>,
}

impl<'a> Walker<'a, '_> {
    fn visit(&mut self, name: &'a Name, declared: &'a Declared<ModelDraft>) {
        if !self.done.insert(name) {
            return;
        }
        self.trail.push(name);
        for fallback in declared.draft.iter().flat_map(|draft| &draft.fallbacks) {
            self.fallback(name, declared, fallback);
        }
        self.trail.pop();
    }

    fn fallback(&mut self, name: &'a Name, declared: &'a Declared<ModelDraft>, fallback: &'a At<Name>) {
        let id = Id::Model(name.clone());
        let place = declared.place(fallback.spot);
        let fallback = &fallback.value;
        let Some(next) = self.shelf.models.get(fallback).copied() else {
            if ModelRef::parse(fallback.as_str()).is_none() {
                let report = unknown(self.shelf, &id, fallback);
                self.ledger.refuse(&id, report.at(place));
            }
            return;
        };
        self.ledger.need(&id, Id::Model(fallback.clone()));
        if let Some(start) = self.trail.iter().position(|earlier| *earlier == fallback) {
            let circle: Vec<_> = self.trail[start..].iter().map(|name| quoted(name.as_str())).collect();
            let what = format!("{id} falls back to itself, by way of {}", circle.join(" → "));
            let report = Report::error("D032", what).hint("remove one of these fallbacks");
            self.ledger.refuse(&id, report.at(place));
        } else if self.trail.len() <= FALLBACKS_MAX {
            self.visit(fallback, next);
        }
        // Where the trail is longer, whoever stands at its start has too many.
    }
}

fn unknown(shelf: &Shelf<'_>, id: &Id, name: &Name) -> Report {
    let what =
        format!("{id} uses model {}, which is neither declared nor written `provider:model`", quoted(name.as_str()));
    let remedy = "write `provider:model`, or add it to `agents/models`";
    let hint = meant_or(name.as_str(), shelf.models.keys().map(|name| name.as_str()), remedy);
    Report::error("D031", what).hint(hint)
}
