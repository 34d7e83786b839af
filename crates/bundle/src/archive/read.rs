//! Tar in gzip → its files, for somebody who does not trust whoever packed them.

use super::header::{FILE, FOLDER, Header, LONG_NAME, OLD_FILE, PAX, PAX_GLOBAL};
use super::{BLOCK, path};
use crate::fault::Fault;
use flate2::bufread::GzDecoder;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read};

/// More than anybody packs, and few enough to be looked at.
pub const ENTRIES_MAX: usize = 100_000;

/// Headers that extend others are short.
const EXTENSION_BYTES_MAX: u64 = 64 << 10;

/// Some programs round an archive up, none by more than this.
const PADDING_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative, of plain parts.
    pub path: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    File { size: u64, is_executable: bool },
}

/// Gives every entry to `visit`, with the bytes that it has; what is left unread is passed over. Only files and folders
/// with safe paths come, each path once, and together no more than `bytes_max` bytes of files.
///
/// Whatever `visit` did before a fault is to be undone: the archive is refused as a whole.
pub fn read_archive(
    blob: impl Read,
    media_type: &str,
    bytes_max: u64,
    visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut archive = Archive {
        gzip: GzDecoder::new(BufReader::with_capacity(1 << 16, blob)),
        seen: BTreeMap::new(),
        headers: 0,
        bytes_left: bytes_max,
        bytes_max,
    };
    archive.read(visit).map_err(|fault| match fault {
        Stopped::Refused(reason) => Fault::UnsafeArchive { media_type: media_type.to_owned(), reason },
        Stopped::Visitor(fault) => fault,
    })
}

/// Why reading ends before the end.
enum Stopped {
    Refused(String),
    Visitor(Fault),
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, Stopped> {
    Err(Stopped::Refused(reason.into()))
}

impl From<io::Error> for Stopped {
    fn from(fault: io::Error) -> Self {
        Self::Refused(format!("it cannot be unpacked: {fault}"))
    }
}

struct Archive<R: Read> {
    gzip: GzDecoder<BufReader<R>>,
    /// Every path, and the folders that paths lead through: true for a folder that only a longer path told of.
    seen: BTreeMap<String, Seen>,
    headers: usize,
    bytes_left: u64,
    bytes_max: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    File,
    Folder,
    /// A folder that a longer path leads through, and that may still come itself.
    Implied,
}

impl<R: Read> Archive<R> {
    fn read(&mut self, visit: &mut dyn FnMut(&Entry, &mut dyn Read) -> Result<(), Fault>) -> Result<(), Stopped> {
        let mut long_name = None;
        while let Some(header) = self.header()? {
            let Some(size) = header.size() else { return refuse("a size in it is no number") };
            match header.kind() {
                FILE | OLD_FILE if header.is_privileged() => {
                    return refuse("a program in it would run as somebody else");
                }
                FILE | OLD_FILE => {
                    let path = self.path(&header, long_name.take())?;
                    let entry = self.file(path, size, header.is_executable())?;
                    let mut bytes = (&mut self.gzip).take(size);
                    visit(&entry, &mut bytes).map_err(Stopped::Visitor)?;
                    let left = bytes.limit();
                    self.skip(left, size)?;
                }
                FOLDER if size == 0 => {
                    let path = self.path(&header, long_name.take())?;
                    let path = path.strip_suffix('/').unwrap_or(&path).to_owned();
                    self.note(&path, Seen::Folder)?;
                    let entry = Entry { path, kind: EntryKind::Folder };
                    visit(&entry, &mut io::empty()).map_err(Stopped::Visitor)?;
                }
                PAX => long_name = pax_path(&self.extension(size)?)?.or(long_name),
                PAX_GLOBAL if pax_path(&self.extension(size)?)?.is_some() => {
                    return refuse("a path in it is for all entries");
                }
                PAX_GLOBAL => {}
                LONG_NAME => {
                    let mut name = self.extension(size)?;
                    name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
                    long_name = Some(name);
                }
                other => return refuse(format!("it holds {}", described(other))),
            }
        }
        if long_name.is_some() {
            return refuse("it ends before the entry that it names");
        }
        self.end()
    }

    /// Absent: the archive ends here.
    fn header(&mut self) -> Result<Option<Header>, Stopped> {
        let mut header = Header([0; BLOCK]);
        self.gzip.read_exact(&mut header.0)?;
        if header.is_zero() {
            return Ok(None);
        }
        self.headers += 1;
        if self.headers > ENTRIES_MAX {
            return refuse(format!("it has more than {ENTRIES_MAX} entries"));
        }
        if header.is_intact() { Ok(Some(header)) } else { refuse("a header in it is damaged") }
    }

