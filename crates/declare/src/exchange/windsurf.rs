//! Windsurf has no subagents: an agent becomes a workflow, which people start by its name.

use crate::exchange::{Record, Written, file_stem, page};
use crate::solo::Solo;
use entourage_model::Name;

pub(super) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let mut left = solo.clone();
        let mut record = Record::default();
        record.copy("description", left.description.take());
        let Record { keys, losses } = record.lose(left);
        let path = format!(".windsurf/workflows/{}.md", file_stem(name.as_str()));
        written.add(name, path, page(&keys, &solo.body), losses);
    }
    written
}
