//! Why a path could not be used: sentences for a model, which name the path as it was given and no other.

use super::path::printable;
use std::io;

/// How much of a path is repeated to whoever gave it.
const PATH_CHARS_SHOWN: usize = 200;

#[derive(Debug, thiserror::Error)]
pub enum PathFault {
    #[error("`{path}` does not exist")]
    NotFound { path: String },
    #[error("`{path}` is not a path inside the workspace; give it relative to the root of the workspace")]
    Outside { path: String },
    #[error("`{path}` cannot be a path: {why}")]
    Malformed { path: String, why: String },
    #[error("`{path}` is {what}, not a file")]
    NotAFile { path: String, what: &'static str },
    #[error("`{path}` is not a folder")]
    NotAFolder { path: String },
    #[error("`{path}` is too large: it has {size} bytes, and at most {bytes_max} are read")]
    TooLarge { path: String, size: u64, bytes_max: u64 },
    #[error("`{path}` is not text: it is a binary file of {size} bytes")]
    NotText { path: String, size: u64 },
    #[error("`{path}` belongs to the program itself, and no tool opens it")]
    Closed { path: String },
    #[error(
        "`{path}` belongs to git, which may run what stands there, and no tool writes it; `shell` has `git` for commits \
         and branches, and hooks and configuration are a person's to change"
    )]
    OfGit { path: String },
    #[error("`{path}` could not be read: {}", source.kind())]
    Io { path: String, source: io::Error },
    #[error("`{path}` could not be written: {}", source.kind())]
    Unwritable { path: String, source: io::Error },
}

impl PathFault {
    /// What the error of opening or reading a file means.
    pub(crate) fn of_file(path: &str, error: io::Error) -> Self {
        let given = || shown(path);
        match error.kind() {
            // A file where the path wants a folder: what lies below it does not exist.
            io::ErrorKind::NotADirectory => Self::NotFound { path: given() },
            io::ErrorKind::IsADirectory => Self::NotAFile { path: given(), what: "a folder" },
            _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                Self::NotAFile { path: given(), what: "a socket or a device" }
            }
            _ => Self::of_either(path, error),
        }
    }

    /// What the error of opening or listing a folder means.
    pub(crate) fn of_folder(path: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotADirectory => Self::NotAFolder { path: shown(path) },
            _ => Self::of_either(path, error),
        }
    }

    /// What the error of making or changing a file or a folder means.
    pub(crate) fn of_change(path: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                Self::Malformed { path: shown(path), why: "a part of it is a file, not a folder".to_owned() }
            }
            _ => match Self::of_file(path, error) {
                Self::Io { path, source } => Self::Unwritable { path, source },
                fault => fault,
            },
        }
    }

    pub(crate) fn closed(path: &str) -> Self {
        Self::Closed { path: shown(path) }
    }

    pub(crate) fn of_git(path: &str) -> Self {
        Self::OfGit { path: shown(path) }
    }

    fn of_either(path: &str, error: io::Error) -> Self {
        let path = shown(path);
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::InvalidFilename => Self::Malformed { path, why: "a name in it is too long".to_owned() },
            // The capability's own refusal; one of the kernel's, for lack of permission, has a number.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside { path },
            _ => Self::Io { path, source: error },
        }
    }
}

/// A path in a sentence: on one line, and not for ever.
pub(crate) fn shown(path: &str) -> String {
    match path.char_indices().nth(PATH_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", printable(&path[..end])),
        None => printable(path).into_owned(),
    }
}
