//! Agents of other harnesses, read where they lie: `.claude/agents`, and `.agents/agents`, which belongs to none of them.

use crate::agentscope;
use crate::draft::Declared;
use crate::exchange;
use crate::faults::Faults;
use crate::fields::Fields;
use crate::files::{self, Files};
use crate::format::Format;
use crate::front::{self, Page, Reading};
use crate::solo::Solo;
use crate::tree::{At, Node, Spot};
use entourage_model::{Name, Report};

/// The folders, in the order in which they count, and whether an agent must say its name there.
pub(crate) const FOLDERS: [(&str, Naming); 2] =
    [(".claude/agents", Naming::Required), (".agents/agents", Naming::Optional)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    Required,
    /// A file's name is its agent's, if it says no other.
    Optional,
}

/// The agents of both folders and of all that lie in them.
pub(crate) fn read(files: &dyn Files, reports: &mut Vec<Report>) -> Vec<Declared<Solo>> {
    let mut found = Vec::new();
    for (folder, naming) in FOLDERS {
        let paths = files::markdown_beneath(files, folder, reports);
        found.extend(paths.into_iter().filter_map(|path| read_file(files, &path, naming)));
    }
    found
}

/// Absent: the file declares nothing, or went away. Front matter that is no YAML is read line by line, as these
/// harnesses do: the descriptions that they write themselves are full of colons.
fn read_file(files: &dyn Files, path: &str, naming: Naming) -> Option<Declared<Solo>> {
    let mut faults = Faults::new(path);
    let stem = files::stem(path);
    let text = match files::text(files, path) {
        Ok(text) => text?,
        Err(report) => {
            faults.reports.push(report);
            return Some(Declared { name: named(stem), faults, draft: None });
        }
    };
    let (name, draft) = match front::read(&text, Reading::Lax, &mut faults) {
        Page::Plain if !front::is_late(&text, &mut faults) => return None,
        Page::Plain | Page::Broken => (named(stem), None),
        Page::Parts(node, body) => {
            if naming == Naming::Required {
                insist_on_name(&node, &mut faults);
            }
            let read = exchange::read_neutral(stem, &node, body, &mut faults);
            if let Some((name, Solo { format: Format::AgentScope, .. })) = &read {
                agentscope::insist_on_id(name, &mut faults);
            }
            read.map_or_else(|| (named(stem), None), |(name, solo)| (name, Some(solo)))
        }
    };
    Some(Declared { name, faults, draft })
}

fn insist_on_name(node: &Node, faults: &mut Faults) {
    if node.field("name").is_none()
        && let Some(mut fields) = Fields::of(node, "", faults)
    {
        fields.require("name");
    }
}

fn named(stem: &str) -> At<Name> {
    At { value: Name::from(stem), spot: Spot::START }
}
