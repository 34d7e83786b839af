//! `entourage stop ID`: ends the current turn of a thread; children in the background go on.

use crate::errand::Errand;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::live::Show;
use crate::source::{Holder, Source as _};
use crate::storage::Storage;
use crate::workbench::silent_models;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::{Item, ThreadId};
use entourage_runtime::{Notice, Runtime, RuntimeError};
use entourage_serve::shape::Thread;
use entourage_store::ThreadRow;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage stop 7f3a     `entourage send` begins the next turn")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let row = identifier::thread(holder.source(), &arguments.thread).await?;
    let row = match holder {
        Holder::Store(storage) => stop(invocation, storage, row).await?,
        Holder::Server(server) => {
            server.stop(row.id).await?;
            server.settled(row.id, wish::ENDING).await?
        }
    };
    if invocation.is_json() {
        invocation.screen.json(&Thread::from(&row));
    } else {
        invocation.screen.note(&format!("thread `{}` is {}", row.id, row.status.word()));
    }
    Ok(())
}

/// Ends the thread's session, if it is in one. A message that is still queued stays where it is, for whoever resumes: it
/// begins another session, which nobody asked to stop.
async fn stop(invocation: &Invocation, storage: Storage, row: ThreadRow) -> Result<ThreadRow, Failure> {
    let mut errand = Errand::open(invocation, storage, silent_models()).await?;
    let runtime = errand.bench.runtime.clone();
    let state = runtime.state(row.id).await.map_err(|error| errand.bench.refused(&error))?;
    if let Some(state) = state.filter(|state| state.session.is_some()) {
        wish::queue(invocation, errand.bench.storage(), row.id, Item::Stop).await?;
        runtime.resume(Some(row.root));
        let live = errand.live(row.root, Show::Nothing);
        errand.wait(live, until_stopped(&runtime, &row, state.sessions)).await?;
    }
    // What was woken meanwhile is told as it is left.
    runtime.shutdown().await;
    let left = errand.bench.storage().thread(row.id).await?;
    errand.bench.storage().close().await;
    Ok(left.unwrap_or(row))
}

/// Waits until the thread rests, or has begun another session than its `sessions`th.
async fn until_stopped(runtime: &Runtime, row: &ThreadRow, sessions: u64) -> Result<(), RuntimeError> {
    tokio::select! {
        settled = runtime.wait(row.id, wish::ENDING) => settled.map(drop),
        begun = until_begun(runtime, (row.root, row.id), sessions) => begun,
    }
}

async fn until_begun(
    runtime: &Runtime,
    (root, thread): (ThreadId, ThreadId),
    sessions: u64,
) -> Result<(), RuntimeError> {
    let mut watcher = runtime.watch(root);
    while runtime.state(thread).await?.is_some_and(|state| state.sessions <= sessions) {
        while !matches!(watcher.next().await, Notice::Committed { .. } | Notice::Lagged) {}
    }
    Ok(())
}
