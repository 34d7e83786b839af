//! Ids for answers and tool calls that never repeat, not even when a test restarts the fake model mid-conversation.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct Ids {
    /// Differs from server to server: a resumed conversation still holds the ids of the server before.
    seed: u32,
    next: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Ids {
        Ids { seed: fastrand::u32(..), next: AtomicU64::new(1) }
    }

    pub(super) fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{:08x}{number:06}", self.seed)
    }
}
