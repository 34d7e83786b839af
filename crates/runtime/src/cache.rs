//! States of threads that will probably be taken up, or looked at, again soon.
//!
//! A journal only grows, so a kept state is right exactly when its length is the journal's, and one that is shorter is a
//! beginning to go on from. Losing one costs a fold.

use entourage_engine::ThreadState;
use entourage_model::ThreadId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const STATES_MAX: usize = 256;
const BYTES_MAX: usize = 64 << 20;
/// What an event is taken to leave behind in a state. Counting the texts would cost as much as a fold.
const EVENT_BYTES: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct StateCache {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    states: HashMap<ThreadId, (usize, Arc<ThreadState>)>,
    /// Oldest first; may name states that are gone.
    order: VecDeque<ThreadId>,
    bytes: usize,
}

impl StateCache {
    /// Keeps a state, at the price of the oldest ones; unless a longer one of the same thread is there.
    pub(crate) fn put(&self, state: Arc<ThreadState>) {
        let weight = weight(&state);
        let mut shelf = self.shelf();
        if weight > BYTES_MAX / 2 || shelf.states.get(&state.id()).is_some_and(|(_, kept)| kept.seq > state.seq) {
            return;
        }
        shelf.remove(state.id());
        shelf.order.push_back(state.id());
        shelf.bytes += weight;
        shelf.states.insert(state.id(), (weight, state));
        while shelf.states.len() > STATES_MAX || shelf.bytes > BYTES_MAX || shelf.order.len() > 4 * STATES_MAX {
            let Some(oldest) = shelf.order.pop_front() else { break };
            if !shelf.order.contains(&oldest) {
                shelf.remove(oldest);
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.shelf.lock().unwrap_or_else(PoisonError::into_inner) = Shelf::default();
    }

    /// Takes the state out if it is as long as the journal.
    pub(crate) fn take(&self, thread: ThreadId, seq: u64) -> Option<ThreadState> {
        let taken = self.shelf().remove(thread).filter(|state| state.seq == seq);
        // Somebody may be looking at it.
        taken.map(Arc::unwrap_or_clone)
    }

    /// The state if it is at least as long as the journal was; it stays.
    pub(crate) fn look(&self, thread: ThreadId, seq: u64) -> Option<Arc<ThreadState>> {
        let shelf = self.shelf();
        shelf.states.get(&thread).map(|(_, state)| state).filter(|state| state.seq >= seq).cloned()
    }

    /// Takes the state out, however long it is.
    pub(crate) fn take_beginning(&self, thread: ThreadId) -> Option<Arc<ThreadState>> {
        self.shelf().remove(thread)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn remove(&mut self, thread: ThreadId) -> Option<Arc<ThreadState>> {
        let (weight, state) = self.states.remove(&thread)?;
        self.bytes -= weight;
        Some(state)
    }
}

fn weight(state: &ThreadState) -> usize {
    usize::try_from(state.seq).unwrap_or(usize::MAX).saturating_mul(EVENT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Digest, Event, Ids, Started, Timestamp};

    fn state(seed: u64, seq: u64) -> Arc<ThreadState> {
        let thread = Ids::new(Timestamp(0), seed).thread();
        let started = Started::root(thread, "boss".into(), Digest::of(&[]), Timestamp(0));
        let born = ThreadState::born(&Event::Started(started)).expect("it is a beginning");
        Arc::new(ThreadState { seq, ..born })
    }

    #[test]
    fn a_state_is_taken_at_its_own_length_and_looked_at_while_the_journal_is_not_longer() {
        let cache = StateCache::default();
        let kept = state(1, 5);
        cache.put(Arc::clone(&kept));
        cache.put(state(1, 3));
        let seen = |seq| cache.look(kept.id(), seq).map(|state| state.seq);
        assert_eq!((seen(4), seen(5), seen(6)), (Some(5), Some(5), None), "a shorter one does not take its place");
        assert_eq!(cache.take(kept.id(), 5).map(|state| state.seq), Some(5));
        assert_eq!(cache.take_beginning(kept.id()), None, "it is taken once");
        cache.put(Arc::clone(&kept));
        assert_eq!(cache.take(kept.id(), 6), None);
        assert_eq!(cache.take_beginning(kept.id()), None, "what is not right is gone");
    }

    #[test]
    fn the_oldest_make_room() {
        let cache = StateCache::default();
        let first = state(0, 1);
        cache.put(Arc::clone(&first));
        (1..=STATES_MAX as u64).for_each(|seed| cache.put(state(seed, 1)));
        assert_eq!(cache.look(first.id(), 1), None);
        assert!(cache.look(state(1, 1).id(), 1).is_some());
        let heavy = state(9_999, (BYTES_MAX / EVENT_BYTES) as u64);
        cache.put(Arc::clone(&heavy));
        assert_eq!(cache.look(heavy.id(), 1), None, "one that would take half of the room is not kept");
    }
}
