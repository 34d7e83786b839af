//! For whatever reads Markdown: a file of instructions for each agent.

use crate::exchange::{Record, Written, file_stem};
use crate::solo::Solo;
use entourage_model::{Name, one_line};

pub(super) fn write(agents: &[(Name, Solo)]) -> Written {
    let mut written = Written::default();
    for (name, solo) in agents {
        let mut left = solo.clone();
        let title = left.title.take().map_or_else(|| name.to_string(), |said| said.value);
        let mut text = format!("# {}\n\n", one_line(&title));
        if let Some(description) = left.description.take() {
            text.push_str(&description.value);
            text.push_str("\n\n");
        }
        text.push_str(&solo.body);
        let Record { losses, .. } = Record::default().lose(left);
        written.add(name, format!("{}/INSTRUCTIONS.md", file_stem(name.as_str())), text, losses);
    }
    written
}
