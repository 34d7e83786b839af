//! What can be seen of a store, without the times: two clocks need not agree.

use crate::row::{Claim, Committed, DeadLetter, Enqueued, Page, RunFilter, RunRow, ThreadFilter, ThreadRow};
use crate::store::{CommitError, EnqueueError, Store, StoreError};
use entourage_model::{Event, ThreadId, Timestamp};
use std::fmt::Debug;

/// One line per thing, so that a difference can be read.
pub(super) async fn everything(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut seen = Vec::new();
    for row in store.threads(&ThreadFilter::default(), page()).await? {
        let (id, root) = (row.id, row.root);
        seen.push(format!("{:?}", thread(row)));
        seen.extend(store.lines(id, 0).await?.iter().map(|line| format!("  line {line:?}")));
        let journal = store.journal(id, 0, usize::MAX).await?;
        seen.extend(journal.iter().map(|event| format!("  event {} {} {:?}", event.seq, event.epoch, event.event)));
        seen.extend(store.files(id).await?.iter().map(|file| format!("  file {file:?}")));
        if id == root {
            seen.push(format!("  tree {:?}", tree(store, id).await?));
        }
    }
    let runs = store.runs(&RunFilter::default(), page()).await?;
    let mut runs: Vec<String> = runs.into_iter().map(|row| format!("{:?}", run(row))).collect();
    runs.sort_unstable();
    seen.extend(runs);
    let letters = store.dead_letters(None).await?;
    seen.extend(letters.into_iter().map(|letter| format!("{:?}", DeadLetter { at: Timestamp(0), ..letter })));
    Ok(seen)
}

async fn tree(store: &dyn Store, root: ThreadId) -> Result<Vec<(ThreadId, u64)>, StoreError> {
    let events = store.tree_journal(root, 0, usize::MAX).await?;
    Ok(events.into_iter().map(|event| (event.thread, event.seq)).collect())
}

fn page<T>() -> Page<T> {
    Page { after: None, limit: usize::MAX }
}

fn thread(row: ThreadRow) -> ThreadRow {
    ThreadRow {
        created_at: Timestamp(0),
        terminated_at: row.terminated_at.map(|_| Timestamp(0)),
        wake_at: row.wake_at.map(|_| Timestamp(0)),
        ..row
    }
}

pub(super) fn run(row: RunRow) -> RunRow {
    let hide = |at: Option<Timestamp>| at.map(|_| Timestamp(0));
    RunRow {
        created_at: Timestamp(0),
        started_at: hide(row.started_at),
        ended_at: hide(row.ended_at),
        delivered_at: hide(row.delivered_at),
        ..row
    }
}

pub(super) fn claims(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.sort_unstable_by_key(|claim| claim.lease.thread);
    claims
}

pub(super) fn committed(answer: Result<Committed, CommitError>) -> Result<Committed, String> {
    let done = answer.map_err(|refusal| word(&refusal))?;
    Ok(Committed { position: u64::from(done.position > 0), claims: claims(done.claims), ..done })
}

pub(super) fn enqueued(answer: Result<Enqueued, EnqueueError>) -> Result<Enqueued, String> {
    answer.map_err(|refusal| word(&refusal))
}

/// What was refused; the words of an unavailable store are its own.
pub(super) fn word(refusal: &impl Debug) -> String {
    format!("{refusal:?}").split('"').next().unwrap_or_default().to_owned()
}

pub(super) fn event(number: u64) -> Event {
    super::super::world::event(&number.to_string())
}
