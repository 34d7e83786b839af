//! The 512 bytes before an entry of tar.

use super::BLOCK;

const NAME: std::ops::Range<usize> = 0..100;
const MODE: std::ops::Range<usize> = 100..108;
const UID: std::ops::Range<usize> = 108..116;
const GID: std::ops::Range<usize> = 116..124;
const SIZE: std::ops::Range<usize> = 124..136;
const MTIME: std::ops::Range<usize> = 136..148;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: std::ops::Range<usize> = 257..265;
const PREFIX: std::ops::Range<usize> = 345..500;

pub(super) const FILE: u8 = b'0';
pub(super) const OLD_FILE: u8 = 0;
pub(super) const FOLDER: u8 = b'5';
pub(super) const PAX: u8 = b'x';
pub(super) const PAX_GLOBAL: u8 = b'g';
pub(super) const LONG_NAME: u8 = b'L';

/// The most that the size field can say.
pub(super) const SIZE_MAX: u64 = 0o77_777_777_777;

#[derive(Clone)]
pub(super) struct Header(pub(super) [u8; BLOCK]);

impl Header {
    /// Owner, group and time are nobody's: they would make the same files other bytes. `name` may be cut.
    pub(super) fn new(prefix: &[u8], name: &[u8], kind: u8, size: u64, mode: u32) -> Self {
        let mut header = Self([0; BLOCK]);
        header.put(NAME, name);
        header.put(PREFIX, prefix);
        header.put(MODE, format!("{mode:07o}\0").as_bytes());
        header.put(UID, b"0000000\0");
        header.put(GID, b"0000000\0");
        header.put(SIZE, format!("{size:011o}\0").as_bytes());
        header.put(MTIME, b"00000000000\0");
        header.put(MAGIC, b"ustar\x0000");
        header.0[KIND] = kind;
        let sum = header.sum();
        header.put(CHECKSUM, format!("{sum:06o}\0 ").as_bytes());
        header
    }

    fn put(&mut self, field: std::ops::Range<usize>, bytes: &[u8]) {
        let length = bytes.len().min(field.len());
        self.0[field.start..field.start + length].copy_from_slice(&bytes[..length]);
    }

    /// The sum of all bytes, those of the checksum as if they were spaces.
    fn sum(&self) -> u32 {
        let byte = |(at, byte): (usize, &u8)| if CHECKSUM.contains(&at) { u32::from(b' ') } else { u32::from(*byte) };
        self.0.iter().enumerate().map(byte).sum()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    pub(super) fn is_intact(&self) -> bool {
        self.number(CHECKSUM) == Some(u64::from(self.sum()))
    }

    pub(super) fn kind(&self) -> u8 {
        self.0[KIND]
    }

    pub(super) fn is_executable(&self) -> bool {
        self.number(MODE).is_some_and(|mode| mode & 0o100 != 0)
    }

    /// Whether it would run as somebody else than whoever starts it.
    pub(super) fn is_privileged(&self) -> bool {
        self.number(MODE).is_none_or(|mode| mode & 0o6000 != 0)
    }

    /// Absent: it is not written in octal digits.
    pub(super) fn size(&self) -> Option<u64> {
        self.number(SIZE)
    }

    /// Prefix and name, joined.
    pub(super) fn path(&self) -> Vec<u8> {
        let name = text(&self.0[NAME]);
        let is_ustar = self.0[MAGIC].starts_with(b"ustar\0");
        match text(&self.0[PREFIX]) {
            prefix if is_ustar && !prefix.is_empty() => [prefix, b"/", name].concat(),
            _ => name.to_vec(),
        }
    }

    fn number(&self, field: std::ops::Range<usize>) -> Option<u64> {
        let digits = str::from_utf8(text(&self.0[field])).ok()?.trim_matches(' ');
        match digits.is_empty() {
            true => Some(0),
            false if digits.bytes().all(|digit| digit.is_ascii_digit()) => u64::from_str_radix(digits, 8).ok(),
            false => None,
        }
    }
}

/// A field up to its first NUL.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}
