//! A blob as it is read: its size and digest are checked while it passes.

use crate::descriptor::Descriptor;
use crate::fault::Fault;
use cap_std::fs::{Dir, File};
use entourage_model::Digest;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read};

/// Whoever reads to the end must then ask [`BlobReader::finish`] whether it was right; what was read before is not to
/// be trusted.
#[derive(Debug)]
pub struct BlobReader {
    file: File,
    digest: Digest,
    size: u64,
    passed: u64,
    hasher: Sha256,
}

impl BlobReader {
    pub(super) fn open(dir: &Dir, path: &str, descriptor: &Descriptor) -> Result<Self, Fault> {
        let digest = descriptor.digest;
        let doing = || format!("opening the blob `{digest}`");
        let absent = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => Fault::Absent(digest),
            _ => Fault::Machine { doing: doing(), cause },
        };
        // Looked at before it is opened: a pipe would wait for somebody to write.
        let meta = dir.symlink_metadata(path).map_err(absent)?;
        let refuse = |reason: String| Err(Fault::Tampered { digest, reason });
        if !meta.is_file() {
            return refuse("it is not a regular file".to_owned());
        }
        if meta.len() != descriptor.size {
            return refuse(format!("it has {} bytes, and must have {}", meta.len(), descriptor.size));
        }
        let file = dir.open(path).map_err(absent)?;
        Ok(Self { file, digest, size: descriptor.size, passed: 0, hasher: Sha256::new() })
    }

    /// Reads what is left, then says whether all of it was right.
    pub fn finish(mut self) -> Result<(), Fault> {
        io::copy(&mut self, &mut io::sink()).map_err(Fault::machine(format!("reading the blob `{}`", self.digest)))?;
        self.check()
    }

    pub fn into_bytes(mut self) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).map_err(Fault::machine(format!("reading the blob `{}`", self.digest)))?;
        self.check()?;
        Ok(bytes)
    }

    fn check(self) -> Result<(), Fault> {
        let refuse = |reason: &str| Err(Fault::Tampered { digest: self.digest, reason: reason.to_owned() });
        if self.passed != self.size {
            return refuse("it changed its size while it was read");
        }
        match Digest::from_bytes(self.hasher.finalize().into()) == self.digest {
            true => Ok(()),
            false => refuse("its bytes have another digest"),
        }
    }
}

impl Read for BlobReader {
    /// Never more than the size that was promised, and one byte beyond it so that the end notices.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size + 1 - self.passed.min(self.size + 1)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = self.file.read(&mut buffer[..room])?;
        self.hasher.update(&buffer[..count]);
        self.passed += count as u64;
        Ok(count)
    }
}