    fn path(&self, header: &Header, long_name: Option<Vec<u8>>) -> Result<String, Stopped> {
        let bytes = long_name.unwrap_or_else(|| header.path());
        let Ok(path) = String::from_utf8(bytes) else { return refuse("a path in it is not UTF-8") };
        let plain = if header.kind() == FOLDER { path.strip_suffix('/').unwrap_or(&path) } else { &path };
        match path::refusal(plain) {
            Some(reason) => refuse(format!("its path `{}` is refused: {reason}", path.escape_debug())),
            None => Ok(path),
        }
    }

    fn file(&mut self, path: String, size: u64, is_executable: bool) -> Result<Entry, Stopped> {
        self.note(&path, Seen::File)?;
        match self.bytes_left.checked_sub(size) {
            Some(left) => self.bytes_left = left,
            None => return refuse(format!("it unpacks to more than {} bytes", self.bytes_max)),
        }
        Ok(Entry { path, kind: EntryKind::File { size, is_executable } })
    }

    /// Every path is there once, and what leads to it is a folder.
    fn note(&mut self, path: &str, kind: Seen) -> Result<(), Stopped> {
        for (end, _) in path.match_indices('/') {
            match self.seen.get(&path[..end]) {
                Some(Seen::File) => return refuse(format!("its path `{path}` leads through a file")),
                Some(Seen::Folder | Seen::Implied) => {}
                None => drop(self.seen.insert(path[..end].to_owned(), Seen::Implied)),
            }
        }
        match (self.seen.insert(path.to_owned(), kind), kind) {
            (None, _) | (Some(Seen::Implied), Seen::Folder) => Ok(()),
            _ => refuse(format!("its path `{path}` is there twice")),
        }
    }

    /// Passes over what nobody read of an entry, and what rounds it up.
    fn skip(&mut self, left: u64, size: u64) -> Result<(), Stopped> {
        let padding = size.next_multiple_of(BLOCK as u64) - size;
        let passed = io::copy(&mut (&mut self.gzip).take(left + padding), &mut io::sink())?;
        if passed == left + padding { Ok(()) } else { refuse("it is cut short") }
    }

    /// The content of a header that extends the next one.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>, Stopped> {
        if size > EXTENSION_BYTES_MAX {
            return refuse("a header in it is too long");
        }
        let mut bytes = Vec::new();
        (&mut self.gzip).take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size {
            return refuse("it is cut short");
        }
        self.skip(0, size)?;
        Ok(bytes)
    }

    /// Behind the end there is nothing that somebody else could read.
    fn end(&mut self) -> Result<(), Stopped> {
        let mut padding = Vec::new();
        (&mut self.gzip).take(PADDING_BYTES_MAX as u64 + 1).read_to_end(&mut padding)?;
        if padding.len() > PADDING_BYTES_MAX || padding.iter().any(|byte| *byte != 0) {
            return refuse("something follows its end");
        }
        if self.gzip.get_mut().fill_buf()?.is_empty() { Ok(()) } else { refuse("something follows its end") }
    }
}

/// The path that a pax header gives to the next entry. What changes where an entry ends or leads to is refused.
fn pax_path(bytes: &[u8]) -> Result<Option<Vec<u8>>, Stopped> {
    let mut path = None;
    let mut rest = bytes;
    while !rest.is_empty() {
        let Some((record, after)) = pax_record(rest) else { return refuse("a header in it is damaged") };
        rest = after;
        match record {
            (b"path", value) => path = Some(value.to_vec()),
            (b"size" | b"linkpath", _) => return refuse("a header in it says where an entry ends or leads to"),
            (key, _) if key.starts_with(b"GNU.sparse") => return refuse("it holds a sparse file"),
            _ => {}
        }
    }
    Ok(path)
}

type Record<'a> = (&'a [u8], &'a [u8]);

/// `length key=value\n`
fn pax_record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let length: usize = str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let record = bytes.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some(((&record[..equals], &record[equals + 1..]), &bytes[length..]))
}

fn described(kind: u8) -> &'static str {
    match kind {
        b'1' => "a hard link",
        b'2' => "a symbolic link",
        b'3' | b'4' => "a device",
        b'6' => "a pipe",
        b'S' => "a sparse file",
        FOLDER => "a folder with contents of its own",
        _ => "an entry of an unknown kind",
    }
}
