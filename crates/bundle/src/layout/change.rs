//! A change of the layout: all of it, or nothing.

use super::{BLOBS, BlobReader, Blobs, INDEX, Layout, MARKER};
use crate::descriptor::Descriptor;
use crate::fault::Fault;
use cap_std::fs::{Dir, File, OpenOptions};
use entourage_model::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Blobs that are staged, and what the index is to say about them.
#[derive(Debug)]
pub struct Change<'a> {
    layout: &'a Layout,
    staged: BTreeMap<Digest, Beside>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Added(Descriptor),
    Tagged(Descriptor, String),
    Latest(Descriptor),
}

/// A blob that is written whole, and not yet part of any change.
#[derive(Debug)]
pub struct Staged {
    pub digest: Digest,
    pub size: u64,
    beside: Beside,
}

impl Staged {
    pub fn descriptor(&self, media_type: &str) -> Descriptor {
        Descriptor::new(media_type, self.digest, self.size)
    }
}

impl<'a> Change<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        Self { layout, staged: BTreeMap::new(), entries: Vec::new() }
    }

    /// Whether it changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.entries.is_empty()
    }

    /// Takes over another change of the same layout, to be made after this one and together with it.
    pub(crate) fn join(&mut self, other: Self) {
        self.staged.extend(other.staged);
        self.entries.extend(other.entries);
    }

    /// A blob to be written in pieces. It belongs to no change until [`Self::stage`] takes it, so that several can be
    /// written at once.
    pub fn writer(&self) -> Result<BlobWriter, Fault> {
        BlobWriter::new(&self.layout.dir)
    }

    /// Takes a blob that was written whole.
    pub fn stage(&mut self, blob: Staged) {
        self.staged.insert(blob.digest, blob.beside);
    }

    /// A blob whose bytes are at hand.
    pub fn put(&mut self, media_type: &str, bytes: &[u8]) -> Result<Descriptor, Fault> {
        let mut writer = self.writer()?;
        writer.write_all(bytes).map_err(Fault::machine("writing a blob"))?;
        let staged = writer.finish()?;
        let descriptor = staged.descriptor(media_type);
        self.stage(staged);
        Ok(descriptor)
    }

    /// Whether the blob is here with this size, staged or stored; what is stored was not looked into.
    pub fn has(&self, descriptor: &Descriptor) -> bool {
        self.size(descriptor.digest) == Some(descriptor.size)
    }

    /// Lets the index name a manifest.
    pub fn add(&mut self, manifest: &Descriptor) {
        self.entries.push(Entry::Added(manifest.clone()));
    }

    /// Lets the index name a manifest by `name`, which may have meant another one before.
    pub fn tag(&mut self, manifest: &Descriptor, name: impl Into<String>) {
        self.entries.push(Entry::Tagged(manifest.clone(), name.into()));
    }

    /// Lets a manifest be the latest build.
    pub fn mark_latest(&mut self, manifest: &Descriptor) {
        self.entries.push(Entry::Latest(manifest.clone()));
    }

    /// Makes the change: blobs first, the index last. One process at a time; a second waits for the first.
    pub fn commit(self) -> Result<(), Fault> {
        let dir = &self.layout.dir;
        let lock = dir.open(MARKER).map_err(Fault::machine("opening `oci-layout`"))?.into_std();
        lock.lock().map_err(Fault::machine("locking `oci-layout`"))?;
        let mut index = self.layout.index()?;
        for entry in &self.entries {
            match entry {
                Entry::Added(manifest) => index.add(manifest),
                Entry::Tagged(manifest, name) => index.tag(manifest, name),
                Entry::Latest(manifest) => index.mark_latest(manifest),
            }
        }
        let mut written = Beside::create(dir).map_err(Fault::machine("writing `index.json`"))?;
        let mut file = written.file.take().expect("it was just made");
        let made = file.write_all(&index.to_bytes()).and_then(|()| file.sync_all());
        made.map_err(Fault::machine("writing `index.json`"))?;
        dir.create_dir_all(BLOBS).map_err(Fault::machine("making the folder of blobs"))?;
        let mut placed = Placed { dir, paths: Vec::new() };
        for (digest, blob) in self.staged {
            let path = Layout::blob_path(digest);
            let is_new = !dir.exists(&path);
            // A blob that is there already may have been tampered with; this one is whole.
            blob.move_to(&path).map_err(Fault::machine(format!("storing the blob `{digest}`")))?;
            placed.paths.extend(is_new.then_some(path));
        }
        written.move_to(INDEX).map_err(Fault::machine("writing `index.json`"))?;
        placed.paths.clear();
        Ok(())
    }
}

