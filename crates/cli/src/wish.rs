//! Something asked of a thread from outside: durable before anybody works on it, and before a runtime is started.

use crate::errand::Errand;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::workbench::silent_models;
use entourage_model::{Item, ThreadId};
use entourage_runtime::RuntimeError;
use entourage_store::{EnqueueError, NewLine};
use std::time::Duration;

/// How long an ending may take before it is told as it is. Nobody is asked meanwhile, so that it takes no time.
pub(crate) const ENDING: Duration = Duration::from_secs(10);

/// Puts an item into a thread's queue and starts nothing: a runtime would ask a model at once. Asking a terminated
/// thread to end is granted already.
pub(crate) async fn queue(
    invocation: &Invocation,
    storage: &Storage,
    thread: ThreadId,
    item: Item,
) -> Result<(), Failure> {
    let messages_max = invocation.settings.limits.queue_messages;
    let is_ending = !item.is_message();
    let line = NewLine { item, key: None, run: None, messages_max };
    match storage.store.enqueue(thread, line, None).await {
        Err(EnqueueError::Terminated) if is_ending => Ok(()),
        queued => queued.map(drop).map_err(|error| refused(error, thread, storage)),
    }
}

/// Takes up the tree of `root`, so that what was queued is heard. No model is asked by it.
pub(crate) async fn grant<'a>(
    invocation: &'a Invocation,
    storage: Storage,
    root: ThreadId,
) -> Result<Errand<'a>, Failure> {
    let errand = Errand::open(invocation, storage, silent_models()).await?;
    errand.bench.runtime.resume(Some(root));
    Ok(errand)
}

fn refused(error: EnqueueError, thread: ThreadId, storage: &Storage) -> Failure {
    let error = match error {
        EnqueueError::NoThread => RuntimeError::NoThread(thread),
        EnqueueError::Terminated => RuntimeError::Terminated,
        EnqueueError::QueueFull => RuntimeError::QueueFull,
        EnqueueError::Conflict => RuntimeError::KeyConflict,
        EnqueueError::Store(error) => RuntimeError::Store(error),
    };
    Failure::of_runtime(&error, &storage.place)
}
