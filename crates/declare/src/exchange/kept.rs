//! A file that another project keeps: it is imported as what it was there.

use crate::exchange::entries::sound;
use crate::exchange::{File, neutral};
use crate::faults::Faults;
use crate::front::{self, Front};
use crate::solo::Solo;
use crate::yaml;
use entourage_model::Name;

/// Absent: the file keeps nothing of another format.
pub(super) fn read(file: &File<'_>, faults: &mut Faults) -> Option<Vec<(Name, Solo)>> {
    let Front::Parts { yaml, first_line, body } = front::split(file.text) else { return None };
    let node = yaml::parse(yaml, first_line).ok()?;
    if !neutral::is_kept(&node) {
        return None;
    }
    let found = sound(faults, |faults| neutral::read(file.stem(&[".md"]), &node, body, faults));
    Some(found.map(|(name, solo)| (name.value, solo)).into_iter().collect())
}
