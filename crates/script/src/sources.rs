//! What an evaluation reads, and what it remembers: both belong to the caller.

use crate::fault::Fault;
use crate::remembered::Endless;
use entourage_model::Digest;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

    /// Why a definition could not be evaluated a moment ago. What lasts longer than one reading of a project should
    /// forget it: another file may have changed, and a limit may have been reached because the machine was busy.
    fn recall_fault(&self, _key: &Digest) -> Option<Fault> {
        None
    }

    /// Keeps a fault under a key.
    fn keep_fault(&self, _key: &Digest, _fault: &Fault) {}

    /// What is known of a definition that did not end. It says itself how long that holds.
    fn recall_endless(&self, _key: &Digest) -> Option<Endless> {
        None
    }

    /// Keeps that under a key.
    fn keep_endless(&self, _key: &Digest, _endless: Endless) {}
}

/// A memory for as long as a project is being read: it keeps faults too, so that nothing is evaluated twice in vain.
pub struct OneReading<'a> {
    lasting: &'a dyn Memory,
    faults: Mutex<HashMap<Digest, Fault>>,
}

impl<'a> OneReading<'a> {
    pub fn new(lasting: &'a dyn Memory) -> Self {
        Self { lasting, faults: Mutex::default() }
    }

    fn faults(&self) -> MutexGuard<'_, HashMap<Digest, Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OneReading<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneReading").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl Memory for OneReading<'_> {
    fn recall(&self, key: &Digest) -> Option<Vec<u8>> {
        self.lasting.recall(key)
    }

    fn keep(&self, key: &Digest, bytes: &[u8]) {
        self.lasting.keep(key, bytes);
    }

    fn recall_fault(&self, key: &Digest) -> Option<Fault> {
        self.faults().get(key).cloned()
    }

    fn keep_fault(&self, key: &Digest, fault: &Fault) {
        self.faults().insert(*key, fault.clone());
    }

    fn recall_endless(&self, key: &Digest) -> Option<Endless> {
        self.lasting.recall_endless(key)
    }

    fn keep_endless(&self, key: &Digest, endless: Endless) {
        self.lasting.keep_endless(key, endless);
    }
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
