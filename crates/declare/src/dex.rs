//! dex profiles: Markdown with simple front matter, in the user's folder, the project's, and others that are named.
//!
//! A later folder's profile takes the place of an earlier one with the same id.

mod write;

pub(crate) use write::write;

use crate::Format;
use crate::Project;
use crate::draft::Declared;
use crate::exchange::{File, complete};
use crate::faults::{Faults, quoted};
use crate::fields::Fields;
use crate::files::{self, Files};
use crate::front::{self, Page, Reading};
use crate::solo::{Said, Solo};
use crate::tree::{At, Node, Spot, Tree};
use entourage_model::{Name, Report};

pub(crate) const FOLDER: &str = ".dex/agents";

/// The profiles of all folders, in the order in which they count.
pub(crate) fn read(project: &Project<'_>, reports: &mut Vec<Report>) -> Vec<Declared<Solo>> {
    let mut folders = Vec::new();
    folders.extend(project.home.map(|home| (format!("~/{FOLDER}"), home, FOLDER)));
    folders.push((FOLDER.to_owned(), project.files, FOLDER));
    folders.extend(project.profile_folders.iter().map(|(shown, files)| (shown.clone(), *files, "")));
    let mut found = Vec::new();
    for (index, (shown, files, folder)) in folders.iter().enumerate() {
        // A folder that is named again counts where it is named last: its profiles do not clash with themselves.
        if !folders[index + 1..].iter().any(|(later, ..)| later == shown) {
            found.extend(read_folder(*files, folder, shown, reports));
        }
    }
    found
}

fn read_folder(files: &dyn Files, folder: &str, shown: &str, reports: &mut Vec<Report>) -> Vec<Declared<Solo>> {
    let names = files::markdown_in(files, folder, shown, reports);
    let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    names.iter().filter_map(|name| read_file(files, &path(name), format!("{shown}/{name}"))).collect()
}

/// Absent: the file is no profile, or went away.
fn read_file(files: &dyn Files, path: &str, shown: String) -> Option<Declared<Solo>> {
    let mut faults = Faults::new(shown);
    match files::text(files, path) {
        Ok(text) => read_text(&text?, faults),
        Err(report) => {
            let place = report.place.as_ref().and_then(|place| Some(Spot { line: place.line?, column: place.column? }));
            faults.push(place.unwrap_or(Spot::START), report);
            Some(Declared { name: named(files::stem(path), Spot::START), faults, draft: None })
        }
    }
}

/// The profile of a Markdown file. Absent: the file is there to be read by people.
///
/// dex reads its front matter line by line, and so does this where it is no YAML.
pub(crate) fn read_text(text: &str, mut faults: Faults) -> Option<Declared<Solo>> {
    let stem = files::stem(&faults.file).to_owned();
    let profile = match front::read(text, Reading::Lax, &mut faults) {
        Page::Plain if stem.eq_ignore_ascii_case("readme") => return None,
        Page::Plain => {
            let report = Report::warning("D081", "this is no profile: it has no front matter, and is ignored");
            faults.push(Spot::START, report.hint("begin the file with `---`, `description: …` and `---`"));
            None
        }
        Page::Broken => None,
        Page::Parts(node, body) => keys(&stem, &node, body, &mut faults),
    };
    let (name, draft) = profile.map_or_else(|| (named(&stem, Spot::START), None), |(name, solo)| (name, Some(solo)));
    Some(Declared { name, faults, draft })
}

/// The agent of a whole file, if it has no error.
pub(crate) fn import(file: &File<'_>, faults: &mut Faults) -> Vec<(Name, Solo)> {
    let read = read_text(file.text, Faults::new(&faults.file));
    let Some(declared) = read else {
        let report = Report::error("D112", "this is no profile: it has no front matter");
        faults.push(Spot::START, report.hint("begin the file with `---`, `description: …` and `---`"));
        return Vec::new();
    };
    declared.sound(faults)
}

fn named(id: &str, spot: Spot) -> At<Name> {
    At { value: Name::from(id), spot }
}

/// The profile that an agent keeps under `x-dex`. Absent: reported.
pub(crate) fn reread(name: &Name, node: &Node, body: &str, faults: &mut Faults) -> Option<Solo> {
    keys(name.as_str(), node, body, faults).map(|(_, solo)| solo)
}

/// Every single value is a text; what its author left out of quotes may look like a number.
fn keys(stem: &str, node: &Node, body: &str, faults: &mut Faults) -> Option<(At<Name>, Solo)> {
    let mut fields = Fields::of(node, "", faults)?;
    let mut solo = Solo::new(Format::Dex, body);
    let id = text(&mut fields, "id");
    let name = id.map_or_else(|| named(stem, node.spot), |id| named(&id.value, id.spot));
    solo.title = text(&mut fields, "name");
    solo.description = text(&mut fields, "description");
    solo.tools = names(&mut fields, "tools");
    solo.denied_tools = names(&mut fields, "disabledTools");
    if solo.description.is_none() {
        let what = format!("profile {} does not say what it is for", quoted(name.value.as_str()));
        fields.report(node, Report::warning("D100", what).hint("add `description`"));
    }
    _ = fields.finish();
    complete(&mut solo, node, &["id"]);
    Some((name, solo))
}

/// A blank text is none.
fn text(fields: &mut Fields<'_>, key: &'static str) -> Option<Said<String>> {
    let node = fields.node(key).filter(|node| !matches!(node.tree, Tree::Null))?;
    let Some(text) = node.scalar_text() else { return fields.wrong(key, "a text", node) };
    let text = text.trim();
    (!text.is_empty()).then(|| Said { key: key.to_owned(), spot: node.spot, value: text.to_owned() })
}

/// A list, or names with commas between them. An empty list allows nothing, and denies nothing.
fn names(fields: &mut Fields<'_>, key: &'static str) -> Option<Said<Vec<At<String>>>> {
    let node = fields.node(key).filter(|node| !matches!(node.tree, Tree::Null))?;
    let mut names = Vec::new();
    match &node.tree {
        Tree::List(items) => {
            for (index, item) in items.iter().enumerate() {
                match item.scalar_text() {
                    Some(text) => names.push(At { value: text.trim().to_owned(), spot: item.spot }),
                    None => return fields.wrong(&format!("{key}[{index}]"), "the name of a tool", item),
                }
            }
        }
        _ => match node.scalar_text() {
            Some(text) => {
                let parts = text.split(',').map(str::trim);
                names.extend(parts.map(|part| At { value: part.to_owned(), spot: node.spot }));
            }
            None => return fields.wrong(key, "a list of tools", node),
        },
    }
    names.retain(|name| !name.value.is_empty());
    Some(Said { key: key.to_owned(), spot: node.spot, value: names })
}
