//! The one folder that a thread's tools may see.
//!
//! A path from a model is never compared with anything: the kernel resolves it beneath the open folder, and what was
//! opened is what is judged and read. Everything here blocks, unless it says otherwise; a tool calls it away from the
//! async threads.

mod at_once;
mod fault;
mod file;
mod folder;
mod path;
mod stop;
mod walk;

pub use fault::PathFault;
pub use file::OpenFile;

pub(crate) use file::TELLING_BYTES;
pub(crate) use folder::{Folder, Kind};
pub(crate) use path::{WorkspacePath, printable};
pub(crate) use stop::{Stop, StopOnDrop};
pub(crate) use walk::{Found, Walk};

use cap_std::fs::Dir;
use std::path::Path;

/// A folder, opened once; whoever holds it can reach what lies beneath and nothing else.
#[derive(Debug)]
pub struct Workspace {
    root: Dir,
}

impl Workspace {
    /// Opens the folder at `path`, which comes from a person and may lie anywhere.
    pub fn open(path: &Path) -> Result<Self, PathFault> {
        // The only place in this crate where a path is resolved with the authority of the process.
        let root = Dir::open_ambient_dir(path, cap_std::ambient_authority())
            .map_err(|error| PathFault::of_folder(&path.to_string_lossy(), error))?;
        Ok(Self { root })
    }

    /// Opens a regular file. A FIFO, a socket or a device is refused at once and never waited for.
    pub fn file(&self, path: &str) -> Result<OpenFile, PathFault> {
        let path = WorkspacePath::parse(path)?;
        OpenFile::beneath(&self.root, path.resolvable().as_ref(), path.given())
    }

    /// All bytes of a small regular file that is in memory already. Unlike everything else here it never waits, and so
    /// it may give nothing for any reason at all.
    pub(crate) fn bytes_at_once(&self, path: &str, bytes_max: usize) -> Option<Vec<u8>> {
        let path = WorkspacePath::parse(path).ok()?;
        at_once::read(&self.root, path.resolvable().as_ref(), bytes_max)
    }

    /// The whole text of a file that has at most `bytes_max` bytes.
    pub fn read_text(&self, path: &str, bytes_max: u64) -> Result<String, PathFault> {
        self.file(path)?.text(bytes_max)
    }

    pub(crate) fn folder(&self, path: &str) -> Result<Folder, PathFault> {
        let path = WorkspacePath::parse(path)?;
        let dir = self.root.open_dir(path.resolvable()).map_err(|error| PathFault::of_folder(path.given(), error))?;
        Ok(Folder::new(dir, path))
    }
}
