//! The tools that declarations may name.

use entourage_model::Name;
use std::collections::BTreeSet;

/// What the caller's toolbox knows.
pub trait Tools {
    /// The own name of the tool that answers to `name`, which may be an alias. Absent: nobody provides it.
    fn canonical(&self, name: &str) -> Option<Name>;

    /// The own names of all tools, sorted and without aliases.
    fn names(&self) -> Vec<Name>;
}

/// Tools without aliases.
impl Tools for BTreeSet<Name> {
    fn canonical(&self, name: &str) -> Option<Name> {
        self.get(name).cloned()
    }

    fn names(&self) -> Vec<Name> {
        self.iter().cloned().collect()
    }
}
