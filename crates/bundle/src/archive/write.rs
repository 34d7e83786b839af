//! Files → tar in gzip. What is not said about a file by its path, its bytes and whether it may be executed is left out.

use super::BLOCK;
use super::header::{FILE, FOLDER, Header, PAX, SIZE_MAX};
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};

/// No system's: the header is the same wherever it is written.
const UNKNOWN_SYSTEM: u8 = 255;
const LEVEL: u32 = 6;

const NAME_BYTES_MAX: usize = 100;
const PREFIX_BYTES_MAX: usize = 155;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArchiveStyle {
    #[default]
    Specification,
    /// As the reference program does: nothing can be executed, and long names are cut.
    Reference,
}

/// Files are given in the order of their paths; folders come by themselves.
#[derive(Debug)]
pub struct ArchiveWriter<W: Write> {
    gzip: GzEncoder<W>,
    style: ArchiveStyle,
    folders: BTreeSet<String>,
    written: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub fn new(out: W, style: ArchiveStyle) -> Self {
        let gzip = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM).write(out, Compression::new(LEVEL));
        Self { gzip, style, folders: BTreeSet::new(), written: 0 }
    }

    /// How many bytes of files were written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes a file of exactly `size` bytes. One that gives fewer or more changed while it was read.
    pub fn file(&mut self, path: &str, size: u64, is_executable: bool, bytes: impl Read) -> io::Result<()> {
        if size > SIZE_MAX {
            return Err(io::Error::other("it is too large for an archive"));
        }
        for (end, _) in path.match_indices('/') {
            let folder = &path[..=end];
            if self.folders.insert(folder.to_owned()) {
                self.header(folder, FOLDER, 0, 0o755)?;
            }
        }
        let mode = if is_executable && self.style == ArchiveStyle::Specification { 0o755 } else { 0o644 };
        self.header(path, FILE, size, mode)?;
        let copied = io::copy(&mut bytes.take(size.saturating_add(1)), &mut self.gzip)?;
        if copied != size {
            return Err(io::Error::other("it changed while it was read"));
        }
        self.pad(size)?;
        self.written += size;
        Ok(())
    }

    /// Ends the archive; the writer beneath comes back.
    pub fn finish(mut self) -> io::Result<W> {
        self.gzip.write_all(&[0; 2 * BLOCK])?;
        self.gzip.finish()
    }

    fn header(&mut self, path: &str, kind: u8, size: u64, mode: u32) -> io::Result<()> {
        let header = match (self.style, split(path)) {
            (_, Some((prefix, name))) if prefix.is_empty() || self.style == ArchiveStyle::Specification => {
                Header::new(prefix.as_bytes(), name.as_bytes(), kind, size, mode)
            }
            (ArchiveStyle::Reference, _) => Header::new(b"", path.as_bytes(), kind, size, mode),
            (ArchiveStyle::Specification, _) => {
                self.extended(path)?;
                Header::new(b"", path.as_bytes(), kind, size, mode)
            }
        };
        self.gzip.write_all(&header.0)
    }

    /// The header that holds a path of any length, for the entry that follows.
    fn extended(&mut self, path: &str) -> io::Result<()> {
        let record = record("path", path);
        let size = record.len() as u64;
        self.gzip.write_all(&Header::new(b"", b"PaxHeader", PAX, size, 0o644).0)?;
        self.gzip.write_all(record.as_bytes())?;
        self.pad(size)
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        let beyond = usize::try_from(size % BLOCK as u64).expect("it is less than a block");
        if beyond == 0 { Ok(()) } else { self.gzip.write_all(&[0; BLOCK][beyond..]) }
    }
}

/// Prefix and name of a path that fits into both. Absent: it does not.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME_BYTES_MAX {
        return Some(("", path));
    }
    let fits = |(at, _): &(usize, &str)| *at <= PREFIX_BYTES_MAX && path.len() - at - 1 <= NAME_BYTES_MAX;
    // The end of a folder's own path divides nothing.
    let inner = path.match_indices('/').filter(|(at, _)| at + 1 < path.len());
    let (at, _) = inner.into_iter().find(fits)?;
    Some((&path[..at], &path[at + 1..]))
}

/// `length key=value`, where the length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}
