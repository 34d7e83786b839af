//! Changing a file: whole or not at all, and never through a link that leads elsewhere.

use super::fault::{PathFault, shown};
use super::{OpenFile, Workspace, git};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use rustix::fs::{Gid, Mode, OFlags, Uid};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Changes that depend on what was there are made one after the other: two threads that edit one file at once must not
/// lose one of the edits. What other programs do meanwhile nobody can prevent.
static EDITS: Mutex<()> = Mutex::new(());

/// Why a file was left as it was.
#[derive(Debug)]
pub(crate) enum Unchanged {
    Path(PathFault),
    /// Whoever wanted the change found that it cannot be made.
    Refused(String),
}

impl From<PathFault> for Unchanged {
    fn from(fault: PathFault) -> Self {
        Self::Path(fault)
    }
}

/// A place for a file in an open folder.
struct Target {
    folder: Dir,
    name: OsString,
    /// What is there already: a regular file.
    before: Option<Metadata>,
}

impl Workspace {
    /// Gives the file at `path` these bytes, and says whether it was there before. Folders on the way are made, a file
    /// keeps its mode, and a link that stays in the workspace is followed.
    pub(crate) fn replace(&self, path: &str, bytes: &[u8]) -> Result<bool, PathFault> {
        let path = self.path(path)?;
        let given = path.given();
        if let Some(parent) = Path::new(path.resolvable()).parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.open_parents(parent, given)?;
        }
        let target = self.target(path.resolvable().as_ref(), given)?;
        target.put(bytes).map_err(|error| PathFault::of_change(given, error))?;
        Ok(target.before.is_some())
    }

    /// Gives the file at `path` the text that `change` makes of its own.
    pub(crate) fn edit(
        &self,
        path: &str,
        bytes_max: u64,
        change: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), Unchanged> {
        let path = self.path(path)?;
        let given = path.given();
        let _alone = EDITS.lock().unwrap_or_else(PoisonError::into_inner);
        let target = self.target(path.resolvable().as_ref(), given)?;
        if target.before.is_none() {
            return Err(PathFault::NotFound { path: shown(given) }.into());
        }
        let before = OpenFile::entry(&target.folder, Path::new(&target.name), given)?.text(bytes_max)?;
        let after = change(&before).map_err(Unchanged::Refused)?;
        target.put(after.as_bytes()).map_err(|error| PathFault::of_change(given, error))?;
        Ok(())
    }

    /// Makes the folders on the way to a file, one after the other, so that none is made in the program's own folder or in
    /// git's.
    fn open_parents(&self, parent: &Path, given: &str) -> Result<(), PathFault> {
        let mut way = std::path::PathBuf::new();
        for part in parent {
            way.push(part);
            let opened = self.root.open_dir(&way).or_else(|error| match error.kind() {
                // A repository is made by git.
                io::ErrorKind::NotFound if !git::is_name(part) => {
                    match self.root.create_dir(&way) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        Ok(()) | Err(_) => {}
                    }
                    self.root.open_dir(&way)
                }
                _ => Err(error),
            });
            let opened = match opened {
                Err(_) if git::is_name(part) => return Err(PathFault::of_git(given)),
                opened => opened.map_err(|error| PathFault::of_change(given, error))?,
            };
            if self.closed.holds(&opened) {
                return Err(PathFault::closed(given));
            }
            if git::holds(&self.root, &opened) {
                return Err(PathFault::of_git(given));
            }
        }
        Ok(())
    }

    /// Where the file at `path` lies or would lie. A link is resolved once; what takes its place meanwhile is refused.
    fn target(&self, path: &Path, given: &str) -> Result<Target, PathFault> {
        let fault = |error| PathFault::of_change(given, error);
        let first = self.entry(path, given)?;
        let target = match &first.before {
            Some(before) if before.is_symlink() => {
                self.entry(&self.root.canonicalize(path).map_err(|error| PathFault::of_file(given, error))?, given)?
            }
            Some(_) | None => first,
        };
        match &target.before {
            Some(before) if before.is_symlink() => Err(fault(io::ErrorKind::ResourceBusy.into())),
            Some(before) if before.is_dir() => Err(PathFault::NotAFile { path: shown(given), what: "a folder" }),
            Some(before) if !before.is_file() => {
                Err(PathFault::NotAFile { path: shown(given), what: "a FIFO, a socket or a device" })
            }
            Some(_) | None => Ok(target),
        }
    }

    fn entry(&self, path: &Path, given: &str) -> Result<Target, PathFault> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(PathFault::NotAFile { path: shown(given), what: "a folder" });
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let folder = self.root.open_dir(parent).map_err(|error| PathFault::of_file(given, error))?;
        let before = match folder.symlink_metadata(name) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(PathFault::of_file(given, error)),
        };
        if self.closed.holds(&folder) || (before.is_some() && self.is_closed(&folder, name)) {
            return Err(PathFault::closed(given));
        }
        if git::is_name(name) || git::holds(&self.root, &folder) {
            return Err(PathFault::of_git(given));
        }
        Ok(Target { folder, name: name.to_owned(), before })
    }

    /// Whether this entry is the program's own folder itself.
    fn is_closed(&self, folder: &Dir, name: &OsStr) -> bool {
        self.closed.has_name(name) && folder.open_dir(name).is_ok_and(|folder| self.closed.holds(&folder))
    }
}

impl Target {
    /// Writes a new file beside the place and moves it there: whoever reads meanwhile sees the old file or the new one.
    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let name = format!(".entourage-{:016x}.tmp", fastrand::u64(..));
        let written = self.write(&name, bytes).and_then(|()| self.folder.rename(&name, &self.folder, &self.name));
        if written.is_err() {
            // It may not have been made at all.
            _ = self.folder.remove_file(&name);
        }
        written?;
        self.sync_folder();
        Ok(())
    }

    /// Has the new name survive a loss of power. It is there already, and not every file system can promise more.
    fn sync_folder(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        _ = rustix::fs::openat(&self.folder, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if self.before.is_some() {
            // Nobody may read it before it has the mode that its readers are used to.
            options.mode(0o600);
        }
        let mut file = self.folder.open_with(name, &options)?;
        file.write_all(bytes)?;
        if let Some(before) = &self.before {
            keep_owner(&file, before);
            file.set_permissions(cap_std::fs::Permissions::from_mode(before.permissions().mode() & 0o7777))?;
        }
        file.sync_data()
    }
}

/// A file that root changes for somebody else stays theirs; for everybody else it cannot be otherwise.
fn keep_owner(file: &File, before: &Metadata) {
    if file.metadata().is_ok_and(|new| (new.uid(), new.gid()) != (before.uid(), before.gid())) {
        _ = rustix::fs::fchown(file, Some(Uid::from_raw(before.uid())), Some(Gid::from_raw(before.gid())));
    }
}
