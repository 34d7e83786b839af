//! The program's own folder, which no tool opens, whatever leads there.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that is closed, by the path that it really has. What was opened is judged, never a path that somebody gave:
/// a link or a detour leads to the same refusal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closed(Option<Arc<Path>>);

impl Closed {
    /// The folder need not be there yet.
    pub(super) fn folder(path: &Path) -> Self {
        let real = std::fs::canonicalize(path).or_else(|_| {
            let parent = path.parent().map_or(Ok(PathBuf::new()), std::fs::canonicalize)?;
            std::io::Result::Ok(parent.join(path.file_name().unwrap_or_default()))
        });
        Self(Some(real.unwrap_or_else(|_| path.to_owned()).into()))
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Whether what was opened is the folder or lies below it.
    pub(super) fn holds(&self, opened: impl AsFd) -> bool {
        self.0.as_ref().is_some_and(|closed| real_path(opened).is_some_and(|path| path.starts_with(closed)))
    }

    /// Whether an entry of this name may be the folder: whoever walks asks this before anything that costs more.
    pub(super) fn has_name(&self, name: &OsStr) -> bool {
        self.0.as_ref().is_some_and(|closed| closed.file_name() == Some(name))
    }
}

/// Where something lies that is open.
#[cfg(target_os = "linux")]
pub(super) fn real_path(opened: impl AsFd) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())).ok()
}

#[cfg(target_vendor = "apple")]
pub(super) fn real_path(opened: impl AsFd) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = rustix::fs::getpath(opened).ok()?;
    Some(OsStr::from_bytes(path.as_bytes()).into())
}

/// Elsewhere nobody says it.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn real_path(_: impl AsFd) -> Option<PathBuf> {
    None
}
