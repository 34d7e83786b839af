//! What git obeys in a workspace, held so that no command changes it or puts something else in its place.
//!
//! Whoever calls git there later does so outside of any box, and git runs what its configuration and its hooks say. These
//! are read-only for commands; objects, branches and the index are theirs. What is held becomes a mount of its own, and
//! so does every folder on the way to it: the kernel lets nobody rename or remove such a folder.

use super::Plan;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

const GIT: &str = ".git";
/// What a repository may have instead of a configuration of its own: the place of another one.
const ELSEWHERE: &str = "commondir";
const CONFIG_OF_WORKTREE: &str = "config.worktree";

/// Git makes do with them empty. One that is not there is made: it could not be held, and a command could make it.
const OBEYED: [(&str, FileType); 3] =
    [("config", FileType::RegularFile), (CONFIG_OF_WORKTREE, FileType::RegularFile), ("hooks", FileType::Directory)];

/// A `.git` that is a file is a line with a path.
const POINTER_BYTES_MAX: u64 = 8 << 10;
/// With more of them, none can be changed.
const WORKTREES_MAX: usize = 64;

/// One place that is held.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hold {
    /// Beneath the workspace.
    pub(super) path: PathBuf,
    pub(super) how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// What lies below can be changed; it stays where it is.
    Pinned,
    ReadOnly,
}

/// The folders that lie above the closed one. Whoever could rename one of them would have it where nobody covers it.
pub(super) fn above_closed(plan: &Plan) -> Vec<Hold> {
    let closed = plan.closed.as_ref().and_then(|closed| closed.strip_prefix(&plan.workspace).ok());
    let above = closed.into_iter().flat_map(Path::ancestors).skip(1);
    let above = above.filter(|path| path.file_name().is_some() && plan.workspace.join(path).is_dir());
    let mut above: Vec<_> = above.map(|path| Hold { path: path.to_owned(), how: How::Pinned }).collect();
    above.reverse();
    above
}

