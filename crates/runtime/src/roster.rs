//! The threads that this process holds, and how their actors are reached.

use entourage_model::ThreadId;
use entourage_store::{Lease, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Roster {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    actors: HashMap<ThreadId, Seat>,
    /// How many answers of the store may still bring threads which have no actor yet.
    expected: usize,
    /// Rung while they had no actor: one of those answers may bring it. Once none is expected any more, whoever is
    /// left here had parked before it was rung.
    rung_early: HashSet<ThreadId>,
    /// Held on purpose though nobody works on them: whoever tried ran into a wall. Each until it is taken up again or
    /// deleted.
    stuck: HashMap<ThreadId, Stuck>,
}

#[derive(Debug)]
struct Stuck {
    epoch: u64,
    root: ThreadId,
    /// Why nothing of the thread can be read.
    damage: Option<StoreError>,
}

#[derive(Debug)]
struct Seat {
    epoch: u64,
    /// Rung when the thread's queue has grown, or the process is about to end.
    bell: Arc<Notify>,
    /// The greatest line that it was rung for.
    rung_for: u64,
}

/// An answer of the store that may bring threads to take up. It is kept until they have joined.
#[derive(Debug)]
pub(crate) struct Expected<'r>(&'r Roster);

impl Roster {
    fn book(&self) -> MutexGuard<'_, Book> {
        // Nothing that holds this lock can panic half way: the book is whole even if it is poisoned.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.book().actors.len()
    }

    /// To be called before the store is asked.
    pub(crate) fn expect(&self) -> Expected<'_> {
        self.book().expected += 1;
        Expected(self)
    }

    /// The same, if fewer than so many threads are held.
    pub(crate) fn expect_below(&self, slots: usize) -> Option<Expected<'_>> {
        let mut book = self.book();
        (book.actors.len() < slots).then(|| {
            book.expected += 1;
            Expected(self)
        })
    }

    /// Adds an actor and returns its bell.
    pub(crate) fn join(&self, lease: Lease) -> Arc<Notify> {
        let mut book = self.book();
        let bell = Arc::new(Notify::new());
        if book.rung_early.remove(&lease.thread) {
            bell.notify_one();
        }
        book.stuck.remove(&lease.thread);
        book.actors.insert(lease.thread, Seat { epoch: lease.epoch, bell: Arc::clone(&bell), rung_for: 0 });
        bell
    }

    /// Takes an actor away, unless its thread was taken up again by another one.
    pub(crate) fn leave(&self, lease: Lease) {
        let mut book = self.book();
        if book.actors.get(&lease.thread).is_some_and(|seat| seat.epoch == lease.epoch) {
            book.actors.remove(&lease.thread);
        }
    }

    /// Takes an actor away whose thread stays held.
    pub(crate) fn leave_stuck(&self, lease: Lease, root: ThreadId, damage: Option<StoreError>) {
        self.leave(lease);
        self.book().stuck.insert(lease.thread, Stuck { epoch: lease.epoch, root, damage });
    }

    /// The threads of a tree that nobody here can read, and why.
    pub(crate) fn damaged(&self, root: ThreadId) -> HashMap<ThreadId, StoreError> {
        let book = self.book();
        let stuck = book.stuck.iter().filter(|(_, stuck)| stuck.root == root);
        stuck.filter_map(|(thread, stuck)| Some((*thread, stuck.damage.clone()?))).collect()
    }

    /// Threads that are no more. Whoever still works on one is told so.
    pub(crate) fn forget(&self, deleted: &[ThreadId]) {
        let mut book = self.book();
        for thread in deleted {
            book.stuck.remove(thread);
            if let Some(seat) = book.actors.remove(thread) {
                seat.bell.notify_one();
            }
        }
    }

    /// Whether the lease is somebody's here. One that was lost to a later one is.
    pub(crate) fn knows(&self, lease: Lease) -> bool {
        let book = self.book();
        let at_work = book.actors.get(&lease.thread).is_some_and(|seat| seat.epoch >= lease.epoch);
        at_work || book.stuck.get(&lease.thread).is_some_and(|stuck| stuck.epoch >= lease.epoch)
    }

    /// Rings for every actor there is. Whoever joins later looks for itself at what they are rung for.
    pub(crate) fn ring_all(&self) {
        self.book().actors.values().for_each(|seat| seat.bell.notify_one());
    }

    /// Tells the actor of a thread that its queue has grown, now or as soon as it joins. One that has parked
    /// meanwhile is a no-op: it has seen the line.
    pub(crate) fn ring(&self, thread: ThreadId) {
        let mut book = self.book();
        if let Some(seat) = book.actors.get(&thread) {
            seat.bell.notify_one();
        } else if book.expected > 0 {
            book.rung_early.insert(thread);
        }
    }

    /// The same for whoever knows how far the queue has grown: nobody is rung twice for one line.
    pub(crate) fn ring_for(&self, thread: ThreadId, number: u64) {
        let mut book = self.book();
        match book.actors.get_mut(&thread) {
            Some(seat) if seat.rung_for < number => {
                seat.rung_for = number;
                seat.bell.notify_one();
            }
            Some(_) | None => {}
        }
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        let mut book = self.0.book();
        book.expected -= 1;
        if book.expected == 0 {
            book.rung_early.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Ids, Timestamp};
    use futures::FutureExt as _;

    fn lease(epoch: u64) -> Lease {
        let mut ids = Ids::new(Timestamp(0), 1);
        Lease { thread: ids.thread(), node: ids.node(), epoch }
    }

    fn has_rung(bell: &Notify) -> bool {
        bell.notified().now_or_never().is_some()
    }

    #[test]
    fn a_ring_reaches_the_actor_at_once_or_when_it_joins() {
        let (roster, lease) = (Roster::default(), lease(1));
        let answer = roster.expect();
        roster.ring(lease.thread);
        let other = roster.expect();
        drop(other);
        let bell = roster.join(lease);
        drop(answer);
        assert!(has_rung(&bell), "it was rung before it joined");
        assert!(!has_rung(&bell), "it was rung once");
        roster.ring(lease.thread);
        assert!(has_rung(&bell));
    }

    #[test]
    fn a_ring_that_nobody_can_be_meant_by_is_forgotten() {
        let (roster, lease) = (Roster::default(), lease(1));
        roster.ring(lease.thread);
        assert!(!has_rung(&roster.join(lease)), "nothing was expected");
        roster.leave(lease);
        let answer = roster.expect();
        roster.ring(lease.thread);
        drop(answer);
        assert!(!has_rung(&roster.join(lease)), "the answer did not bring it");
    }

    #[test]
    fn a_line_that_is_found_again_and_again_rings_once() {
        let (roster, lease) = (Roster::default(), lease(1));
        roster.ring_for(lease.thread, 7);
        let bell = roster.join(lease);
        assert!(!has_rung(&bell), "whoever joins reads the whole queue");
        roster.ring_for(lease.thread, 7);
        assert!(has_rung(&bell));
        roster.ring_for(lease.thread, 7);
        assert!(!has_rung(&bell));
        roster.ring_for(lease.thread, 8);
        assert!(has_rung(&bell));
    }

    #[test]
    fn a_lease_is_known_while_somebody_works_under_it_or_it_is_held_on_purpose() {
        let roster = Roster::default();
        assert!(!roster.knows(lease(1)));
        roster.join(lease(2));
        assert!(roster.knows(lease(2)) && roster.knows(lease(1)) && !roster.knows(lease(3)));
        roster.leave_stuck(lease(2), lease(2).thread, None);
        assert!(roster.knows(lease(2)) && !roster.knows(lease(3)));
        assert_eq!(roster.len(), 0);
    }

    #[test]
    fn a_damaged_thread_is_known_to_its_tree_until_somebody_takes_it_up_or_deletes_it() {
        let (roster, thread) = (Roster::default(), lease(1).thread);
        let root = Ids::new(Timestamp(0), 2).thread();
        let damaged = || roster.damaged(root).into_keys().collect::<Vec<_>>();
        let fall = |epoch| roster.leave_stuck(lease(epoch), root, Some(StoreError::Corrupt("torn".to_owned())));
        fall(1);
        assert_eq!((damaged(), roster.damaged(thread).len()), (vec![thread], 0));
        roster.join(lease(2));
        assert_eq!(damaged(), []);
        fall(2);
        roster.forget(&[thread]);
        assert_eq!(damaged(), []);
    }

    #[test]
    fn an_actor_that_leaves_late_takes_no_other_away() {
        let roster = Roster::default();
        roster.join(lease(1));
        roster.join(lease(2));
        roster.leave(lease(1));
        assert_eq!(roster.len(), 1);
        assert!(roster.expect_below(1).is_none());
        roster.leave(lease(2));
        assert_eq!(roster.len(), 0);
        assert!(roster.expect_below(1).is_some());
    }
}
