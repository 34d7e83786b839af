//! All threads of one tree, by their parents.

use entourage_model::{Event, ThreadId};
use entourage_store::{JournalReader, Store, StoreError, ThreadFilter, ThreadRow, all_threads};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug)]
pub(crate) struct Tree {
    /// Siblings in the order in which they were started.
    children: BTreeMap<ThreadId, Vec<ThreadRow>>,
}

impl Tree {
    pub(crate) async fn read(store: &dyn Store, root: ThreadId) -> Result<Self, StoreError> {
        let filter = ThreadFilter { root: Some(root), ..ThreadFilter::default() };
        let mut children: BTreeMap<ThreadId, Vec<ThreadRow>> = BTreeMap::new();
        for row in all_threads(store, &filter).await? {
            if let Some(parent) = row.parent {
                children.entry(parent).or_default().push(row);
            }
        }
        for (parent, siblings) in children.iter_mut().filter(|(_, siblings)| siblings.len() > 1) {
            let order = starting_order(store, *parent).await?;
            siblings.sort_by_key(|row| order.get(&row.id).copied());
        }
        Ok(Self { children })
    }

    pub(crate) fn children(&self, parent: ThreadId) -> impl Iterator<Item = &ThreadRow> {
        self.children.get(&parent).into_iter().flatten()
    }

    /// The name that a parent gave to this child; the runtime keeps it as a tag.
    pub(crate) fn given_name(row: &ThreadRow) -> Option<&str> {
        row.tags.iter().find_map(|tag| tag.strip_prefix("name:"))
    }
}

/// When each child was started, as the parent's journal tells: ids of one moment have no order.
async fn starting_order(store: &dyn Store, parent: ThreadId) -> Result<HashMap<ThreadId, u64>, StoreError> {
    let mut journal = JournalReader::of_thread(store, parent);
    let mut order = HashMap::new();
    while let Some(stored) = journal.next().await? {
        if let Event::ChildStarted(link) = stored.event {
            order.insert(link.thread, stored.seq);
        }
    }
    Ok(order)
}
