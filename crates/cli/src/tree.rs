//! All threads of one tree, by their parents.

use entourage_model::{Event, ThreadId};
use entourage_store::{Page, Store, StoreError, ThreadFilter, ThreadRow};
use std::collections::{BTreeMap, HashMap};

/// How many rows are read at once.
const PAGE: usize = 500;

#[derive(Debug)]
pub(crate) struct Tree {
    /// Siblings in the order in which they were started.
    children: BTreeMap<ThreadId, Vec<ThreadRow>>,
}

impl Tree {
    pub(crate) async fn read(store: &dyn Store, root: ThreadId) -> Result<Self, StoreError> {
        let filter = ThreadFilter { root: Some(root), ..ThreadFilter::default() };
        let mut children: BTreeMap<ThreadId, Vec<ThreadRow>> = BTreeMap::new();
        for row in all(store, &filter).await? {
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
    let mut order = HashMap::new();
    let mut after = 0;
    loop {
        let page = store.journal(parent, after, PAGE).await?;
        let is_last = page.len() < PAGE;
        for stored in page {
            after = stored.seq;
            if let Event::ChildStarted(link) = stored.event {
                order.insert(link.thread, stored.seq);
            }
        }
        if is_last {
            return Ok(order);
        }
    }
}

/// Every thread that the filter lets through, newest first.
pub(crate) async fn all(store: &dyn Store, filter: &ThreadFilter) -> Result<Vec<ThreadRow>, StoreError> {
    let mut rows: Vec<ThreadRow> = Vec::new();
    loop {
        let after = rows.last().map(|row| row.id);
        let page = store.threads(filter, Page { after, limit: PAGE }).await?;
        let is_last = page.len() < PAGE;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}
