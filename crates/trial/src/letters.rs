//! What a driver has sent: again and again until it is acknowledged, under the driver's own clock.

use crate::checker::Sent;
use entourage_model::ThreadId;

#[derive(Debug, Default)]
pub(crate) struct Letters {
    /// Sent and not acknowledged: to be sent again with the same key.
    open: Vec<Sent>,
    acknowledged: Vec<Sent>,
    /// Counts what the driver did and heard.
    clock: u64,
}

impl Letters {
    /// A message that is about to be sent for the first time.
    pub(crate) fn post(&mut self, thread: ThreadId, text: String) {
        self.clock += 1;
        self.open.push(Sent { thread, text, sent: self.clock, acknowledged: u64::MAX });
    }

    pub(crate) fn acknowledge(&mut self, text: &str) {
        let Some(place) = self.open.iter().position(|open| open.text == text) else { return };
        self.clock += 1;
        self.acknowledged.push(Sent { acknowledged: self.clock, ..self.open.remove(place) });
    }

    /// What was not acknowledged so far is not sent to this thread any more.
    pub(crate) fn give_up(&mut self, thread: ThreadId) {
        self.open.retain(|open| open.thread != thread);
    }

    /// What is to be sent again.
    pub(crate) fn open(&self) -> Vec<(ThreadId, String)> {
        self.open.iter().map(|open| (open.thread, open.text.clone())).collect()
    }

    pub(crate) fn are_acknowledged(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn into_acknowledged(self) -> Vec<Sent> {
        self.acknowledged
    }
}
