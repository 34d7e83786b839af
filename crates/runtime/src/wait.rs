//! Waiting for threads and runs, without asking again and again.

use crate::runtime::{Runtime, RuntimeError};
use entourage_engine::Child;
use entourage_model::{RunId, ThreadId, ThreadStatus};
use entourage_store::{Page, RunRow, StoreError, ThreadFilter, ThreadRow};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::Instant;

/// How long a request to end something waits for it to have ended.
const ENDING: Duration = Duration::from_secs(5);
/// Notices are hints; another process may do the work. So the store is read again now and then.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How long a store on another machine may be away, while it is restarted say, before those who wait are told.
const AWAY: Duration = Duration::from_secs(30);

/// Threads that are looked at at once.
const PAGE: usize = 1000;

/// How long a change in a busy tree may go unnoticed.
const PAUSE: Duration = Duration::from_millis(5);

/// What somebody waits for.
enum Goal<'a> {
    /// The thread is neither at work nor waits for a child.
    Settled(ThreadId),
    /// The same, whatever it may be told yet.
    Rests(ThreadId),
    Terminated(ThreadId),
    /// Nothing of the tree is at work.
    Quiet(ThreadId),
    Ended(&'a RunId, ThreadId),
}

impl Goal<'_> {
    /// The one thread that it is about; without one any thread of the tree can be the last.
    fn thread(&self) -> Option<ThreadId> {
        match self {
            Goal::Settled(thread) | Goal::Rests(thread) | Goal::Terminated(thread) | Goal::Ended(_, thread) => {
                Some(*thread)
            }
            Goal::Quiet(_) => None,
        }
    }
}

