//! The files of a stax project: definitions as nodes, texts verbatim, folders file by file.

use super::luggage::Luggage;
use super::path;
use crate::faults::{Faults, quoted};
use crate::files::{self, Files, Kind};
use crate::tree::{At, Node, Spot};
use crate::{json, typescript, yaml};
use entourage_model::Report;
use entourage_script::Memory;
use std::collections::BTreeSet;

/// How deep the folders of a component may lie in each other.
const DEPTH_MAX: usize = 32;

pub(super) struct Source<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) memory: &'a dyn Memory,
    /// Whether the agent finds the files where it works.
    pub(super) is_on_disk: bool,
    /// Whether the agent goes elsewhere and leaves the files behind.
    pub(super) is_imported: bool,
    /// The Markdown files that were named.
    pub(super) claimed: BTreeSet<String>,
    /// What was taken along of a bundle.
    pub(super) luggage: Luggage,
}

/// What a path must lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    File,
    Folder,
}

impl Source<'_> {
    /// The path, relative to the project, that `said` in `faults.file` means. Absent: reported.
    pub(super) fn locate(&self, said: &At<String>, key: &str, wanted: Wanted, faults: &mut Faults) -> Option<String> {
        let refuse = |faults: &mut Faults, code, what: String, hint: &str| {
            faults.push(said.spot, Report::error(code, what).hint(hint));
            None
        };
        let shown = quoted(&said.value);
        if path::is_root(&faults.file, &said.value) {
            let what = format!("`{key}` is {shown}, which is the project's folder itself, with all that is made in it");
            return refuse(faults, "D051", what, "put what is meant into a folder of its own, and give that");
        }
        let Some(path) = path::resolve(&faults.file, &said.value) else {
            let what = format!("`{key}` is {shown}, which does not lie inside the project");
            return refuse(faults, "D051", what, "give a path beneath the folder of the agent, such as `./prompt.md`");
        };
        let mut parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        if parents.any(|parent| matches!(self.files.kind(parent), Ok(Kind::Link))) {
            let what = format!("`{key}` is {shown}, which lies behind a symbolic link");
            return refuse(faults, "D054", what, "put the folder itself there: links are not packed");
        }
        match (self.files.kind(&path), wanted) {
            (Ok(Kind::File), Wanted::File) | (Ok(Kind::Folder), Wanted::Folder) => Some(path),
            (Ok(Kind::File), Wanted::Folder) => {
                refuse(faults, "D053", format!("`{key}` is {shown}, which is a file"), "give a folder")
            }
            (Ok(Kind::Folder), Wanted::File) => {
                refuse(faults, "D053", format!("`{key}` is {shown}, which is a folder"), "give a file")
            }
            (Ok(Kind::Link), _) => {
                let what = format!("`{key}` is {shown}, which is a symbolic link");
                refuse(faults, "D054", what, "put the file itself there: links are not packed")
            }
            (Ok(Kind::Other), _) => {
                refuse(faults, "D053", format!("`{key}` is {shown}, which is no file"), "give a regular file")
            }
            (Err(_), _) => {
                let what = format!("`{key}` is {shown}, which does not exist");
                refuse(faults, "D052", what, "write the file, or remove the key")
            }
        }
    }

    /// A definition in TypeScript or JSON. Absent: reported.
    pub(super) fn definition(&self, path: &str, faults: &mut Faults) -> Option<Node> {
        if path.ends_with(".json") {
            let text = files::text(self.files, path).map_err(|report| faults.reports.push(report)).ok()??;
            let parsed = json::parse_with_halves(&text);
            return parsed.map_err(|fault| faults.push(fault.spot, fault.report())).ok();
        }
        if [".ts", ".mts", ".js", ".mjs"].iter().any(|end| path.ends_with(end)) {
            return typescript::evaluate_data(path, self.files, self.memory, faults);
        }
        let report = Report::error("D055", format!("{} is neither TypeScript nor JSON", quoted(path)));
        faults.push(Spot::START, report.hint("name it `.ts` or `.json`"));
        None
    }

    /// A text exactly as it lies there. Absent: reported where it is named.
    pub(super) fn text(&self, path: &str, spot: Spot, faults: &mut Faults) -> Option<String> {
        let bytes = self.files.read(path).map_err(|fault| faults.reports.push(files::unreadable(path, &fault))).ok()?;
        if bytes.len() > crate::FILE_BYTES_MAX {
            let what = format!("{} is larger than {} MiB", quoted(path), crate::FILE_BYTES_MAX >> 20);
            faults.push(spot, Report::error("D002", what).hint("split it"));
            return None;
        }
        String::from_utf8(bytes)
            .map_err(|_| {
                let report = Report::error("D003", format!("{} is not UTF-8 text", quoted(path)));
                faults.push(spot, report.hint("save it as UTF-8"));
            })
            .ok()
    }

    /// The files beneath a folder, sorted by path; links and special files are reported. Hidden ones count.
    pub(super) fn files_beneath(&self, folder: &str, faults: &mut Faults) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(folder, DEPTH_MAX, &mut found, faults);
        found.sort();
        found
    }

    fn walk(&self, folder: &str, depth_left: usize, found: &mut Vec<String>, faults: &mut Faults) {
        let Some(depth_left) = depth_left.checked_sub(1) else {
            let what = format!("the folders in {} lie deeper than {DEPTH_MAX}", quoted(folder));
            return faults.push(Spot::START, Report::error("D056", what).hint("move what lies deepest further up"));
        };
        let entries = match self.files.entries(folder) {
            Ok(entries) => entries,
            Err(fault) => return faults.reports.push(files::unreadable(folder, &fault)),
        };
        for (name, kind) in entries {
            let path = format!("{folder}/{name}");
            match kind {
                Kind::File => found.push(path),
                Kind::Folder => self.walk(&path, depth_left, found, faults),
                Kind::Link | Kind::Other => {
                    let what = format!("{} is neither a file nor a folder", quoted(&path));
                    let hint = "put the file itself there: links and special files are not packed";
                    faults.push(Spot::START, Report::error("D054", what).hint(hint));
                }
            }
        }
    }
}

/// The front matter of a rule or a skill. Absent: reported.
pub(super) fn front_matter(text: &str, first_line: u32, faults: &mut Faults) -> Option<Node> {
    let refuse = |fault: json::Fault| {
        let report = Report::error("D070", format!("the front matter is not valid YAML: {}", fault.what));
        faults.push(fault.spot, report.hint(yaml::hint(&fault)));
    };
    yaml::parse(text, first_line).map_err(refuse).ok()
}
