//! The data folder: who may use it, and the file in it. The one door of this crate to the file system.

use entourage_store::StoreError;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file in the folder.
pub const DATABASE: &str = "entourage.db";

/// A folder that this process alone uses, until the value is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folder was not there before, so that its own name has to be flushed too.
    new: bool,
    /// Held, never read. The system lets go of it when the process dies, however it dies.
    _lock: File,
}

impl Folder {
    /// Makes the folder if there is none. `Locked` when another process has it.
    pub(crate) fn lock(path: &Path) -> Result<Self, StoreError> {
        let new = make(path).map_err(|fault| unavailable(path, &fault))?;
        let file = path.join("lock");
        let lock = private().read(true).create(true).truncate(false).open(&file);
        let lock = lock.map_err(|fault| unavailable(&file, &fault))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), new, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked),
            Err(TryLockError::Error(fault)) => Err(unavailable(&file, &fault)),
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Puts a database in place, whole or not at all: `build` fills a file beside it, which then takes its name.
    ///
    /// The new name itself is not flushed here: SQLite flushes the folder with its first commit, because the name of
    /// the write-ahead log must last as well, and before that there is nothing to lose.
    pub(crate) fn place(&self, build: impl FnOnce(&Path) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let new = self.path.join("entourage.db.new");
        match fs::remove_file(&new) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(unavailable(&new, &fault)),
            // Nothing, or what a process left that died in here.
            _ => {}
        }
        // SQLite gives the files beside a database the same rights.
        private().create_new(true).open(&new).map_err(|fault| unavailable(&new, &fault))?;
        let placed = build(&new).and_then(|()| self.rename(&new).map_err(|fault| unavailable(&new, &fault)));
        if placed.is_err() {
            // A full disk has no room for what nobody can use. What cannot be removed goes at the next start.
            _ = fs::remove_file(&new);
        }
        placed
    }

    fn rename(&self, new: &Path) -> io::Result<()> {
        sync(new)?;
        if let Some(parent) = self.path.parent().filter(|parent| self.new && !parent.as_os_str().is_empty()) {
            sync(parent)?;
        }
        fs::rename(new, self.database())
    }
}

/// For a file that only its owner may read, whoever may look into the folder: it may have been there before.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Only its owner may look into it: it holds everything that was ever said. Returns whether it is new.
fn make(path: &Path) -> io::Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map(|()| true)
}

fn sync(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).open(path)?.sync_all()
}

fn unavailable(path: &Path, fault: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("{}: {fault}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_filled_leaves_nothing() {
        let place = tempfile::tempdir().expect("there is room");
        let folder = Folder::lock(place.path()).expect("nobody has it");
        let full = |new: &Path| {
            assert!(new.exists(), "it is there to be filled");
            Err(StoreError::Unavailable("the disk is full".to_owned()))
        };
        folder.place(full).expect_err("it was not filled");
        let left: Vec<_> =
            fs::read_dir(place.path()).expect("it is there").map(|entry| entry.map(|e| e.file_name())).collect();
        assert!(matches!(&left[..], [Ok(name)] if name == "lock"), "{left:?}");
    }
}
