//! Processes: who lives, and what becomes of the threads of those who do not.

use super::table::{Node, Tables};
use crate::store::{NODE_LIFE, StoreError};
use entourage_model::{NodeId, Timestamp};

impl Tables {
    pub(super) fn register(&mut self, node: NodeId, now: Timestamp) {
        self.nodes.insert(node, Node { expires_at: now.after(NODE_LIFE), dead: false });
    }

    pub(super) fn heartbeat(&mut self, node: NodeId, now: Timestamp) -> Result<(), StoreError> {
        let node = self.nodes.get_mut(&node).filter(|node| !node.dead).ok_or(StoreError::NodeDead)?;
        node.expires_at = now.after(NODE_LIFE);
        Ok(())
    }

    /// A thread whose owner was never registered is swept as well: nobody could ever notice that owner's death.
    pub(super) fn sweep(&mut self, now: Timestamp) -> usize {
        for node in self.nodes.values_mut() {
            node.dead |= node.expires_at < now;
        }
        let mut swept = 0;
        for thread in self.threads.values_mut() {
            let Some(owner) = thread.owner else { continue };
            if self.nodes.get(&owner).is_none_or(|node| node.dead) {
                thread.make_ready(now);
                thread.row.epoch += 1;
                swept += 1;
            }
        }
        swept
    }
}
