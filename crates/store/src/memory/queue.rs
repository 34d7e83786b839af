//! Lines from outside.

use super::table::{Tables, Thread};
use crate::key::same_request;
use crate::row::{Enqueued, NewLine, QueueLine};
use crate::store::EnqueueError;
use entourage_model::{Item, NodeId, ThreadId, Timestamp};

impl Tables {
    pub(super) fn enqueue(
        &mut self,
        to: ThreadId,
        line: NewLine,
        claim: Option<NodeId>,
        now: Timestamp,
    ) -> Result<Enqueued, EnqueueError> {
        let thread = self.threads.get_mut(&to).ok_or(EnqueueError::NoThread)?;
        // A repetition gets the first answer, whatever has become of the thread since.
        if let Some(first) = line.key.as_ref().and_then(|key| thread.keys.get(key)) {
            return repeat(first, &line.item);
        }
        if thread.is_terminated() {
            return Err(EnqueueError::Terminated);
        }
        if line.item.is_message() && messages(thread) >= line.messages_max as usize {
            return Err(EnqueueError::QueueFull);
        }
        let holder = thread.owner;
        let number = thread.queue_line(line.item.clone());
        if let Some(key) = line.key {
            thread.keys.insert(key, QueueLine { number, item: line.item });
        }
        let mut taken = None;
        if thread.is_parked() {
            match claim {
                Some(node) => taken = Some(thread.take_up(node)),
                None => thread.make_ready(now),
            }
        }
        if let Some(run) = line.run {
            self.new_run(run, now);
        }
        Ok(Enqueued { number, repeated: false, first: None, claim: taken, holder })
    }

    pub(super) fn lines(&self, thread: ThreadId, after: u64) -> Vec<QueueLine> {
        let lines = self.threads.get(&thread).map(Thread::lines).unwrap_or_default();
        lines.into_iter().filter(|line| line.number > after).collect()
    }
}

fn repeat(first: &QueueLine, item: &Item) -> Result<Enqueued, EnqueueError> {
    if !same_request(&first.item, item) {
        return Err(EnqueueError::Conflict);
    }
    Ok(Enqueued { number: first.number, repeated: true, first: Some(first.item.clone()), claim: None, holder: None })
}

fn messages(thread: &Thread) -> usize {
    thread.queue.values().filter(|item| item.is_message()).count()
}
