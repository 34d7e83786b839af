//! What happened, by thread and by tree.

use super::table::{Entry, Tables, Thread};
use crate::row::StoredEvent;
use entourage_model::{Event, ThreadId};

impl Tables {
    pub(super) fn append(&mut self, id: ThreadId, epoch: u64, events: Vec<Event>) {
        let Some(thread) = self.threads.get_mut(&id) else { return };
        for event in events {
            self.position += 1;
            thread.row.seq += 1;
            if let Event::Terminated { at } = event {
                thread.row.terminated_at = Some(at);
            }
            thread.journal.push(Entry { position: self.position, epoch, event });
        }
    }

    pub(super) fn journal(&self, id: ThreadId, after: u64, limit: usize) -> Vec<StoredEvent> {
        let events = self.threads.get(&id).into_iter().flat_map(stored);
        events.filter(|event| event.seq > after).take(limit).collect()
    }

    pub(super) fn tree_journal(&self, root: ThreadId, after: u64, limit: usize) -> Vec<StoredEvent> {
        let tree = self.threads.values().filter(|thread| thread.row.root == root);
        let mut events: Vec<StoredEvent> = tree.flat_map(stored).filter(|event| event.position > after).collect();
        events.sort_unstable_by_key(|event| event.position);
        events.truncate(limit);
        events
    }
}

fn stored(thread: &Thread) -> impl Iterator<Item = StoredEvent> {
    (1..).zip(&thread.journal).map(|(seq, entry)| StoredEvent {
        thread: thread.row.id,
        seq,
        position: entry.position,
        epoch: entry.epoch,
        event: entry.event.clone(),
    })
}
