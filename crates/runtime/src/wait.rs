//! Waiting for threads and runs, without asking again and again.

use crate::hub::Notice;
use crate::runtime::{Inner, Runtime, RuntimeError};
use entourage_model::{RunId, ThreadId, ThreadStatus};
use entourage_store::{Page, RunRow, StoreError, ThreadFilter, ThreadRow};
use std::time::Duration;

/// How long a request to end something waits for it to have ended.
const ENDING: Duration = Duration::from_secs(5);
/// Notices are hints; another process may do the work. So the store is read again now and then.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Runtime {
    /// The thread once it is neither at work nor waits for a child, or as it is when the time is over.
    pub async fn wait(&self, thread: ThreadId, time_max: Duration) -> Result<ThreadRow, RuntimeError> {
        let first = self.row(thread).await?;
        let settled = self.until(first.root, time_max, async || {
            let row = self.row(thread).await?;
            Ok(is_settled(row.status).then_some(row))
        });
        match settled.await? {
            Some(row) => Ok(row),
            None => self.row(thread).await,
        }
    }

    /// Waits until nothing below and including this root is at work.
    pub async fn wait_for_tree(&self, root: ThreadId, time_max: Duration) -> Result<bool, RuntimeError> {
        let quiet = self.until(root, time_max, async || {
            for status in [ThreadStatus::Running, ThreadStatus::Ready, ThreadStatus::Waiting] {
                let filter = ThreadFilter { root: Some(root), status: Some(status), ..ThreadFilter::default() };
                if !self.inner.store.threads(&filter, Page { after: None, limit: 1 }).await?.is_empty() {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        });
        Ok(quiet.await?.is_some())
    }

    /// The run once it has ended.
    pub async fn wait_for_run(&self, run: &RunId, time_max: Duration) -> Result<RunRow, RuntimeError> {
        let row = self.run_row(run).await?;
        let root = self.row(row.thread).await?.root;
        let ended = self.until(root, time_max, async || {
            let row = self.run_row(run).await?;
            Ok(row.status.is_terminal().then_some(row))
        });
        match ended.await? {
            Some(row) => Ok(row),
            None => self.run_row(run).await,
        }
    }

    pub(crate) async fn until_terminated(&self, thread: ThreadId) -> Result<(), RuntimeError> {
        let root = self.row(thread).await?.root;
        let gone = self.until(root, ENDING, async || {
            Ok((self.row(thread).await?.status == ThreadStatus::Terminated).then_some(()))
        });
        gone.await.map(drop)
    }

    pub(crate) async fn until_ended(&self, run: &RunId, thread: ThreadId) -> Result<(), RuntimeError> {
        let root = self.row(thread).await?.root;
        let ended = self.until(root, ENDING, async || Ok(self.run_row(run).await?.status.is_terminal().then_some(())));
        ended.await.map(drop)
    }

    async fn row(&self, thread: ThreadId) -> Result<ThreadRow, RuntimeError> {
        self.inner.store.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))
    }

    async fn run_row(&self, run: &RunId) -> Result<RunRow, RuntimeError> {
        self.inner.store.run(run).await?.ok_or_else(|| RuntimeError::NoRun(run.to_string()))
    }

    /// Looks at the store whenever something happened in the tree, until `probe` has found what it looks for.
    async fn until<T>(
        &self,
        root: ThreadId,
        time_max: Duration,
        probe: impl AsyncFn() -> Result<Option<T>, RuntimeError>,
    ) -> Result<Option<T>, RuntimeError> {
        let mut watcher = self.watch(root);
        let mut trouble = self.inner.troubles();
        let over = tokio::time::sleep(time_max);
        tokio::pin!(over);
        loop {
            if let Some(found) = probe().await? {
                return Ok(Some(found));
            }
            let stirred = async {
                while !matches!(watcher.next().await, Notice::Status { .. } | Notice::Lagged) {}
            };
            tokio::select! {
                () = stirred => {}
                Ok(()) = trouble.changed() => {
                    let text = trouble.borrow_and_update().clone();
                    return Err(StoreError::Unavailable(text).into());
                }
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = &mut over => return Ok(None),
            }
        }
    }
}

/// Neither at work nor waiting for a child.
fn is_settled(status: ThreadStatus) -> bool {
    match status {
        ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting => false,
        ThreadStatus::Idle | ThreadStatus::Done | ThreadStatus::Failed | ThreadStatus::Terminated => true,
    }
}

impl Inner {
    /// Tells whoever watches that a thread's row has changed.
    pub(crate) fn announce(&self, root: ThreadId, thread: ThreadId, status: ThreadStatus) {
        self.hub.tell(root, Notice::Status { thread, status });
    }
}
