//! Polling as the truth: taking up what is ready, and finding out what other processes did. Hints make it quick.

use crate::hub::Notice;
use crate::runtime::Inner;
use entourage_model::{ThreadId, Timestamp};
use entourage_store::{Hint, StoreError};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

const POLL: Duration = Duration::from_secs(1);
/// How long a line that another process queued may go unnoticed when every hint is lost.
const LISTEN: Duration = Duration::from_millis(500);
/// The same for a tree that is watched here.
const WATCH: Duration = Duration::from_secs(1);
/// For so many looks after one that found more, those who watch a tree are told to read again: what becomes durable late
/// may lie before what was found.
const LATE: u32 = 2;
/// Within this time the end of a wait is looked for on its own.
const SOON: Duration = Duration::from_secs(5);
/// How far the store's clock may be behind ours.
const CLOCKS: Duration = Duration::from_millis(5);
/// How many threads are taken up at once.
const BATCH: usize = 256;

/// Takes up ready threads, of one tree or of all, until the runtime ends.
pub(crate) async fn poll(inner: Arc<Inner>, root: Option<ThreadId>) {
    loop {
        let more = take_ready(&inner, root).await;
        if more {
            continue;
        }
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = inner.room.notified() => {}
            () = tokio::time::sleep(jittered(POLL)) => {}
        }
    }
}

/// Has what is ready taken up when the time of a thread that parks is over, if that is soon: by itself polling would come
/// late for a short wait.
pub(crate) fn look_at(inner: &Arc<Inner>, at: Option<Timestamp>) {
    let Some(wait) = at.map(|at| at.since(inner.store.now())).filter(|wait| *wait <= SOON) else { return };
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        tokio::select! {
            () = inner.stopping.cancelled() => {}
            () = tokio::time::sleep(wait + CLOCKS) => inner.room.notify_one(),
        }
    });
}

/// Returns whether there may be more.
async fn take_ready(inner: &Arc<Inner>, root: Option<ThreadId>) -> bool {
    let free = inner.slots.saturating_sub(inner.roster.len());
    if free == 0 || inner.stopping.is_cancelled() || !inner.node.is_member() {
        return false;
    }
    inner.overflow.store(false, Ordering::Release);
    let batch = free.min(BATCH);
    let _expected = inner.roster.expect();
    match inner.store.claim(inner.node.id(), batch, root).await {
        Ok(claims) => {
            let full = claims.len() == batch;
            inner.take_up(claims, &[]);
            full
        }
        Err(error) => {
            tracing::error!(%error, "nothing could be taken up");
            if matches!(error, StoreError::NodeDead) {
                inner.node.doubt();
            }
            if error.is_damage() {
                inner.trouble(&error);
            }
            false
        }
    }
}

/// Heeds what other processes say that they did, until the runtime has ended.
pub(crate) async fn heed(inner: Arc<Inner>) {
    let Some(mut hints) = inner.store.hints() else { return };
    loop {
        let hint = tokio::select! {
            () = inner.ended.cancelled() => return,
            hint = hints.recv() => hint,
        };
        match hint {
            Ok(Hint::Ready) => inner.room.notify_one(),
            Ok(Hint::Queued(thread)) => inner.roster.ring(thread),
            Ok(Hint::Changed { root, thread }) => inner.hub.stir(root, thread),
            Ok(Hint::All) | Err(RecvError::Lagged(_)) => {
                inner.roster.ring_all();
                inner.hub.stir_all();
                inner.room.notify_one();
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Looks for lines that other processes queued for threads at work here, until the runtime has ended.
pub(crate) async fn listen(inner: Arc<Inner>) {
    while inner.store.is_shared() {
        tokio::select! {
            () = inner.ended.cancelled() => return,
            () = tokio::time::sleep(jittered(LISTEN)) => {}
        }
        match inner.store.waiting(inner.node.id()).await {
            Ok(waiting) => waiting.into_iter().for_each(|(thread, number)| inner.roster.ring_for(thread, number)),
            Err(error) => tracing::debug!(%error, "the queues of the threads at work cannot be looked at"),
        }
    }
}

/// Looks for what other processes did in the trees that are watched here, until the runtime has ended: one question for
/// all of them, however many watch.
pub(crate) async fn watch(inner: Arc<Inner>) {
    let mut known: HashMap<ThreadId, Head> = HashMap::new();
    while inner.store.is_shared() {
        tokio::select! {
            () = inner.ended.cancelled() => return,
            () = tokio::time::sleep(jittered(WATCH)) => {}
        }
        let roots = inner.hub.watched();
        if roots.is_empty() {
            known.clear();
            continue;
        }
        let positions: HashMap<ThreadId, u64> = match inner.store.heads(&roots).await {
            Ok(heads) => heads.into_iter().collect(),
            Err(error) => {
                tracing::debug!(%error, "the trees that are watched cannot be looked at");
                continue;
            }
        };
        let look = |root| (root, Head::next(known.get(&root), positions.get(&root).copied()));
        known = roots.into_iter().map(look).collect();
        for (root, _) in known.iter().filter(|(_, head)| head.same <= LATE) {
            inner.hub.tell(*root, Notice::Lagged);
        }
    }
}

/// How far a tree had grown at the last look; one that is gone has no position.
#[derive(Debug, PartialEq)]
struct Head {
    position: Option<u64>,
    /// For so many looks in a row.
    same: u32,
}

impl Head {
    fn next(before: Option<&Self>, position: Option<u64>) -> Self {
        let same =
            before.filter(|before| before.position == position).map_or(0, |before| before.same.saturating_add(1));
        Self { position, same }
    }
}

/// About that long: nodes that began together must not ask together for ever.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(0.75 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_rests_is_told_of_a_little_longer_and_then_no_more() {
        let mut head = None;
        let mut told = |position| {
            let next = Head::next(head.as_ref(), position);
            head.insert(next).same <= LATE
        };
        let looks = [None, Some(7), Some(7), Some(7), Some(7), Some(7), Some(8), Some(8), None];
        assert_eq!(looks.map(&mut told), [true, true, true, true, false, false, true, true, true]);
    }
}
