//! A project as it is packed: without what `.staxignore` names, and with files of any size.

use crate::ignore::{IGNORE_FILE, Ignore};
use entourage_declare::{Files, Kind, MemoryFiles};
use entourage_model::Report;
use std::io::{self, Read};

/// A project's files, also those that are too large for memory.
pub trait ProjectFiles: Files {
    /// Opens a regular file; a link is not followed.
    fn open(&self, path: &str) -> io::Result<OpenFile>;

    /// What lies in a folder under names that are not UTF-8, as well as they can be shown: nobody can ask for it.
    fn nameless(&self, _folder: &str) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// A file that is read from its start to its end.
pub struct OpenFile {
    pub bytes: Box<dyn Read>,
    pub size: u64,
    pub is_executable: bool,
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("size", &self.size).finish_non_exhaustive()
    }
}

impl ProjectFiles for MemoryFiles {
    fn open(&self, path: &str) -> io::Result<OpenFile> {
        let bytes = self.read(path)?;
        let size = bytes.len() as u64;
        Ok(OpenFile { bytes: Box::new(io::Cursor::new(bytes)), size, is_executable: self.is_executable(path) })
    }
}

/// What is left out of folders is not there; a file that the definition names is packed whatever the patterns say.
pub struct Sources<'a> {
    files: &'a dyn ProjectFiles,
    ignore: Ignore,
    pub(crate) reports: Vec<Report>,
}

impl<'a> Sources<'a> {
    /// `outputs` are folders, relative to the project, that we write to ourselves.
    pub fn new(files: &'a dyn ProjectFiles, outputs: Vec<String>) -> Self {
        let text = files.read(IGNORE_FILE).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let (ignore, reports) = Ignore::new(text.as_deref(), outputs);
        Self { files, ignore, reports }
    }

    pub(crate) fn open(&self, path: &str) -> io::Result<OpenFile> {
        self.files.open(path)
    }

    pub(crate) fn nameless(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = self.files.nameless(folder)?;
        // A pattern with a `/` at its end may mean it too: what it is cannot be asked for.
        let is_kept = |name: &String| [Kind::File, Kind::Folder].iter().all(|kind| self.is_kept(folder, name, *kind));
        Ok(names.into_iter().filter(is_kept).collect())
    }

    fn is_kept(&self, folder: &str, name: &str, kind: Kind) -> bool {
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        !self.ignore.is_ignored(&path, kind == Kind::Folder)
    }
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("ignore", &self.ignore).finish_non_exhaustive()
    }
}

impl Files for Sources<'_> {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = self.files.list(folder)?;
        Ok(names.into_iter().filter(|name| self.is_kept(folder, name, Kind::File)).collect())
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<(String, Kind)>> {
        let entries = self.files.entries(folder)?;
        Ok(entries.into_iter().filter(|(name, kind)| self.is_kept(folder, name, *kind)).collect())
    }

    fn kind(&self, path: &str) -> io::Result<Kind> {
        self.files.kind(path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }

    fn is_executable(&self, path: &str) -> bool {
        self.files.is_executable(path)
    }
}
