//! Polling as the truth: heartbeats, sweeping, and taking up what is ready.

use crate::runtime::Inner;
use entourage_model::ThreadId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const BEAT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_secs(1);
/// How many threads are taken up at once.
const BATCH: usize = 256;

/// Says that this node lives, and gives back what dead nodes held, until the runtime ends.
pub(crate) async fn beat(inner: Arc<Inner>) {
    while inner.rest(BEAT).await.is_ok() {
        if let Err(error) = inner.store.heartbeat(inner.node).await {
            tracing::error!(%error, "no heartbeat");
            inner.trouble(&error);
        }
        match inner.store.sweep().await {
            Ok(0) => {}
            Ok(swept) => tracing::info!(swept, "threads of dead nodes are ready again"),
            Err(error) => tracing::error!(%error, "no sweep"),
        }
    }
}

/// Takes up ready threads, of one tree or of all, until the runtime ends.
pub(crate) async fn poll(inner: Arc<Inner>, root: Option<ThreadId>) {
    loop {
        let more = take_ready(&inner, root).await;
        let wait = async {
            tokio::select! {
                () = inner.room.notified() => {}
                () = tokio::time::sleep(POLL) => {}
            }
        };
        if more {
            continue;
        }
        tokio::select! {
            () = inner.stopping.cancelled() => return,
            () = wait => {}
        }
    }
}

/// Returns whether there may be more.
async fn take_ready(inner: &Arc<Inner>, root: Option<ThreadId>) -> bool {
    let free = inner.slots.saturating_sub(inner.roster.len());
    if free == 0 || inner.stopping.is_cancelled() {
        return false;
    }
    inner.overflow.store(false, Ordering::Release);
    let batch = free.min(BATCH);
    let _expected = inner.roster.expect();
    match inner.store.claim(inner.node, batch, root).await {
        Ok(claims) => {
            let full = claims.len() == batch;
            inner.take_up(claims, &[]);
            full
        }
        Err(error) => {
            tracing::error!(%error, "nothing could be taken up");
            false
        }
    }
}
