//! `entourage terminate ID`: ends a thread and everything below it, for good.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::remote_server::RemoteServer;
use crate::source::{Holder, Source as _};
use crate::tree::Tree;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::{Item, ThreadStatus};
use entourage_runtime::{Notice, Runtime, RuntimeError};
use entourage_serve::shape::Thread;
use entourage_store::{ThreadFilter, ThreadRow, all_threads};
use std::time::Duration;

const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  entourage terminate 7f3a     it takes no message any more; what it said stays readable"
)]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let row = identifier::thread(holder.source(), &arguments.thread).await?;
    let ended = match holder {
        Holder::Store(storage) => {
            let terminated = async |runtime: &Runtime| until_terminated(runtime, &row).await;
            wish::grant(invocation, storage, &row, Item::Terminate, terminated).await?
        }
        Holder::Server(server) => {
            server.terminate(row.id).await?;
            until_server_terminated(&server, &row).await?
        }
    };
    if invocation.is_json() {
        invocation.screen.json(&Thread::from(&ended[0]));
    } else {
        let below = ended.len() - 1;
        invocation.screen.note(&format!("thread `{}` is terminated, with {below} below it", row.id));
    }
    Ok(())
}

/// The thread and everything below it, once all of it is terminated.
async fn until_terminated(runtime: &Runtime, row: &ThreadRow) -> Result<Vec<ThreadRow>, RuntimeError> {
    let mut watcher = runtime.watch(row.root);
    loop {
        let mut rows = all_threads(&**runtime.store(), &tree_of(row)).await?;
        runtime.name_artifacts(&mut rows).await?;
        if let Some(ended) = terminated(rows, row) {
            return Ok(ended);
        }
        let stirred = async { while !matches!(watcher.next().await, Notice::Status { .. } | Notice::Lagged) {} };
        // Time running out means the same as a notice: look again.
        _ = tokio::time::timeout(LOOK_AGAIN, stirred).await;
    }
}

/// The same, asked of a server, which tells nobody when a tree has ended.
async fn until_server_terminated(server: &RemoteServer, row: &ThreadRow) -> Result<Vec<ThreadRow>, Failure> {
    loop {
        let rows = server.threads(&tree_of(row), usize::MAX).await?;
        if let Some(ended) = terminated(rows, row) {
            return Ok(ended);
        }
        tokio::time::sleep(LOOK_AGAIN / 10).await;
    }
}

fn tree_of(row: &ThreadRow) -> ThreadFilter {
    ThreadFilter { root: Some(row.root), ..ThreadFilter::default() }
}

/// The thread and what is below it, if nothing of that is left. One that was deleted meanwhile is as it was last seen.
fn terminated(rows: Vec<ThreadRow>, last: &ThreadRow) -> Option<Vec<ThreadRow>> {
    let thread = last.id;
    let Some(own) = rows.iter().find(|row| row.id == thread).cloned() else { return Some(vec![last.clone()]) };
    let tree = Tree::of(rows);
    let ended: Vec<_> = [own].into_iter().chain(tree.below(thread).into_iter().cloned()).collect();
    // Whoever is told to end is woken with the thread's own ending. What had ended by then stays as it was.
    let is_over = |row: &ThreadRow| match row.status {
        ThreadStatus::Terminated => true,
        ThreadStatus::Done | ThreadStatus::Failed => row.id != thread,
        ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting | ThreadStatus::Idle => false,
    };
    ended.iter().all(is_over).then_some(ended)
}
