//! The flag that ends blocking work whose caller is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Looked at by the work, between two pieces of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Held by the future that waits for the work: dropping it, done or cancelled, sets the flag.
#[derive(Debug)]
pub(crate) struct StopOnDrop(pub(crate) Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
