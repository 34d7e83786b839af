//! The tools that an agent with one side can have: what comes with the program, and what the project declares.

use crate::Tools;
use crate::exchange::vocabulary::{self, Grant, Work};
use crate::format::Format;
use entourage_model::{EffectClass, Name, ScriptTool};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Copy)]
pub(crate) struct Toolkit<'a> {
    pub(crate) known: &'a dyn Tools,
    pub(crate) own: &'a BTreeMap<Name, Arc<ScriptTool>>,
}

impl fmt::Debug for Toolkit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Toolkit<'_> {
    /// All of them, sorted.
    pub(crate) fn names(&self) -> Vec<Name> {
        let names: BTreeSet<_> = self.known.names().into_iter().chain(self.own.keys().cloned()).collect();
        names.into_iter().collect()
    }

    pub(crate) fn has(&self, name: &Name) -> bool {
        self.own.contains_key(name) || self.known.names().contains(name)
    }

    /// Whether a tool changes nothing.
    pub(crate) fn is_pure(&self, name: &Name) -> bool {
        match self.own.get(name) {
            Some(tool) => tool.spec.class == EffectClass::Pure,
            None => self.known.is_pure(name),
        }
    }

    /// What an entry in a list of `format` means.
    pub(crate) fn resolve(&self, format: Format, entry: &str) -> Meaning {
        if self.own.contains_key(entry) {
            return Meaning::Tools(vec![Name::from(entry)]);
        }
        match vocabulary::grant(format, entry) {
            Grant::Everything => Meaning::Tools(self.names()),
            Grant::Agents(_) | Grant::Server { .. } => Meaning::Tools(Vec::new()),
            Grant::Works(works) => {
                let has_place = |work: &Work| work.our_tool().is_some() || *work == Work::Agent;
                let here = works.iter().filter_map(|work| self.known.canonical(work.our_tool()?));
                if works.iter().any(has_place) { Meaning::Tools(here.collect()) } else { Meaning::Elsewhere }
            }
            Grant::Unknown => match self.known.canonical(entry) {
                Some(tool) => Meaning::Tools(vec![tool]),
                None => Meaning::Unknown,
            },
        }
    }
}

/// What a declaration means by the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// These of ours. None of them: it means something that is no tool of the toolkit, such as another agent.
    Tools(Vec<Name>),
    /// A tool that its own harness has, and that has no counterpart here.
    Elsewhere,
    Unknown,
}
