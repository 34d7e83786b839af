//! The tools that declarations may name.

use entourage_model::Name;
use std::collections::BTreeSet;

/// What the caller's toolbox knows.
pub trait Tools {
    /// The own name of the tool that answers to `name`, which may be an alias. Absent: nobody provides it.
    fn canonical(&self, name: &str) -> Option<Name>;

    /// The own names of all tools, sorted and without aliases.
    fn names(&self) -> Vec<Name>;

    /// The MCP servers of the settings, as they stand in the names of their tools; sorted. What tools they have is not
    /// known before they are started.
    fn servers(&self) -> Vec<Name> {
        Vec::new()
    }

    /// Whether the tool of this very name changes nothing. Unless somebody knows better, a tool may change something.
    fn is_pure(&self, _name: &Name) -> bool {
        false
    }
}

/// What every model provider takes as a tool's name.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Whether a model can call something by this name.
pub(crate) fn can_be_called(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(is_letter)
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