/// Removes what processes that were killed have left. Those that live hold a lock on theirs.
pub(super) fn sweep(dir: &Dir) {
    // What cannot be looked at or removed is harmless: nobody names it.
    for entry in dir.entries().into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with(BESIDE) || !dir.symlink_metadata(&name).is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        let Ok(file) = dir.open(&name) else { continue };
        // Held until the file is gone: whoever is about to lock it then sees that it has to make another.
        let lock = file.into_std();
        if lock.try_lock().is_ok() {
            _ = dir.remove_file(&name);
        }
    }
}

/// Blobs that reached their places before the index did. They go again unless it follows.
struct Placed<'a> {
    dir: &'a Dir,
    paths: Vec<String>,
}

impl Drop for Placed<'_> {
    fn drop(&mut self) {
        for path in &self.paths {
            // What cannot be removed is harmless: nobody names it.
            _ = self.dir.remove_file(path);
        }
    }
}

impl Blobs for Change<'_> {
    fn open(&self, descriptor: &Descriptor) -> Result<BlobReader, Fault> {
        match self.staged.get(&descriptor.digest) {
            Some(beside) => BlobReader::open(&beside.dir, &beside.name, descriptor),
            None => self.layout.open(descriptor),
        }
    }

    fn size(&self, digest: Digest) -> Option<u64> {
        match self.staged.get(&digest) {
            Some(beside) => beside.dir.metadata(&beside.name).ok().map(|meta| meta.len()),
            None => self.layout.size(digest),
        }
    }
}

/// A blob that is written in pieces and hashed as it grows. Dropped before it is staged, it leaves nothing behind.
#[derive(Debug)]
pub struct BlobWriter {
    file: io::BufWriter<File>,
    beside: Beside,
    hasher: Sha256,
    size: u64,
}

impl BlobWriter {
    fn new(dir: &Dir) -> Result<Self, Fault> {
        let mut beside = Beside::create(dir).map_err(Fault::machine("making a file for a blob"))?;
        let file = beside.file.take().expect("it was just made");
        Ok(Self { file: io::BufWriter::with_capacity(1 << 16, file), beside, hasher: Sha256::new(), size: 0 })
    }

    /// How much was written.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Ends the blob; it is on the disk.
    pub fn finish(mut self) -> Result<Staged, Fault> {
        let fault = || Fault::machine("writing a blob");
        self.file.flush().map_err(fault())?;
        self.file.get_ref().sync_all().map_err(fault())?;
        let digest = Digest::from_bytes(self.hasher.finalize().into());
        Ok(Staged { digest, size: self.size, beside: self.beside })
    }

    /// The same, where it is known what the blob must be. Another one is refused and leaves nothing behind.
    pub fn finish_as(self, descriptor: &Descriptor) -> Result<Staged, Fault> {
        let refuse = |reason: String| Err(Fault::Tampered { digest: descriptor.digest, reason });
        if self.size != descriptor.size {
            return refuse(format!("it has {} bytes, and must have {}", self.size, descriptor.size));
        }
        let staged = self.finish()?;
        match staged.digest == descriptor.digest {
            true => Ok(staged),
            false => refuse(format!("its bytes have the digest `{}`", staged.digest)),
        }
    }
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What the names of files begin with that are nobody's yet.
const BESIDE: &str = ".new-";

/// A file of the layout's folder that is nobody's yet. It is removed unless it is moved to a place.
#[derive(Debug)]
pub(super) struct Beside {
    dir: Dir,
    name: String,
    pub(super) file: Option<File>,
    /// Held for as long as the file is nobody's; whoever dies gives it up.
    _lock: std::fs::File,
    is_moved: bool,
}

impl Beside {
    pub(super) fn create(dir: &Dir) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let dir = dir.try_clone()?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{BESIDE}{}-{count}", std::process::id());
            match dir.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
                Ok(file) => {
                    let lock = file.into_std();
                    lock.lock()?;
                    if !dir.exists(&name) {
                        // Taken for somebody's who was killed, before the lock was ours.
                        continue;
                    }
                    let file = File::from_std(lock.try_clone()?);
                    return Ok(Self { dir, name, file: Some(file), _lock: lock, is_moved: false });
                }
                // Left by a process that was killed and had our number.
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    pub(super) fn move_to(mut self, path: &str) -> io::Result<()> {
        self.dir.rename(&self.name, &self.dir, path)?;
        self.is_moved = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_moved {
            // What cannot be removed is harmless: nobody names it.
            _ = self.dir.remove_file(&self.name);
        }
    }
}
