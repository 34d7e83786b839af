//! Taking threads up and giving them back.

use super::table::{Tables, Thread};
use crate::row::{Claim, Lease};
use crate::store::StoreError;
use crate::suspect::{Candidate, leave_one_suspect};
use entourage_model::{NodeId, ThreadId, ThreadStatus, Timestamp};

impl Tables {
    pub(super) fn claim(
        &mut self,
        node: NodeId,
        max: usize,
        root: Option<ThreadId>,
        now: Timestamp,
    ) -> Result<Vec<Claim>, StoreError> {
        if self.nodes.get(&node).is_none_or(|node| node.dead) {
            return Err(StoreError::NodeDead);
        }
        let threads = self.threads.values().filter(|thread| root.is_none_or(|root| thread.row.root == root));
        let candidate = |thread: &Thread| {
            let since = waiting_since(thread, now)?;
            Some(Candidate { since, thread: thread.row.id, attempts: thread.row.attempts })
        };
        let mut waiting: Vec<Candidate> = threads.filter_map(candidate).collect();
        waiting.sort_unstable();
        waiting.truncate(max);
        leave_one_suspect(&mut waiting);
        Ok(waiting.iter().filter_map(|next| Some(self.threads.get_mut(&next.thread)?.take_up(node))).collect())
    }

    /// A lost lease is a no-op.
    pub(super) fn release(&mut self, lease: Lease, now: Timestamp) {
        if let Some(thread) = self.held(lease) {
            thread.make_ready(now);
            thread.row.attempts = thread.row.attempts.saturating_sub(1);
        }
    }

    /// The thread, if the lease on it is still good.
    pub(super) fn held(&mut self, lease: Lease) -> Option<&mut Thread> {
        let thread = self.threads.get_mut(&lease.thread)?;
        (thread.row.epoch == lease.epoch && thread.owner == Some(lease.node)).then_some(thread)
    }
}

fn waiting_since(thread: &Thread, now: Timestamp) -> Option<Timestamp> {
    if thread.row.status == ThreadStatus::Ready {
        return Some(thread.ready_at);
    }
    thread.wakes_at().filter(|&at| at <= now)
}
