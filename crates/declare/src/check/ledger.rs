//! Who is broken, who needs whom, and what is reported about it.

use entourage_model::{Name, Place, Report};
use std::collections::BTreeMap;
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
    /// Each with the one whose errors broke it: itself, or what it needs.
    broken: BTreeMap<Id, Id>,
    needs: Vec<Need>,
}

#[derive(Debug)]
struct Need {
    from: Id,
    to: Id,
    place: Place,
}

impl Ledger {
    /// Something whose errors are reported elsewhere.
    pub(super) fn broken(&mut self, id: Id) {
        self.broken.insert(id.clone(), id);
    }

    /// An error, which breaks `id`.
    pub(super) fn refuse(&mut self, id: &Id, report: Report) {
        self.broken(id.clone());
        self.reports.push(report);
    }

    /// `from` cannot do without `to`, as it says at `place`.
    pub(super) fn need(&mut self, from: &Id, to: Id, place: Place) {
        self.needs.push(Need { from: from.clone(), to, place });
    }

    pub(super) fn is_broken(&self, id: &Id) -> bool {
        self.broken.contains_key(id)
    }

    /// Breaks whoever needs something broken. Every agent that is left out for that is told so once, where it says
    /// what it needs; a prompt, a model or a tool is not, because nobody would have asked for it.
    pub(super) fn spread(&mut self) {
        let mut needed_by: BTreeMap<&Id, Vec<&Need>> = BTreeMap::new();
        for need in &self.needs {
            needed_by.entry(&need.to).or_default().push(need);
        }
        let mut front = self.broken.clone();
        while !front.is_empty() {
            let mut next = BTreeMap::new();
            for (broken, cause) in &front {
                for need in needed_by.get(broken).into_iter().flatten() {
                    if self.broken.contains_key(&need.from) || next.contains_key(&need.from) {
                        continue;
                    }
                    self.reports.extend(left_out(need, cause));
                    next.insert(need.from.clone(), cause.clone());
                }
            }
            self.broken.extend(next.clone());
            front = next;
        }
    }
}

fn left_out(need: &Need, cause: &Id) -> Option<Report> {
    let Id::Agent(_) = need.from else { return None };
    let what = format!("{} is left out: it needs {cause}, which has errors", need.from);
    Some(Report::error("D020", what).at(need.place.clone()).hint(format!("mend {cause} first")))
}
