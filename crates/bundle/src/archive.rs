//! Layers that hold files: tar in gzip, written so that the same files are the same bytes, and read with suspicion.

mod header;
mod path;
mod read;
mod write;

pub(crate) use path::refusal;
pub use read::{ENTRIES_MAX, Entry, EntryKind, read_archive};
pub use write::{ArchiveStyle, ArchiveWriter};

/// The unit of tar.
const BLOCK: usize = 512;

#[cfg(test)]
mod tests;
