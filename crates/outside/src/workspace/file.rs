//! A regular file, open for reading, of which nobody reads more than he said.

use super::fault::{PathFault, shown};
use cap_std::fs::{Dir, File, FileType, FileTypeExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// A NUL among its first bytes is how a binary file is told.
pub(crate) const TELLING_BYTES: u64 = 8 << 10;

#[derive(Debug)]
pub struct OpenFile {
    file: File,
    origin: Origin,
}

/// Where bytes come from, for whoever has to say that they cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) path: String,
    pub(crate) size: u64,
}

impl OpenFile {
    /// Opens `path` beneath `dir`; a symlink is followed as long as it stays there.
    pub(crate) fn beneath(dir: &Dir, path: &Path, given: &str) -> Result<Self, PathFault> {
        Self::open(dir, path, given, OFlags::empty())
    }

    /// Opens the entry `name` of `dir`, which must not be a symlink.
    pub(crate) fn entry(dir: &Dir, name: &Path, given: &str) -> Result<Self, PathFault> {
        Self::open(dir, name, given, OFlags::NOFOLLOW)
    }

    fn open(dir: &Dir, path: &Path, given: &str, flags: OFlags) -> Result<Self, PathFault> {
        let fault = |error| PathFault::of_file(given, error);
        // Without NONBLOCK the opening of a FIFO waits for its writer; NOCTTY is for terminals.
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = dir.open_with(path, &options).map_err(fault)?;
        let metadata = file.metadata().map_err(fault)?;
        if !metadata.is_file() {
            return Err(PathFault::NotAFile { path: shown(given), what: what(metadata.file_type()) });
        }
        Ok(Self { file, origin: Origin { path: given.to_owned(), size: metadata.len() } })
    }

    /// Its size when it was opened, in bytes.
    pub fn size(&self) -> u64 {
        self.origin.size
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The whole of it, if it has at most `bytes_max` bytes; a growing file is read no further.
    pub fn text(self, bytes_max: u64) -> Result<String, PathFault> {
        if self.origin.size > bytes_max {
            return Err(self.origin.too_large(bytes_max));
        }
        // Most binary files show it at once, and are read no further.
        let mut bytes = self.read(TELLING_BYTES.min(bytes_max.saturating_add(1)))?;
        if !bytes.contains(&0) {
            let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            bytes.append(&mut self.read(bytes_max.saturating_add(1).saturating_sub(read))?);
        }
        if bytes.contains(&0) {
            return Err(self.origin.not_text());
        }
        if u64::try_from(bytes.len()).is_ok_and(|read| read > bytes_max) {
            return Err(self.origin.too_large(bytes_max));
        }
        String::from_utf8(bytes).map_err(|_| self.origin.not_text())
    }

    /// The next `bytes_max` bytes, or as many as there are.
    pub(crate) fn read(&self, bytes_max: u64) -> Result<Vec<u8>, PathFault> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.origin.size.min(bytes_max)).unwrap_or(0));
        self.take(bytes_max).read_to_end(&mut bytes).map_err(|error| self.origin.unreadable(error))?;
        Ok(bytes)
    }
}

impl Origin {
    pub(crate) fn not_text(&self) -> PathFault {
        PathFault::NotText { path: shown(&self.path), size: self.size }
    }

    pub(crate) fn too_large(&self, bytes_max: u64) -> PathFault {
        PathFault::TooLarge { path: shown(&self.path), size: self.size, bytes_max }
    }

    pub(crate) fn unreadable(&self, error: io::Error) -> PathFault {
        PathFault::of_file(&self.path, error)
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Read for &OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }
}

fn what(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
