//! OpenClaw: an agent is a workspace of its own, whose `AGENTS.md` tells it what to do. Everything else about it is
//! said in the user's settings, which nobody but the user writes.

use crate::exchange::{Record, Written, file_stem};
use crate::solo::Solo;
use entourage_model::Name;

pub(super) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let Record { losses, .. } = Record::default().lose(solo.clone());
        written.add(name, format!("{}/AGENTS.md", file_stem(name.as_str())), solo.body.clone(), losses);
    }
    written
}
