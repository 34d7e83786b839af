//! Evaluated definitions, kept in the user's cache folder so that the next call need not evaluate them again.

use crate::environment;
use cap_std::fs::Dir;
use entourage_model::Digest;
use entourage_script::{Endless, Memory};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Each edit of a definition leaves an entry behind; at this number all are thrown away.
const ENTRIES_MAX: usize = 4096;
/// The same for definitions that do not end; nobody has that many.
const ENDLESS_MAX: usize = 256;

/// The cache, or none where there is no place for one. Whatever goes wrong with it, a definition is just evaluated.
pub(crate) fn open() -> Box<dyn Memory> {
    let opened = environment::cache_folder().and_then(|path| {
        let authority = cap_std::ambient_authority();
        Dir::create_ambient_dir_all(&path, authority).ok()?;
        Dir::open_ambient_dir(&path, authority).ok()
    });
    Box::new(Lasting { folder: opened.map(|dir| CacheFolder { dir, has_room: Once::new() }) })
}

/// The cache folder, and what only this process remembers.
#[derive(Debug)]
struct Lasting {
    folder: Option<CacheFolder>,
}

impl Memory for Lasting {
    fn recall(&self, key: &Digest) -> Option<Vec<u8>> {
        self.folder.as_ref()?.recall(key)
    }

    fn keep(&self, key: &Digest, bytes: &[u8]) {
        if let Some(folder) = &self.folder {
            folder.keep(key, bytes);
        }
    }

    fn recall_endless(&self, key: &Digest) -> Option<Endless> {
        endless().get(key).cloned()
    }

    fn keep_endless(&self, key: &Digest, known: Endless) {
        let mut endless = endless();
        if endless.len() >= ENDLESS_MAX {
            endless.clear();
        }
        endless.insert(*key, known);
    }
}

/// A server reads its project for each request: nobody shall wait for the same definition again and again.
fn endless() -> MutexGuard<'static, BTreeMap<Digest, Endless>> {
    static ENDLESS: Mutex<BTreeMap<Digest, Endless>> = Mutex::new(BTreeMap::new());
    ENDLESS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct CacheFolder {
    dir: Dir,
    /// Room is made once a process: looking through the folder costs more than what one process adds to it.
    has_room: Once,
}

impl CacheFolder {
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