impl Runtime {
    /// The thread once it is neither at work nor waits for a child, or as it is when the time is over.
    pub async fn wait(&self, thread: ThreadId, time_max: Duration) -> Result<ThreadRow, RuntimeError> {
        let (root, end) = (self.row(thread).await?.root, Instant::now() + time_max);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let is_reached = self.until(root, left, Goal::Settled(thread)).await?;
            let row = self.row(thread).await?;
            // Between the two looks somebody may have written to it.
            if !is_reached || row.status.is_settled() {
                return Ok(row);
            }
        }
    }

    /// Waits until nothing below and including this root is at work; false when the time is over first.
    pub async fn wait_for_tree(&self, root: ThreadId, time_max: Duration) -> Result<bool, RuntimeError> {
        self.until(root, time_max, Goal::Quiet(root)).await
    }

    /// The run once it has ended, or as it is when the time is over.
    pub async fn wait_for_run(&self, run: &RunId, time_max: Duration) -> Result<RunRow, RuntimeError> {
        let row = self.run_row(run).await?;
        let root = self.row(row.thread).await?.root;
        self.until(root, time_max, Goal::Ended(run, row.thread)).await?;
        self.run_row(run).await
    }

    /// Waits until the thread is terminated; false when the time is over first.
    pub async fn wait_for_end(&self, thread: ThreadId, time_max: Duration) -> Result<bool, RuntimeError> {
        let root = self.row(thread).await?.root;
        self.until(root, time_max, Goal::Terminated(thread)).await
    }

    pub(crate) async fn until_terminated(&self, thread: ThreadId) -> Result<(), RuntimeError> {
        self.wait_for_end(thread, ENDING).await.map(drop)
    }

    /// Waits until nobody below the thread is at work: whoever has not read yet that it is over may still be.
    pub(crate) async fn until_all_rest(&self, top: ThreadId) -> Result<(), RuntimeError> {
        let (root, end) = (self.row(top).await?.root, Instant::now() + ENDING);
        let mut open = vec![top];
        while let Some(thread) = open.pop() {
            self.until(root, end.saturating_duration_since(Instant::now()), Goal::Rests(thread)).await?;
            let below = ThreadFilter { parent: Some(thread), ..ThreadFilter::default() };
            let below = self.inner.store.threads(&below, Page { after: None, limit: usize::MAX }).await?;
            open.extend(below.into_iter().map(|row| row.id));
        }
        Ok(())
    }

    pub(crate) async fn until_ended(&self, run: &RunId, thread: ThreadId) -> Result<(), RuntimeError> {
        let root = self.row(thread).await?.root;
        self.until(root, ENDING, Goal::Ended(run, thread)).await.map(drop)
    }

    async fn row(&self, thread: ThreadId) -> Result<ThreadRow, RuntimeError> {
        self.inner.store.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))
    }

    async fn run_row(&self, run: &RunId) -> Result<RunRow, RuntimeError> {
        self.inner.store.run(run).await?.ok_or_else(|| RuntimeError::NoRun(run.to_string()))
    }

    /// Whether children that it has cancelled are about to tell that they have ended, and will wake it for a moment.
    async fn awaits_endings(&self, thread: ThreadId) -> Result<bool, RuntimeError> {
        let state = self.state(thread).await?;
        let is_ending = |child: &Child| child.muted && !child.runs.is_empty();
        Ok(state.is_some_and(|state| state.children.values().any(is_ending)))
    }

    async fn is_reached(&self, goal: &Goal<'_>) -> Result<bool, RuntimeError> {
        match goal {
            Goal::Settled(thread) => {
                Ok(self.row(*thread).await?.status.is_settled() && !self.awaits_endings(*thread).await?)
            }
            Goal::Rests(thread) => Ok(self.row(*thread).await?.status.is_settled()),
            Goal::Terminated(thread) => Ok(self.row(*thread).await?.status == ThreadStatus::Terminated),
            Goal::Ended(run, _) => Ok(self.run_row(run).await?.status.is_terminal()),
            Goal::Quiet(root) => {
                let filter = ThreadFilter { root: Some(*root), unsettled: true, ..ThreadFilter::default() };
                Ok(self.inner.store.threads(&filter, Page { after: None, limit: 1 }).await?.is_empty())
            }
        }
    }

    /// An error if the goal will never be reached: a thread that it is about cannot be read, or nobody but such threads
    /// is left to work on it.
    async fn insist_on_hope(&self, root: ThreadId, goal: &Goal<'_>) -> Result<(), RuntimeError> {
        let damaged = self.inner.roster.damaged(root);
        let own = goal.thread().and_then(|thread| damaged.get(&thread));
        let Some(error) = own.or_else(|| damaged.values().next()) else { return Ok(()) };
        let filter = ThreadFilter { root: Some(root), unsettled: true, ..ThreadFilter::default() };
        let is_at_work = |row: &ThreadRow| row.status != ThreadStatus::Waiting && !damaged.contains_key(&row.id);
        let mut after = None;
        while own.is_none() {
            let page = self.inner.store.threads(&filter, Page { after, limit: PAGE }).await?;
            if page.iter().any(is_at_work) {
                return Ok(());
            }
            after = page.last().filter(|_| page.len() == PAGE).map(|row| row.id);
            if after.is_none() {
                break;
            }
        }
        Err(error.clone().into())
    }

    /// Looks at the store whenever a row of the tree has changed, until the goal is reached or the time is over.
    async fn until(&self, root: ThreadId, time_max: Duration, goal: Goal<'_>) -> Result<bool, RuntimeError> {
        let mut statuses = self.inner.hub.statuses(root);
        let mut trouble = self.inner.troubles();
        let (is_shared, mut away_since) = (self.inner.store.is_shared(), None);
        let over = tokio::time::sleep(time_max);
        tokio::pin!(over);
        loop {
            match self.is_reached(&goal).await {
                Ok(true) => return Ok(true),
                Ok(false) => {
                    away_since = None;
                    self.insist_on_hope(root, &goal).await?;
                }
                Err(RuntimeError::Store(StoreError::Unavailable(fault)))
                    if is_shared && away_since.get_or_insert_with(Instant::now).elapsed() < AWAY =>
                {
                    tracing::warn!(%fault, "the store is asked again");
                }
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = stirred(&mut statuses, goal.thread()) => {}
                Ok(()) = trouble.changed() => {
                    let told = trouble.borrow_and_update().clone();
                    // A store on another machine may be back in a moment; what it has lost is lost.
                    if let Some(error) = told.filter(|error| !is_shared || error.is_damage()) {
                        return Err(error.into());
                    }
                }
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = &mut over => return Ok(false),
            }
        }
    }
}

/// Waits until a row of the thread, or any row of the tree, has changed. A tree that is busy is not asked at every
/// change.
async fn stirred(statuses: &mut broadcast::Receiver<ThreadId>, thread: Option<ThreadId>) {
    loop {
        match (statuses.recv().await, thread) {
            (Ok(changed), Some(thread)) if changed != thread => {}
            (Err(broadcast::error::RecvError::Closed), _) => std::future::pending().await,
            (Ok(_) | Err(broadcast::error::RecvError::Lagged(_)), Some(_)) => return,
            (Ok(_) | Err(broadcast::error::RecvError::Lagged(_)), None) => {
                tokio::time::sleep(PAUSE).await;
                return;
            }
        }
    }
}
