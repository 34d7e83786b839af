//! Something asked of a thread from outside: durable before anybody works on it, and before a runtime is started.

use crate::errand::Errand;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::live::Show;
use crate::storage::Storage;
use crate::workbench::silent_models;
use entourage_model::{Item, ThreadId};
use entourage_runtime::{Runtime, RuntimeError};
use entourage_store::{EnqueueError, NewLine, ThreadRow};
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
        Err(error) => Err(Failure::of_runtime(&RuntimeError::from_enqueue(error, thread), &storage.place)),
        Ok(_) => Ok(()),
    }
}

/// Asks a thread for something that ends work, and waits `until` it has come to pass.
pub(crate) async fn grant<T>(
    invocation: &Invocation,
    storage: Storage,
    thread: &ThreadRow,
    item: Item,
    until: impl AsyncFnOnce(&Runtime) -> Result<T, RuntimeError>,
) -> Result<T, Failure> {
    queue(invocation, &storage, thread.id, item).await?;
    let mut errand = take_up(invocation, storage, thread.root).await?;
    let runtime = errand.bench.runtime.clone();
    let live = errand.live(thread.root, Show::Nothing);
    let granted = errand.wait(live, until(&runtime)).await?;
    errand.bench.close().await;
    Ok(granted)
}

/// Takes up the tree of `root`, so that what was queued is heard. No model is asked by it.
async fn take_up<'a>(invocation: &'a Invocation, storage: Storage, root: ThreadId) -> Result<Errand<'a>, Failure> {
    let errand = Errand::open(invocation, storage, silent_models()).await?;
    errand.bench.runtime.resume(Some(root));
    Ok(errand)
}
