//! AgentScope: `subagents/<id>.md`, and the same declarations in settings files under `[subagents.<id>]`.
//!
//! Where AgentScope only logs, there is a report, and its slips are mended: a delimiter is a whole line, a quoted
//! number is a number, and no file is skipped in silence that was meant to declare something.

mod keys;
mod remote;
mod workspace;
mod write;

pub(crate) use keys::is_offered;
pub(crate) use remote::is_template;
pub(crate) use write::write;

use keys::Whence;

use crate::draft::Declared;
use crate::exchange::File;
use crate::faults::{Faults, quoted};
use crate::files::{self, Files};
use crate::front::{self, Page, Reading};
use crate::solo::Solo;
use crate::tree::{At, Node, Spot};
use entourage_model::{Name, Report};
use std::collections::BTreeSet;

pub(crate) const FOLDER: &str = "subagents";

/// What an agent may call its model at most, if it does not say.
pub(crate) const STEPS_MAX: u32 = 10;

/// An agent's own folder is `agents/<id>/workspace`, and these are folders of definitions there.
pub(crate) const RESERVED: [&str; 5] = ["agents", "prompts", "tools", "models", "hooks"];

/// The declarations of the project's first-level Markdown files. Those that are `claimed` belong to somebody else.
pub(crate) fn read(files: &dyn Files, claimed: &BTreeSet<String>, reports: &mut Vec<Report>) -> Vec<Declared<Solo>> {
    let names = files::markdown_in(files, FOLDER, FOLDER, reports);
    let paths = names.into_iter().map(|name| format!("{FOLDER}/{name}")).filter(|path| !claimed.contains(path));
    paths.filter_map(|path| read_file(files, &path)).collect()
}

/// Absent: the file declares nothing, or went away.
fn read_file(files: &dyn Files, path: &str) -> Option<Declared<Solo>> {
    let mut faults = Faults::new(path);
    match files::text(files, path) {
        Ok(text) => read_text(&text?, faults),
        Err(report) => {
            faults.reports.push(report);
            Some(Declared { name: named(files::stem(path), Spot::START), faults, draft: None })
        }
    }
}

/// The declaration of a Markdown file. Absent: it has no front matter, and is anything but a declaration.
pub(crate) fn read_text(text: &str, mut faults: Faults) -> Option<Declared<Solo>> {
    let name = named(files::stem(&faults.file), Spot::START);
    let draft = match front::read(text, Reading::Strict, &mut faults) {
        Page::Plain if !front::is_late(text, &mut faults) => return None,
        Page::Plain | Page::Broken => None,
        Page::Parts(node, body) => {
            insist_on_id(&name, &mut faults);
            keys::read(name.value.as_str(), &node, "", Whence::File { body }, &mut faults)
        }
    };
    Some(Declared { name, faults, draft })
}

/// The agent of a whole file, if it has no error.
pub(crate) fn import(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let read = read_text(file.text, Faults::new(&faults.file));
    let Some(declared) = read else {
        let report = Report::error("D112", "this is no declaration: it has no front matter");
        faults.push(Spot::START, report.hint("begin the file with `---`, `description: …` and `---`"));
        return Vec::new();
    };
    let mut found = declared.sound(faults);
    found.iter_mut().for_each(|(_, solo)| workspace::take_in(solo, file.beside));
    found
}

fn named(id: &str, spot: Spot) -> At<Name> {
    At { value: Name::from(id), spot }
}

/// A declaration of a settings file, which lies there under `subagents.<id>`.
pub(crate) fn settled(id: &str, node: &Node, mut faults: Faults) -> Declared<Solo> {
    let name = named(id, node.spot);
    insist_on_id(&name, &mut faults);
    let draft = keys::read(id, node, &format!("{FOLDER}.{id}"), Whence::Settings, &mut faults);
    Declared { name, faults, draft }
}

/// The declaration that an agent keeps under `x-agentscope`. Absent: reported.
pub(crate) fn reread(name: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    keys::read(name.as_str(), node, "", Whence::Kept { body }, faults)
}

/// An id is the name of a folder.
pub(crate) fn insist_on_id(id: &At<Name>, faults: &mut Faults) {
    let text = id.value.as_str();
    let leads_elsewhere = text.contains(|letter: char| letter.is_control() || r"/\:".contains(letter));
    if text.trim().is_empty() || text.starts_with('.') || leads_elsewhere {
        let report = Report::error("D089", format!("{} cannot be the id of a subagent", quoted(text)));
        faults.push(id.spot, report.hint("use letters, digits, `-` and `_`"));
    } else if RESERVED.contains(&text) {
        let what =
            format!("{} cannot be the id of a subagent: `agents/{text}` is a folder of definitions", quoted(text));
        faults.push(id.spot, Report::error("D089", what).hint(format!("call it `{text}-agent`, for instance")));
    }
}
