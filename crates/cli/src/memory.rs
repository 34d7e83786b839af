//! Evaluated definitions, kept in the user's cache folder so that the next call need not evaluate them again.

use crate::environment;
use cap_std::fs::Dir;
use entourage_model::Digest;
use entourage_script::{Memory, NoMemory};
use std::sync::Once;

/// Each edit of a definition leaves an entry behind; at this number all are thrown away.
const ENTRIES_MAX: usize = 4096;

/// The cache, or none where there is no place for one. Whatever goes wrong with it, a definition is just evaluated.
pub(crate) fn open() -> Box<dyn Memory> {
    let opened = environment::cache_folder().and_then(|path| {
        let authority = cap_std::ambient_authority();
        Dir::create_ambient_dir_all(&path, authority).ok()?;
        Dir::open_ambient_dir(&path, authority).ok()
    });
    match opened {
        Some(dir) => Box::new(CacheFolder { dir, has_room: Once::new() }),
        None => Box::new(NoMemory),
    }
}

#[derive(Debug)]
struct CacheFolder {
    dir: Dir,
    /// Room is made once a process: looking through the folder costs more than what one process adds to it.
    has_room: Once,
}

impl Memory for CacheFolder {
    fn recall(&self, key: &Digest) -> Option<Vec<u8>> {
        self.dir.read(name(key)).ok()
    }

    /// Through a file of this process's own, so that nobody reads half of it.
    fn keep(&self, key: &Digest, bytes: &[u8]) {
        self.has_room.call_once(|| self.make_room());
        let beside = format!("{}-{}", name(key), std::process::id());
        if self.dir.write(&beside, bytes).is_ok() {
            _ = self.dir.rename(&beside, &self.dir, name(key));
        }
    }
}

impl CacheFolder {
    fn make_room(&self) {
        let Ok(entries) = self.dir.entries() else { return };
        let names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
        if names.len() >= ENTRIES_MAX {
            for name in names {
                _ = self.dir.remove_file(name);
            }
        }
    }
}

fn name(key: &Digest) -> String {
    key.to_string().replace(':', "-")
}
