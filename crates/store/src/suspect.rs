//! Threads that were taken up again and again, and never came to a commit.

use entourage_model::{ThreadId, Timestamp};

/// After so many attempts without a commit, a thread may be what ends its process.
pub const SUSPECT_ATTEMPTS: u32 = 2;

/// A thread that could be taken up: since when it has waited, and how often it was taken up in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub since: Timestamp,
    pub thread: ThreadId,
    pub attempts: u32,
}

/// If there are suspects, leaves only one of them among the candidates: the one that was tried least.
///
/// A process that is ended from outside, early and often, would otherwise make suspects of all threads that wait their
/// turn, and blame them all in the end. Alone, an innocent one is soon through, and the one that really ends the
/// process takes nobody along.
pub fn leave_one_suspect(candidates: &mut Vec<Candidate>) {
    let suspects = candidates.iter().filter(|candidate| candidate.attempts >= SUSPECT_ATTEMPTS);
    if let Some(least) = suspects.min_by_key(|candidate| candidate.attempts).copied() {
        *candidates = vec![least];
    }
}
