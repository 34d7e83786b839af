//! One open folder and its entries.

use super::PathFault;
use super::closed::Closed;
use super::path::WorkspacePath;
use super::stop::Stop;
use cap_std::fs::{Dir, FileType};
use std::ffi::{OsStr, OsString};
use std::io;

/// An open folder that knows how the model called it.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    path: WorkspacePath,
    closed: Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Symlink,
    /// A FIFO, a socket or a device, which no tool opens.
    Other,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
}

/// The entries of one folder, in the order of the paths below it.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// There are more, which nobody looked at.
    pub(crate) more: bool,
}

impl Folder {
    pub(super) fn new(dir: Dir, path: WorkspacePath, closed: Closed) -> Self {
        Self { dir, path, closed }
    }

    /// What lies below and is entered by nobody.
    pub(super) fn closed(&self) -> &Closed {
        &self.closed
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn path(&self) -> &WorkspacePath {
        &self.path
    }

    pub(crate) fn entries(&self, entries_max: usize, stop: &Stop) -> Result<Entries, PathFault> {
        entries(&self.dir, entries_max, stop).map_err(|error| PathFault::of_folder(self.path.given(), error))
    }

    /// Where the symlink `name` says that it leads, wherever that is.
    pub(crate) fn link_target(&self, name: &OsStr) -> Option<String> {
        self.dir.read_link_contents(name).ok().map(|target| target.to_string_lossy().into_owned())
    }
}

/// Looks at no more than `entries_max` entries, however many there are.
pub(crate) fn entries(dir: &Dir, entries_max: usize, stop: &Stop) -> io::Result<Entries> {
    let mut found = Entries { entries: Vec::new(), more: false };
    for entry in dir.entries()? {
        if found.entries.len() == entries_max || stop.is_set() {
            found.more = true;
            break;
        }
        let entry = entry?;
        let kind = match kind(entry.file_type()?) {
            // Some file systems do not say it with the name. An entry that is gone by now is nothing.
            None => entry.metadata().ok().and_then(|metadata| kind(metadata.file_type())).unwrap_or(Kind::Other),
            Some(kind) => kind,
        };
        found.entries.push(Entry { name: entry.file_name(), kind });
    }
    found.entries.sort_unstable_by(|a, b| order(a).cmp(order(b)));
    Ok(found)
}

/// A folder sorts as its name and a slash, so that a walk comes by whole paths in their order.
fn order(entry: &Entry) -> impl Iterator<Item = u8> {
    let slash: &[u8] = if entry.kind == Kind::Folder { b"/" } else { b"" };
    entry.name.as_encoded_bytes().iter().chain(slash).copied()
}

fn kind(file_type: FileType) -> Option<Kind> {
    if file_type.is_file() {
        Some(Kind::File)
    } else if file_type.is_dir() {
        Some(Kind::Folder)
    } else if file_type.is_symlink() {
        Some(Kind::Symlink)
    } else if file_type == FileType::unknown() {
        None
    } else {
        Some(Kind::Other)
    }
}
