//! Reading to its end what a store gives in pages.

use crate::row::{Page, RunFilter, RunRow, StoredEvent, ThreadFilter, ThreadRow};
use crate::store::{Store, StoreError};
use entourage_model::ThreadId;

/// How many rows are read at once.
const PAGE: usize = 1000;

/// The events of a thread or of a tree, in order, read as they are asked for.
///
/// It ends where a page was not full. What is appended later is for another reader.
#[derive(Debug)]
pub struct JournalReader<'s> {
    store: &'s dyn Store,
    journal: Journal,
    /// The number of the last event of the page: the next page lies behind it.
    after: u64,
    page: std::vec::IntoIter<StoredEvent>,
    is_last_page: bool,
}

#[derive(Clone, Copy, Debug)]
enum Journal {
    Thread(ThreadId),
    Tree(ThreadId),
}

impl<'s> JournalReader<'s> {
    /// Everything that a thread's journal holds.
    pub fn of_thread(store: &'s dyn Store, thread: ThreadId) -> Self {
        Self::behind(store, thread, 0)
    }

    /// What a thread's journal holds behind the event of this number.
    pub fn behind(store: &'s dyn Store, thread: ThreadId, after: u64) -> Self {
        Self::new(store, Journal::Thread(thread), after)
    }

    /// What the journals of a tree hold behind this position.
    pub fn of_tree(store: &'s dyn Store, root: ThreadId, after: u64) -> Self {
        Self::new(store, Journal::Tree(root), after)
    }

    fn new(store: &'s dyn Store, journal: Journal, after: u64) -> Self {
        Self { store, journal, after, page: Vec::new().into_iter(), is_last_page: false }
    }

    /// The next event; at the end there is none.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, StoreError> {
        if self.page.len() == 0 && !self.is_last_page {
            self.turn().await?;
        }
        Ok(self.page.next())
    }

    async fn turn(&mut self) -> Result<(), StoreError> {
        let page = match self.journal {
            Journal::Thread(thread) => self.store.journal(thread, self.after, PAGE).await?,
            Journal::Tree(root) => self.store.tree_journal(root, self.after, PAGE).await?,
        };
        self.is_last_page = page.len() < PAGE;
        if let Some(last) = page.last() {
            self.after = match self.journal {
                Journal::Thread(_) => last.seq,
                Journal::Tree(_) => last.position,
            };
        }
        self.page = page.into_iter();
        Ok(())
    }
}

/// Every thread that the filter lets through, newest first.
pub async fn all_threads(store: &dyn Store, filter: &ThreadFilter) -> Result<Vec<ThreadRow>, StoreError> {
    to_the_end(PAGE, async |last: Option<&ThreadRow>, limit| {
        store.threads(filter, Page { after: last.map(|row| row.id), limit }).await
    })
    .await
}

/// Every run that the filter lets through, newest first.
pub async fn all_runs(store: &dyn Store, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
    to_the_end(PAGE, async |last: Option<&RunRow>, limit| {
        store.runs(filter, Page { after: last.map(|row| row.id.clone()), limit }).await
    })
    .await
}

/// `ask` gives at most so many rows behind the last one that is known.
async fn to_the_end<T>(
    limit: usize,
    ask: impl AsyncFn(Option<&T>, usize) -> Result<Vec<T>, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut rows = Vec::new();
    loop {
        let page = ask(rows.last(), limit).await?;
        let is_last = page.len() < limit;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listing_is_read_until_a_page_is_not_full() {
        for length in 0..=7 {
            let ask = async |last: Option<&u32>, limit| {
                Ok((0..length).skip_while(|row| Some(row) <= last).take(limit).collect())
            };
            assert_eq!(to_the_end(3, ask).await.expect("it can be read"), (0..length).collect::<Vec<_>>());
        }
    }
}
