//! `entourage terminate ID`: ends a thread and everything below it, for good.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::tree::Tree;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::{Item, ThreadId, ThreadStatus};
use entourage_runtime::{Notice, Runtime, RuntimeError};
use entourage_serve::shape::Thread;
use entourage_store::ThreadRow;
use std::time::Duration;

const LOOK_AGAIN: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let row = identifier::thread(&storage, &arguments.thread).await?;
    let terminated = async |runtime: &Runtime| until_terminated(runtime, &row).await;
    let ended = wish::grant(invocation, storage, &row, Item::Terminate, terminated).await?;
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
        let own = runtime.store().thread(row.id).await?.ok_or(RuntimeError::NoThread(row.id))?;
        let tree = Tree::read(&**runtime.store(), row.root).await?;
        let mut rows = vec![own];
        rows.extend(subtree(&tree, row.id).into_iter().cloned());
        if rows.iter().all(|row| row.status == ThreadStatus::Terminated) {
            return Ok(rows);
        }
        let stirred = async { while !matches!(watcher.next().await, Notice::Status { .. } | Notice::Lagged) {} };
        // Time running out means the same as a notice: look again.
        _ = tokio::time::timeout(LOOK_AGAIN, stirred).await;
    }
}

fn subtree(tree: &Tree, thread: ThreadId) -> Vec<&ThreadRow> {
    tree.children(thread).flat_map(|child| [vec![child], subtree(tree, child.id)].concat()).collect()
}
