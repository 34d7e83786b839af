//! States of parked threads that will probably be taken up again soon.
//!
//! A journal only grows, so a kept state is right exactly when its length is the journal's. Losing one costs a fold.

use entourage_engine::ThreadState;
use entourage_model::ThreadId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

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
    states: HashMap<ThreadId, (usize, ThreadState)>,
    /// Oldest first; may name states that are gone.
    order: VecDeque<ThreadId>,
    bytes: usize,
}

impl StateCache {
    /// Keeps a state, at the price of the oldest ones.
    pub(crate) fn put(&self, state: ThreadState) {
        let weight = weight(&state);
        if weight > BYTES_MAX / 2 {
            return;
        }
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.remove(thread).filter(|state| state.seq == seq)
    }
}

impl Shelf {
    fn remove(&mut self, thread: ThreadId) -> Option<ThreadState> {
        let (weight, state) = self.states.remove(&thread)?;
        self.bytes -= weight;
        Some(state)
    }
}

fn weight(state: &ThreadState) -> usize {
    usize::try_from(state.seq).unwrap_or(usize::MAX).saturating_mul(EVENT_BYTES)
}
