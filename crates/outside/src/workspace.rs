//! The one folder that a thread's tools may see.
//!
//! A path from a model is never compared with anything: the kernel resolves it beneath the open folder, and what was
//! opened is what is judged, read and changed. Everything here blocks, unless it says otherwise; a tool calls it away
//! from the async threads.

mod at_once;
mod change;
mod closed;
mod fault;
mod file;
mod folder;
mod git;
mod path;
mod stop;
mod walk;

pub use fault::PathFault;
pub use file::OpenFile;

pub(crate) use change::Unchanged;
pub(crate) use file::{Origin, TELLING_BYTES};
pub(crate) use folder::{Folder, Kind};
pub(crate) use path::{WorkspacePath, printable};
pub(crate) use stop::{Stop, StopOnDrop};
pub(crate) use walk::{Found, Walk};

use cap_std::fs::Dir;
use closed::Closed;
use std::path::{Path, PathBuf};

/// How far the paths may lead that a project's agents wish for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Beneath the project, and to a folder elsewhere that is meant for agents: it has an `AGENTS.md`.
    #[default]
    Definitions,
    /// Anywhere, if they are absolute: somebody trusts whoever wrote them.
    Anywhere,
}

/// A folder, opened once; whoever holds it can reach what lies beneath and nothing else.
#[derive(Debug)]
pub struct Workspace {
    root: Dir,
    /// As it was given, for paths that a model writes out from there.
    given: PathBuf,
    /// Without links, for commands that run there.
    place: PathBuf,
    /// What the paths of its files begin with, seen from the project.
    prefix: String,
    closed: Closed,
    reach: Reach,
}

impl Workspace {
    /// Opens the folder at `path`, which comes from a person and may lie anywhere.
    pub fn open(path: &Path) -> Result<Self, PathFault> {
        let fault = |error| PathFault::of_folder(&path.to_string_lossy(), error);
        // The only place in this crate where a path is resolved with the authority of the process.
        let root = Dir::open_ambient_dir(path, cap_std::ambient_authority()).map_err(fault)?;
        let place = std::fs::canonicalize(path).map_err(fault)?;
        Ok(Self {
            root,
            given: path.to_owned(),
            place,
            prefix: String::new(),
            closed: Closed::default(),
            reach: Reach::default(),
        })
    }

    /// The same without the folder `path`, which belongs to the program and need not be there yet.
    #[must_use]
    pub fn without(self, path: &Path) -> Self {
        Self { closed: Closed::folder(path), ..self }
    }

    /// The same for a project whose agents may have folders elsewhere.
    #[must_use]
    pub fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    pub(crate) fn reach(&self) -> Reach {
        self.reach
    }

    /// A folder of this one as a workspace of its own, made if it is not there. Nothing leads out of this one.
    pub fn beneath(&self, folder: &str) -> Result<Self, PathFault> {
        let path = self.path(folder)?;
        self.root.create_dir_all(path.resolvable()).map_err(|error| PathFault::of_change(path.given(), error))?;
        let fault = |error| PathFault::of_folder(path.given(), error);
        let root = self.root.open_dir(path.resolvable()).map_err(fault)?;
        if self.closed.holds(&root) {
            return Err(PathFault::closed(path.given()));
        }
        if git::holds(&self.root, &root) {
            return Err(PathFault::of_git(path.given()));
        }
        let real = self.root.canonicalize(path.resolvable()).map_err(fault)?;
        Ok(Self {
            root,
            given: self.given.join(path.resolvable()),
            place: self.place.join(real),
            prefix: format!("{}{}", self.prefix, path.prefix()),
            closed: self.closed.clone(),
            reach: self.reach,
        })
    }

    /// A folder that is no part of `project`: its files are known by their whole paths, and the same is closed.
    #[must_use]
    pub(crate) fn elsewhere(self, project: &Self) -> Self {
        let prefix = format!("{}/", self.place.to_string_lossy().trim_end_matches('/'));
        Self { prefix, closed: project.closed.clone(), ..self }
    }

    /// Opens a regular file. A FIFO, a socket or a device is refused at once and never waited for.
    pub fn file(&self, path: &str) -> Result<OpenFile, PathFault> {
        let path = self.path(path)?;
        let file = OpenFile::beneath(&self.root, path.resolvable().as_ref(), path.given())?;
        if self.closed.holds(&file) { Err(PathFault::closed(path.given())) } else { Ok(file) }
    }

    /// All bytes of a small regular file that is in memory already. Unlike everything else here it never waits, and so
    /// it may give nothing for any reason at all.
    pub(crate) fn bytes_at_once(&self, path: &str, bytes_max: usize) -> Option<Vec<u8>> {
        let path = self.path(path).ok()?;
        at_once::read(&self.root, path.resolvable().as_ref(), bytes_max, &self.closed)
    }

    /// The whole text of a file that has at most `bytes_max` bytes.
    pub fn read_text(&self, path: &str, bytes_max: u64) -> Result<String, PathFault> {
        self.file(path)?.text(bytes_max)
    }

    pub(crate) fn folder(&self, path: &str) -> Result<Folder, PathFault> {
        let path = self.path(path)?;
        let dir = self.root.open_dir(path.resolvable()).map_err(|error| PathFault::of_folder(path.given(), error))?;
        if self.closed.holds(&dir) {
            return Err(PathFault::closed(path.given()));
        }
        Ok(Folder::new(dir, path, self.closed.clone()))
    }

    /// Whether the path can be one of this workspace: relative, or written out from where the workspace lies.
    pub(crate) fn may_hold(&self, path: &str) -> bool {
        self.path(path).is_ok()
    }

    /// How the project knows the file at `path`.
    pub(crate) fn project_path(&self, path: &str) -> String {
        let beneath = self.path(path).map(|path| path.plain()).unwrap_or_else(|_| path.to_owned());
        format!("{}{beneath}", self.prefix)
    }

    /// Where it lies, without links.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The program's own folder, if there is one.
    pub(crate) fn closed(&self) -> Option<&Path> {
        self.closed.path()
    }

    pub(crate) fn path(&self, given: &str) -> Result<WorkspacePath, PathFault> {
        WorkspacePath::parse_from(given, &[&self.place, &self.given])
    }
}
