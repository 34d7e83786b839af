//! Files that a file names: they lie beside it, or in a folder below.

use crate::exchange::File;
use crate::faults::{Faults, quoted};
use crate::files;
use crate::tree::{Node, Tree};
use entourage_model::Report;

/// The text of the file that `node` names. Absent: reported.
pub(super) fn text(file: &File<'_>, key: &str, node: &Node, faults: &mut Faults) -> Option<String> {
    let Tree::Text(path) = &node.tree else {
        let what = format!("{} must be a path, not {}", quoted(key), node.describe());
        faults.push(node.spot, Report::error("D006", what).hint("write the path of a file beside this one"));
        return None;
    };
    let Some(inside) = inside(path) else {
        let what = format!("{} is {}, which leads out of the file's own folder", quoted(key), quoted(path));
        faults.push(node.spot, Report::error("D129", what).hint("name a file below the one that names it"));
        return None;
    };
    let found = match file.beside.map(|beside| files::text(beside, &inside)) {
        Some(Ok(found)) => found,
        Some(Err(report)) => {
            faults.push(node.spot, report);
            return None;
        }
        None => None,
    };
    if found.is_none() {
        let what = format!("{} is {}, which is not there", quoted(key), quoted(path));
        faults.push(node.spot, Report::error("D129", what).hint("correct the path, or put the text in its place"));
    }
    found
}

/// The same where nothing is wrong if there is none.
pub(super) fn quiet(file: &File<'_>, path: &str) -> Option<String> {
    files::text(file.beside?, &inside(path)?).ok()?
}

/// The path without what leads nowhere. Absent: it leads out.
fn inside(path: &str) -> Option<String> {
    let parts: Vec<_> = path.split(['/', '\\']).filter(|part| *part != ".").collect();
    let leads_out = |part: &&str| part.is_empty() || *part == ".." || part.contains(':');
    (!parts.is_empty() && !parts.iter().any(leads_out)).then(|| parts.join("/"))
}
