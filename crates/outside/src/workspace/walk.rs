//! A walk over everything below a folder: in the order of paths, through open folders, without following symlinks.

use super::closed::Closed;
use super::folder::{self, Folder, Kind};
use super::stop::Stop;
use super::{OpenFile, PathFault};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

const ENTRIES_MAX: usize = 200_000;
/// Also how many folders are open at once.
const DEPTH_MAX: usize = 64;
/// What people do not mean when they look for their files.
const PASSED_OVER: [&str; 4] = [".entourage", ".git", "node_modules", "target"];

/// A walk, which calls `visit` for every entry that is not a folder, until that breaks.
pub(crate) struct Walk<'a> {
    /// Names of folders that are entered although they are usually passed over.
    pub(crate) named: &'a [&'a str],
    pub(crate) stop: &'a Stop,
    pub(crate) visit: &'a mut dyn FnMut(&Found<'_>) -> ControlFlow<()>,
}

/// One entry on the way.
pub(crate) struct Found<'a> {
    dir: &'a Dir,
    name: &'a OsStr,
    pub(crate) kind: Kind,
    /// Relative to the workspace.
    pub(crate) path: &'a str,
    /// Relative to the folder where the walk began.
    pub(crate) path_below: &'a str,
}

/// What a walk left out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    looked_at: usize,
    entries: bool,
    depth: bool,
    unreadable: usize,
}

impl Walk<'_> {
    pub(crate) fn below(mut self, start: &Folder) -> LeftOut {
        let mut left_out = LeftOut::default();
        let path = start.path().prefix();
        let mut place = Place { start: path.len(), path, depth: 1, closed: start.closed() };
        // Breaking is how the visitor says that it has enough; what it has seen stands.
        let _ = self.enter(start.dir(), &mut place, &mut left_out);
        left_out
    }

    fn enter(&mut self, dir: &Dir, place: &mut Place<'_>, left_out: &mut LeftOut) -> ControlFlow<()> {
        let Ok(found) = folder::entries(dir, ENTRIES_MAX - left_out.looked_at, self.stop) else {
            left_out.unreadable += 1;
            return ControlFlow::Continue(());
        };
        left_out.looked_at += found.entries.len();
        left_out.entries |= found.more;
        for entry in &found.entries {
            if self.stop.is_set() {
                return ControlFlow::Break(());
            }
            let length = place.path.len();
            place.path.push_str(&entry.name.to_string_lossy());
            if entry.kind == Kind::Folder {
                self.descend(dir, &entry.name, place, left_out)?;
            } else {
                let path_below = &place.path[place.start..];
                (self.visit)(&Found { dir, name: &entry.name, kind: entry.kind, path: &place.path, path_below })?;
            }
            place.path.truncate(length);
        }
        ControlFlow::Continue(())
    }

    fn descend(&mut self, dir: &Dir, name: &OsStr, place: &mut Place<'_>, left_out: &mut LeftOut) -> ControlFlow<()> {
        let passed_over = |known: &&str| name == *known && !self.named.contains(known);
        if PASSED_OVER.iter().any(passed_over) {
            return ControlFlow::Continue(());
        }
        if place.depth == DEPTH_MAX {
            left_out.depth = true;
            return ControlFlow::Continue(());
        }
        let Ok(dir) = open_entry(dir, name) else {
            left_out.unreadable += 1;
            return ControlFlow::Continue(());
        };
        if place.closed.has_name(name) && place.closed.holds(&dir) {
            return ControlFlow::Continue(());
        }
        place.path.push('/');
        place.depth += 1;
        let flow = self.enter(&dir, place, left_out);
        place.depth -= 1;
        flow
    }
}

impl Found<'_> {
    pub(crate) fn name(&self) -> &OsStr {
        self.name
    }

    /// Opens it, unless it has become a symlink or something else that is no file.
    pub(crate) fn open(&self) -> Result<OpenFile, PathFault> {
        OpenFile::entry(self.dir, Path::new(self.name), self.path)
    }
}

impl LeftOut {
    /// A line for each thing that was left out, so that no answer looks more complete than it is.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.entries {
            lines.push(format!("[cut: stopped after looking at {ENTRIES_MAX} entries; give a `path` further down]"));
        }
        if self.depth {
            lines.push(format!("[cut: folders deeper than {DEPTH_MAX} levels were left out]"));
        }
        if self.unreadable > 0 {
            lines.push(format!("[cut: {} folders could not be read]", self.unreadable));
        }
        lines
    }
}

/// Where the walk is.
struct Place<'a> {
    closed: &'a Closed,
    path: String,
    /// How much of `path` is the folder where the walk began.
    start: usize,
    depth: usize,
}

fn open_entry(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    Ok(Dir::from_std_file(dir.open_with(name, &options)?.into_std()))
}
