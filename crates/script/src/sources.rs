//! What an evaluation reads, and what it remembers: both belong to the caller.

use entourage_model::Digest;
use std::io;

/// The files of a project.
pub trait Sources {
    /// The bytes at a path relative to the project, with `/` between its parts and no `.` or `..` among them. A missing
    /// file is `NotFound`. Whoever implements this keeps the path inside the project, symbolic links included.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}

/// A cache of evaluated definitions. Losing any of it costs an evaluation and nothing else.
pub trait Memory: Sync {
    /// What was kept under a key; nothing if it was forgotten.
    fn recall(&self, key: &Digest) -> Option<Vec<u8>>;
    /// Keeps bytes under a key, in place of what was there. It may fail in silence.
    fn keep(&self, key: &Digest, bytes: &[u8]);
}

/// A memory that forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn recall(&self, _key: &Digest) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _key: &Digest, _bytes: &[u8]) {}
}
