//! Who is told when something became durable, or is just happening.

use entourage_model::{CallId, Event, ThreadId, ThreadStatus};
use entourage_outside::tool::Stream;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// A watcher that is further behind reads the store instead.
const BACKLOG: usize = 1024;

#[derive(Clone, Debug)]
pub enum Notice {
    /// These events are durable; the first one has this number in its thread.
    Committed { thread: ThreadId, first: u64, events: Arc<Vec<Event>> },
    /// A thread's row has changed.
    Status { thread: ThreadId, status: ThreadStatus },
    /// A piece of an answer that is still coming. Never stored.
    Delta { thread: ThreadId, text: Arc<str> },
    /// A piece of what a tool writes while it runs. Never stored.
    Output { thread: ThreadId, call: CallId, stream: Stream, text: Arc<str> },
    /// A model is being asked again.
    Retrying { thread: ThreadId, attempt: u32, why: Arc<str> },
    /// Notices were lost: read the store.
    Lagged,
}

#[derive(Debug, Default)]
pub(crate) struct Hub {
    trees: Mutex<HashMap<ThreadId, broadcast::Sender<Notice>>>,
    /// How many watch whole trees; those who wait for a status need no events.
    watchers: Arc<AtomicUsize>,
    /// Others read the store at any time and expect to find what has happened.
    has_readers: AtomicBool,
    statuses: Mutex<HashMap<ThreadId, broadcast::Sender<ThreadId>>>,
}

/// Receives the notices of one tree until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    notices: broadcast::Receiver<Notice>,
    watchers: Arc<AtomicUsize>,
}

impl Hub {
    pub(crate) fn watch(&self, root: ThreadId) -> Watcher {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.retain(|_, sender| sender.receiver_count() > 0);
        let sender = trees.entry(root).or_insert_with(|| broadcast::channel(BACKLOG).0);
        self.watchers.fetch_add(1, Ordering::AcqRel);
        Watcher { notices: sender.subscribe(), watchers: Arc::clone(&self.watchers) }
    }

    /// The roots of the trees that are watched.
    pub(crate) fn watched(&self) -> Vec<ThreadId> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().filter(|(_, sender)| sender.receiver_count() > 0).map(|(root, _)| *root).collect()
    }

    /// The threads of a tree whose rows change, from now on.
    pub(crate) fn statuses(&self, root: ThreadId) -> broadcast::Receiver<ThreadId> {
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        statuses.retain(|_, sender| sender.receiver_count() > 0);
        statuses.entry(root).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    /// A thread's row has changed.
    pub(crate) fn announce(&self, root: ThreadId, thread: ThreadId, status: ThreadStatus) {
        self.rouse(root, thread);
        self.tell(root, Notice::Status { thread, status });
    }

    /// Another process has changed a thread.
    pub(crate) fn stir(&self, root: ThreadId, thread: ThreadId) {
        self.rouse(root, thread);
        self.tell(root, Notice::Lagged);
    }

    /// Lets those look who wait for a thread or for one of its runs, which may have ended while the thread goes on.
    pub(crate) fn rouse(&self, root: ThreadId, thread: ThreadId) {
        let waiting = self.statuses.lock().unwrap_or_else(PoisonError::into_inner).get(&root).cloned();
        if let Some(sender) = waiting {
            // Nobody waits any more: as good as told.
            _ = sender.send(thread);
        }
    }

    /// Other processes may have changed anything.
    pub(crate) fn stir_all(&self) {
        let statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Whoever waits for one thread of a tree looks again by itself, and soon.
        statuses.iter().for_each(|(root, sender)| _ = sender.send(*root));
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trees.values().for_each(|sender| _ = sender.send(Notice::Lagged));
    }

    /// Whether anybody watches anything: a cheap way out for the hot path.
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Acquire) > 0
    }

    pub(crate) fn expect_readers(&self) {
        self.has_readers.store(true, Ordering::Release);
    }

    /// Whether somebody would notice that what has happened is not durable yet.
    pub(crate) fn has_readers(&self) -> bool {
        self.has_readers.load(Ordering::Acquire)
    }

    pub(crate) fn tell(&self, root: ThreadId, notice: Notice) {
        if !self.is_watched() {
            return;
        }
        let sender = self.trees.lock().unwrap_or_else(PoisonError::into_inner).get(&root).cloned();
        if let Some(sender) = sender {
            // Nobody listens any more: as good as told.
            _ = sender.send(notice);
        }
    }
}

impl Watcher {
    /// The next notice. Never ends by itself: a tree can always be written to again.
    pub async fn next(&mut self) -> Notice {
        match self.notices.recv().await {
            Ok(notice) => notice,
            Err(broadcast::error::RecvError::Lagged(_)) => Notice::Lagged,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Watcher {
    /// Something of this thread has become durable, or may have.
    pub(crate) async fn committed(&mut self, thread: ThreadId) {
        loop {
            match self.next().await {
                Notice::Committed { thread: changed, .. } if changed == thread => return,
                Notice::Lagged => return,
                Notice::Committed { .. }
                | Notice::Status { .. }
                | Notice::Delta { .. }
                | Notice::Output { .. }
                | Notice::Retrying { .. } => {}
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watchers.fetch_sub(1, Ordering::AcqRel);
    }
}