/// The repository of the workspace: `.git`, and the folder that it names if it is a file. A `.git` that is a link cannot
/// be held, and repositories further down are not looked for.
pub(super) fn repository(workspace: &Path) -> Vec<PathBuf> {
    let kind = std::fs::symlink_metadata(workspace.join(GIT)).map(|metadata| metadata.file_type());
    match kind {
        Ok(kind) if kind.is_dir() => vec![GIT.into()],
        Ok(kind) if kind.is_file() => std::iter::once(GIT.into()).chain(named(workspace)).collect(),
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// What is to be held in the workspace, from the outside in.
pub(super) fn holds(workspace: &Path) -> io::Result<Vec<Hold>> {
    let mut holds = Vec::new();
    for path in repository(workspace) {
        let above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        holds.extend(above.into_iter().rev().map(|above| Hold::new(above, How::Pinned)));
        if is_folder(&open(workspace, &path)?)? {
            // Something is not what it should be, a link perhaps, which cannot be held: then nothing is changed at all.
            let parts = of_folder(workspace, &path).unwrap_or_else(|_| vec![Hold::new(&path, How::ReadOnly)]);
            holds.extend(parts);
        } else {
            holds.push(Hold::new(&path, How::ReadOnly));
        }
    }
    Ok(holds)
}

/// Opens a place for holding it. No link is followed, so that it lies in the workspace, whoever changes that meanwhile.
pub(super) fn open(workspace: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let mut opened = openat(CWD, workspace, flags | OFlags::DIRECTORY, Mode::empty())?;
    for part in path {
        opened = openat(&opened, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    match FileType::from_raw_mode(fstat(&opened)?.st_mode) {
        FileType::Symlink => Err(Errno::LOOP.into()),
        _ => Ok(opened),
    }
}

/// Removes what a command may leave in a repository that names another configuration. Git takes an empty one for a fault,
/// so that none can be made for holding it. Dropped when nobody is left who could make it again.
#[derive(Debug)]
pub(super) struct Sweep(Vec<OwnedFd>);

impl Sweep {
    /// One that is there already is somebody's, and held.
    pub(super) fn new(workspace: &Path) -> Self {
        let folders = repository(workspace).into_iter().filter_map(|path| open(workspace, &path).ok());
        Self(folders.filter(|folder| matches!(kind(folder, ELSEWHERE), Ok(None))).collect())
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Nearly always it is not there. A folder of that name is nothing that git could read.
            _ = unlinkat(folder, ELSEWHERE, AtFlags::empty());
        }
    }
}

impl Hold {
    fn new(path: &Path, how: How) -> Self {
        Self { path: path.to_owned(), how }
    }
}

/// The folder that a file `.git` names, if it lies in the workspace.
fn named(workspace: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    // What has taken its place meanwhile may be a FIFO, which must not be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, workspace.join(GIT), flags, Mode::empty()).ok()?;
    File::from(file).take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let path = workspace.join(text.strip_prefix("gitdir:")?.trim());
    let path = path.strip_prefix(workspace).ok()?;
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && open(workspace, path).and_then(|folder| is_folder(&folder)).ok()?).then(|| path.to_owned())
}

fn of_folder(workspace: &Path, path: &Path) -> io::Result<Vec<Hold>> {
    let folder = open(workspace, path)?;
    let mut holds = vec![Hold::new(path, How::Pinned)];
    for (name, kind) in OBEYED {
        ensure(&folder, name, kind)?;
        holds.push(Hold::new(&path.join(name), How::ReadOnly));
    }
    // The repositories of submodules, whose configurations git obeys as well when it is called above them.
    for name in [ELSEWHERE, "modules"] {
        if kind(&folder, name)?.is_some() {
            holds.push(Hold::new(&path.join(name), How::ReadOnly));
        }
    }
    if kind(&folder, "worktrees")?.is_some() {
        holds.extend(of_worktrees(workspace, &path.join("worktrees"))?);
    }
    Ok(holds)
}

/// Those of other working trees name the configuration that counts there.
fn of_worktrees(workspace: &Path, path: &Path) -> io::Result<Vec<Hold>> {
    let mut holds = vec![Hold::new(path, How::Pinned)];
    for (index, entry) in std::fs::read_dir(workspace.join(path))?.enumerate() {
        if index == WORKTREES_MAX {
            return Ok(vec![Hold::new(path, How::ReadOnly)]);
        }
        let path = path.join(entry?.file_name());
        let folder = open(workspace, &path)?;
        if !is_folder(&folder)? {
            continue;
        }
        if kind(&folder, ELSEWHERE)? != Some(FileType::RegularFile) {
            // Nobody works there.
            holds.push(Hold::new(&path, How::ReadOnly));
            continue;
        }
        ensure(&folder, CONFIG_OF_WORKTREE, FileType::RegularFile)?;
        holds.push(Hold::new(&path, How::Pinned));
        holds.extend([ELSEWHERE, CONFIG_OF_WORKTREE].map(|name| Hold::new(&path.join(name), How::ReadOnly)));
    }
    Ok(holds)
}

/// Makes it if it is not there. An error if it is something else.
fn ensure(folder: &OwnedFd, name: &str, wanted: FileType) -> io::Result<()> {
    if kind(folder, name)?.is_none() {
        let made = if wanted == FileType::Directory {
            mkdirat(folder, name, Mode::from_raw_mode(0o755))
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            openat(folder, name, flags, Mode::from_raw_mode(0o644)).map(drop)
        };
        match made {
            // The keeper of another command was faster.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if kind(folder, name)? == Some(wanted) { Ok(()) } else { Err(Errno::INVAL.into()) }
}

/// What kind of entry it is, if there is one. A link is an error: it cannot be held.
fn kind(folder: &OwnedFd, name: &str) -> io::Result<Option<FileType>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => Err(Errno::LOOP.into()),
            kind => Ok(Some(kind)),
        },
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_folder(opened: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(opened)?.st_mode) == FileType::Directory)
}
