//! The project's files, as far as declarations need them.

use entourage_model::{Place, Report};
use std::collections::BTreeMap;
use std::io;

/// A larger declaration is refused.
pub const FILE_BYTES_MAX: usize = 8 << 20;

/// A reader confined to one project. Paths are relative to it and separated by `/`.
pub trait Files {
    /// The names of the regular files directly in a folder, sorted. A missing folder is an empty one.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// The whole file; a missing one is [`io::ErrorKind::NotFound`]. Whoever reads may stop after
    /// [`FILE_BYTES_MAX`] bytes and one more: that is enough to see that the file is too large.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}

/// Files that exist in memory only.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<String, Vec<u8>>,
}

impl<P: Into<String>, B: Into<Vec<u8>>> FromIterator<(P, B)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        Self { files: files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect() }
    }
}

impl Files for MemoryFiles {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let inside = |path: &String| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        Ok(self.files.keys().filter_map(inside).filter(|name| !name.contains('/')).collect())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The text of a declaration, without the mark that some editors put before it. Absent: there is no such file.
pub(crate) fn text(files: &dyn Files, path: &str) -> Result<Option<String>, Report> {
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(unreadable(path, &fault)),
    };
    if bytes.len() > FILE_BYTES_MAX {
        let what = format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20);
        return Err(Report::error("D002", what)
            .at(Place::file(path))
            .hint("split it, or move what is not a declaration"));
    }
    let text = String::from_utf8(bytes).map_err(|fault| not_utf8(path, fault))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

pub(crate) fn unreadable(path: &str, fault: &io::Error) -> Report {
    Report::error("D001", format!("`{path}` cannot be read: {fault}")).at(Place::file(path))
}

fn not_utf8(path: &str, fault: std::string::FromUtf8Error) -> Report {
    let valid = fault.utf8_error().valid_up_to();
    let mut bytes = fault.into_bytes();
    bytes.truncate(valid);
    let before = String::from_utf8(bytes).unwrap_or_default();
    let spot = crate::tree::Cursor::new(&before).advance(before.len());
    Report::error("D003", "the file is not UTF-8 text")
        .at(Place::at(path, spot.line, spot.column))
        .hint("save it as UTF-8")
}
