//! What is shown of threads that are asked for again and again, for as long as their journals have not grown.
//!
//! Whoever watches a thread asks for it often, and folding the journal of a parent with many children each time would cost
//! more than all the rest of an answer.

use entourage_model::{Name, RegistryEntry, ThreadId};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

const THREADS_MAX: usize = 4096;
/// Of all kept threads together.
const CHILDREN_MAX: usize = 50_000;

/// What only the journal tells.
#[derive(Clone, Debug)]
pub(crate) struct Glance {
    /// How long the journal was.
    pub(crate) seq: u64,
    /// The one at work, which a handoff may have changed.
    pub(crate) agent: Name,
    pub(crate) children: Arc<[RegistryEntry]>,
}

/// Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glances(Arc<Mutex<Shelf>>);

#[derive(Debug, Default)]
struct Shelf {
    kept: HashMap<ThreadId, Glance>,
    /// Oldest first, each kept thread once.
    order: VecDeque<ThreadId>,
    children: usize,
}

impl Glances {
    /// A journal only grows, so what was seen at this length is still so.
    pub(crate) fn find(&self, thread: ThreadId, seq: u64) -> Option<Glance> {
        let shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.kept.get(&thread).filter(|glance| glance.seq == seq).cloned()
    }

    /// Keeps it at the price of the oldest ones.
    pub(crate) fn keep(&self, thread: ThreadId, glance: &Glance) {
        if glance.children.len() > CHILDREN_MAX {
            return;
        }
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.children += glance.children.len();
        match shelf.kept.insert(thread, glance.clone()) {
            Some(before) => shelf.children -= before.children.len(),
            None => shelf.order.push_back(thread),
        }
        while shelf.kept.len() > THREADS_MAX || shelf.children > CHILDREN_MAX {
            let Some(oldest) = shelf.order.pop_front() else { break };
            let gone = shelf.kept.remove(&oldest).map_or(0, |glance| glance.children.len());
            shelf.children -= gone;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Communication, Ids, Timestamp};

    fn glance(seq: u64, children: usize) -> Glance {
        let entry = RegistryEntry {
            reference: Ids::new(Timestamp(1), 1).thread(),
            name: "a".into(),
            title: None,
            description: String::new(),
            resumable: true,
            blocking: true,
            thread_name: None,
            spawn_group_id: None,
            created_at: Timestamp(1),
            status: "idle".to_owned(),
            parent_communication: Communication::Implicit,
        };
        Glance { seq, agent: "boss".into(), children: vec![entry; children].into() }
    }

    #[test]
    fn a_journal_that_has_grown_is_looked_at_again_and_the_oldest_are_forgotten() {
        let (glances, mut ids) = (Glances::default(), Ids::new(Timestamp(1), 7));
        let first = ids.thread();
        glances.keep(first, &glance(3, 2));
        assert!(glances.find(first, 3).is_some() && glances.find(first, 4).is_none());
        glances.keep(first, &glance(4, 3));
        assert!(glances.find(first, 3).is_none() && glances.find(first, 4).is_some());
        let large = ids.thread();
        glances.keep(large, &glance(1, CHILDREN_MAX - 1));
        assert!(glances.find(first, 4).is_none() && glances.find(large, 1).is_some());
        for _ in 0..=THREADS_MAX {
            glances.keep(ids.thread(), &glance(1, 0));
        }
        assert!(glances.find(large, 1).is_none());
        let shelf = glances.0.lock().unwrap();
        assert_eq!((shelf.kept.len(), shelf.order.len(), shelf.children), (THREADS_MAX, THREADS_MAX, 0));
    }
}
