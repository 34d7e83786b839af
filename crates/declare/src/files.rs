//! The project's files, as far as declarations need them.

use crate::faults::quoted;
use crate::tree::Spot;
use entourage_model::{Place, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A larger declaration is refused.
pub const FILE_BYTES_MAX: usize = 8 << 20;

/// A reader confined to one project. Paths are relative to it and separated by `/`.
pub trait Files: Sync {
    /// The names of the regular files directly in a folder, sorted. A missing folder is an empty one.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Everything that lies directly in a folder, sorted by name, links as links. A missing folder is an empty one.
    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>>;

    /// What lies at a path; a link is not followed. Nothing is [`io::ErrorKind::NotFound`].
    fn kind(&self, path: &str) -> io::Result<Kind>;

    /// The whole file; a missing one is [`io::ErrorKind::NotFound`]. Whoever reads may stop after
    /// [`FILE_BYTES_MAX`] bytes and one more: that is enough to see that the file is too large.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Whether the file at a path is a program. A reader that cannot tell says that it is none.
    fn is_executable(&self, _path: &str) -> bool {
        false
    }

    /// How much the file at a path has to say among those of the same folder: what packages bring has less than what
    /// the project says itself. Zero where everything is of one project.
    fn precedence(&self, _path: &str) -> usize {
        0
    }

    /// Whether an agent that works in the project's folder finds the files there. Those of a bundle are nowhere.
    fn is_on_disk(&self) -> bool {
        true
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a device or a socket.
    Other,
}

/// Files that exist in memory only.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<String, Vec<u8>>,
    executables: BTreeSet<String>,
    precedences: BTreeMap<String, usize>,
    /// Those that nobody brought into memory.
    unread: BTreeSet<String>,
}

impl MemoryFiles {
    /// Lets a file have more or less to say than others.
    pub fn rank(&mut self, path: impl Into<String>, precedence: usize) {
        self.precedences.insert(path.into(), precedence);
    }

    /// Adds a file that is known to be there and cannot be read.
    pub fn insert_unread(&mut self, path: impl Into<String>) {
        let path = path.into();
        self.unread.insert(path.clone());
        self.files.insert(path, Vec::new());
    }

    /// Adds a file, or puts it in the place of one.
    pub fn insert(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>, is_executable: bool) {
        let path = path.into();
        if is_executable {
            self.executables.insert(path.clone())
        } else {
            self.executables.remove(&path)
        };
        self.unread.remove(&path);
        self.files.insert(path, bytes.into());
    }
}

impl<P: Into<String>, B: Into<Vec<u8>>> FromIterator<(P, B)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect();
        Self { files, ..Self::default() }
    }
}

