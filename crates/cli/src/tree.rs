//! All threads of one tree, by their parents.

use crate::failure::Failure;
use crate::source::Source;
use entourage_model::ThreadId;
use entourage_store::{ThreadFilter, ThreadRow};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Tree {
    /// Siblings in the order in which they were started.
    children: BTreeMap<ThreadId, Vec<ThreadRow>>,
}

impl Tree {
    pub(crate) async fn read(source: &dyn Source, root: ThreadId) -> Result<Self, Failure> {
        let filter = ThreadFilter { root: Some(root), ..ThreadFilter::default() };
        let mut tree = Self::of(source.threads(&filter, usize::MAX).await?);
        for (parent, siblings) in tree.children.iter_mut().filter(|(_, siblings)| siblings.len() > 1) {
            let order = source.starting_order(*parent).await?;
            siblings.sort_by_key(|row| order.get(&row.id).copied());
        }
        Ok(tree)
    }

    /// The tree that these rows make, siblings in the order of the rows.
    pub(crate) fn of(rows: Vec<ThreadRow>) -> Self {
        let mut children: BTreeMap<ThreadId, Vec<ThreadRow>> = BTreeMap::new();
        for row in rows {
            if let Some(parent) = row.parent {
                children.entry(parent).or_default().push(row);
            }
        }
        Self { children }
    }

    /// Everything below a thread.
    pub(crate) fn below(&self, thread: ThreadId) -> Vec<&ThreadRow> {
        self.children(thread).flat_map(|child| [vec![child], self.below(child.id)].concat()).collect()
    }

    pub(crate) fn children(&self, parent: ThreadId) -> impl Iterator<Item = &ThreadRow> {
        self.children.get(&parent).into_iter().flatten()
    }

    /// The name that a parent gave to this child; the runtime keeps it as a tag.
    pub(crate) fn given_name(row: &ThreadRow) -> Option<&str> {
        row.tags.iter().find_map(|tag| tag.strip_prefix("name:"))
    }
}
