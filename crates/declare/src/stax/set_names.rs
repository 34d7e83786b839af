//! Folders whose files have set names: surfaces and the instruction tree. What is called otherwise is packed all the same.

use super::source::Source;
use crate::faults::{Faults, quoted};
use entourage_model::{Place, Report, meant};

const SURFACES: [&str; 7] = ["instructions", "persona", "tools", "identity", "user", "heartbeat", "bootstrap"];
const TREE_FILE: &str = "/instructions.md";

/// Warns of files that nobody looks for.
pub(super) fn check(source: &Source<'_>, folders: &[(&str, String)], faults: &mut Faults) {
    for (key, folder) in folders {
        // Whoever reads the folder reports what cannot be read.
        for file in source.files_beneath(folder, &mut Faults::new(folder)) {
            let path = file.strip_prefix(folder).unwrap_or(&file).trim_start_matches('/');
            if let Some((kind, hint)) = oddity(key, path) {
                let report = Report::warning("D076", format!("{} is no {kind}", quoted(&file)));
                faults.reports.push(report.at(Place::file(&file)).hint(hint));
            }
        }
    }
}

/// What a file of the folder under `key` is not, and what to do about it. Absent: it is what it must be.
fn oddity(key: &str, path: &str) -> Option<(&'static str, String)> {
    match key {
        "surfaces" if !path.strip_suffix(".md").is_some_and(|name| SURFACES.contains(&name)) => {
            let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
            let meant = meant(stem, SURFACES).map(|name| format!("did you mean `{name}.md`?"));
            let all = || format!("surfaces are {}, each with `.md`", SURFACES.map(quoted).join(", "));
            Some(("surface", meant.unwrap_or_else(all)))
        }
        "instructionTree" if !path.ends_with(TREE_FILE) => {
            let hint = "a tree has only `_root/instructions.md` and `FOLDER/instructions.md`";
            Some(("part of an instruction tree", hint.to_owned()))
        }
        _ => None,
    }
}