impl Files for MemoryFiles {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let files = self.entries(folder)?.into_iter().filter(|(_, kind)| *kind == Kind::File);
        Ok(files.map(|(name, _)| name).collect())
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = self.files.keys().filter_map(|path| path.strip_prefix(&start));
        let entry = |rest: &str| match rest.split_once('/') {
            Some((name, _)) => (name.to_owned(), Kind::Folder),
            None => (rest.to_owned(), Kind::File),
        };
        Ok(inside.map(entry).collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        let is_folder = self.files.keys().any(|file| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
        match self.files.contains_key(path) {
            true => Ok(Kind::File),
            false if is_folder => Ok(Kind::Folder),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if self.unread.contains(path) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_executable(&self, path: &str) -> bool {
        self.executables.contains(path)
    }

    fn precedence(&self, path: &str) -> usize {
        self.precedences.get(path).copied().unwrap_or_default()
    }
}

/// How deep folders of declarations are looked into.
const FOLDERS_DEEP_MAX: usize = 8;

/// How many of them: a larger tree is no folder of declarations.
const FOLDERS_MAX: usize = 1_000;

/// The names of a folder's Markdown files, sorted. Hidden files are not declarations: editors and file systems leave
/// them about.
pub(crate) fn markdown_in(files: &dyn Files, folder: &str, shown: &str, reports: &mut Vec<Report>) -> Vec<String> {
    let names = files.list(folder).unwrap_or_else(|fault| {
        reports.push(unreadable(shown, &fault));
        Vec::new()
    });
    reports.extend(passed_over(files, folder, shown, &names));
    names.into_iter().filter(|name| name.ends_with(".md") && !name.starts_with('.')).collect()
}

/// What was meant to declare something and cannot: a lost link, and a file that leaves its agent without a name.
fn passed_over(files: &dyn Files, folder: &str, shown: &str, listed: &[String]) -> Vec<Report> {
    let is_declaration = |name: &str| name.ends_with(".md") && !name.starts_with('.');
    let mut reports = lost_links(files, folder, shown, listed, is_declaration);
    // What cannot be listed is reported already.
    if files.entries(folder).unwrap_or_default().iter().any(|(name, _)| name == ".md") {
        let path = below(shown, ".md");
        let what = format!("{} is ignored: an agent is called as its file, and that is no name", quoted(&path));
        reports.push(Report::warning("D082", what).at(start(&path)).hint("rename the file"));
    }
    reports
}

/// The links among a folder's declarations that lead to nowhere or out of the project, which are not followed: those
/// that are not `listed`.
pub(crate) fn lost_links(
    files: &dyn Files,
    folder: &str,
    shown: &str,
    listed: &[String],
    is_declaration: impl Fn(&str) -> bool,
) -> Vec<Report> {
    let entries = files.entries(folder).unwrap_or_default().into_iter();
    let lost = entries
        .filter(|(name, kind)| *kind == Kind::Link && is_declaration(name) && !listed.contains(name))
        .map(|(name, _)| {
            let path = below(shown, &name);
            let what = format!("{} is ignored: it is a link that leads to no file of the project", quoted(&path));
            Report::warning("D082", what).at(start(&path)).hint("put the file itself there")
        });
    lost.collect()
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A Markdown file's name without its ending.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// The paths of the Markdown files beneath a folder, sorted. Hidden folders and linked ones are not entered.
pub(crate) fn markdown_beneath(files: &dyn Files, folder: &str, reports: &mut Vec<Report>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 1)];
    let mut entered = 0;
    let mut left_out = None;
    while let Some((folder, depth)) = open.pop() {
        if depth > FOLDERS_DEEP_MAX || entered >= FOLDERS_MAX {
            left_out.get_or_insert(folder);
            continue;
        }
        entered += 1;
        let inside = markdown_in(files, &folder, &folder, reports);
        found.extend(inside.into_iter().map(|name| format!("{folder}/{name}")));
        // What cannot be listed is reported already.
        let folders = files.entries(&folder).unwrap_or_default().into_iter().filter(|(_, kind)| *kind == Kind::Folder);
        let folders = folders.filter(|(name, _)| !name.starts_with('.'));
        open.extend(folders.map(|(name, _)| (format!("{folder}/{name}"), depth + 1)));
    }
    if let Some(folder) = left_out {
        let what = format!("`{folder}` is not looked into, and perhaps others: there are too many folders");
        let hint = format!("declarations may lie {FOLDERS_DEEP_MAX} folders deep, in at most {FOLDERS_MAX} folders");
        reports.push(Report::warning("D080", what).at(Place::file(folder)).hint(hint));
    }
    found.sort();
    found
}

/// The text of a declaration, without the mark that some editors put before it. Absent: there is no such file.
pub(crate) fn text(files: &dyn Files, path: &str) -> Result<Option<String>, Report> {
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(unreadable(path, &fault)),
    };
    if bytes.len() > FILE_BYTES_MAX {
        let what = format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20);
        return Err(Report::error("D002", what).at(start(path)).hint("split it, or move what is not a declaration"));
    }
    let text = String::from_utf8(bytes).map_err(|fault| not_utf8(path, fault))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

pub(crate) fn unreadable(path: &str, fault: &io::Error) -> Report {
    let report = Report::error("D001", format!("`{path}` cannot be read: {fault}")).at(start(path));
    report.hint("check that it is there and that you may read it")
}

/// The place of what concerns a file as a whole.
pub(crate) fn start(path: &str) -> Place {
    Place::at(path, Spot::START.line, Spot::START.column)
}

fn not_utf8(path: &str, fault: std::string::FromUtf8Error) -> Report {
    let valid = fault.utf8_error().valid_up_to();
    let mut bytes = fault.into_bytes();
    bytes.truncate(valid);
    let before = String::from_utf8(bytes).unwrap_or_default();
    let spot = crate::tree::Cursor::new(&before).advance(before.len());
    Report::error("D003", "the file is not UTF-8 text")
        .at(Place::at(path, spot.line, spot.column))
        .hint("save it as UTF-8")
}
