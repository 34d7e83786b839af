//! Who is broken, who needs whom, and what is reported about it.

use entourage_model::{Name, Report, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Id {
    Agent(Name),
    Prompt(Name),
    Tool(Name),
    Model(Name),
    Hook(Name),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (noun, name) = match self {
            Self::Agent(name) => ("agent", name),
            Self::Prompt(name) => ("prompt", name),
            Self::Tool(name) => ("tool", name),
            Self::Model(name) => ("model", name),
            Self::Hook(name) => ("hook", name),
        };
        write!(f, "{noun} {}", crate::faults::quoted(name.as_str()))
    }
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) reports: Vec<Report>,
    broken: BTreeSet<Id>,
    /// Who is needed, and by whom.
    needed_by: BTreeMap<Id, Vec<Id>>,
}

impl Ledger {
    /// Something whose errors are reported elsewhere.
    pub(super) fn broken(&mut self, id: Id) {
        self.broken.insert(id);
    }

    /// An error, which breaks `id`.
    pub(super) fn refuse(&mut self, id: &Id, report: Report) {
        self.broken(id.clone());
        self.reports.push(report);
    }

    /// A report that breaks `id` if it is an error.
    pub(super) fn note(&mut self, id: &Id, report: Report) {
        match report.severity {
            Severity::Error => self.refuse(id, report),
            Severity::Warning => self.reports.push(report),
        }
    }

    /// `from` cannot do without `to`.
    pub(super) fn need(&mut self, from: &Id, to: Id) {
        self.needed_by.entry(to).or_default().push(from.clone());
    }

    pub(super) fn is_broken(&self, id: &Id) -> bool {
        self.broken.contains(id)
    }

    /// Breaks whoever needs something broken. Nobody is told: what is wrong is said where it is, and whoever mends it
    /// has mended the rest as well.
    pub(super) fn spread(&mut self) {
        let mut front: Vec<Id> = self.broken.iter().cloned().collect();
        while let Some(broken) = front.pop() {
            for from in self.needed_by.get(&broken).into_iter().flatten() {
                if self.broken.insert(from.clone()) {
                    front.push(from.clone());
                }
            }
        }
    }
}
