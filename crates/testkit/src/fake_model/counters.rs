//! How many connections are open and how many answers nobody stayed for.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) open: usize,
    pub(super) aborted: usize,
}

/// Changed once per connection and once per aborted request, never per answered request: a benchmark does not feel it.
#[derive(Debug, Default)]
pub(super) struct Counters {
    counts: watch::Sender<Counts>,
}

impl Counters {
    pub(super) fn open(&self) -> usize {
        self.counts.borrow().open
    }

    pub(super) fn aborted(&self) -> usize {
        self.counts.borrow().aborted
    }

    pub(super) async fn until(&self, reached: impl FnMut(&Counts) -> bool) {
        let mut counts = self.counts.subscribe();
        counts.wait_for(reached).await.expect("the sender lives in self");
    }
}

/// Counts a connection as open for as long as it lives.
#[derive(Debug)]
pub(super) struct OpenConnection {
    counters: Arc<Counters>,
}

impl OpenConnection {
    pub(super) fn new(counters: Arc<Counters>) -> OpenConnection {
        counters.counts.send_modify(|counts| counts.open += 1);
        OpenConnection { counters }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.counters.counts.send_modify(|counts| counts.open -= 1);
    }
}

/// Lives from the head of a request to the last byte of its answer. hyper drops it early when the client leaves, which
/// is how an abort is noticed.
#[derive(Debug)]
pub(super) struct PendingAnswer {
    counters: Arc<Counters>,
    finished: bool,
}

impl PendingAnswer {
    pub(super) fn new(counters: Arc<Counters>) -> PendingAnswer {
        PendingAnswer { counters, finished: false }
    }

    pub(super) fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if !self.finished {
            self.counters.counts.send_modify(|counts| counts.aborted += 1);
        }
    }
}
