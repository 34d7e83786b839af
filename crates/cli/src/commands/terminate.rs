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
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

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
        invocation.screen.json(&Thread::from(&ended.own));
    } else {
        invocation.screen.note(&ended.to_string());
    }
    Ok(())
}

/// A thread that was told to end, and how many threads are below it.
struct Ended {
    own: ThreadRow,
    below: usize,
    /// How many of all of them have not ended.
    left: usize,
}

/// The thread once it and everything below it is terminated, or as it is when the time is over.
async fn until_terminated(runtime: &Runtime, row: &ThreadRow) -> Result<Ended, RuntimeError> {
    let (mut watcher, over) = (runtime.watch(row.root), Instant::now() + wish::ENDING);
    match runtime.wait_for_end(row.id, wish::ENDING).await {
        Ok(_) | Err(RuntimeError::NoThread(_)) => {}
        // One that cannot be read never ends.
        Err(error) => return Err(error),
    }
    loop {
        let mut rows = all_threads(&**runtime.store(), &tree_of(row)).await?;
        runtime.name_artifacts(&mut rows).await?;
        let ended = Ended::read(rows, row);
        if ended.left == 0 || over <= Instant::now() {
            return Ok(ended);
        }
        let stirred = async { while !matches!(watcher.next().await, Notice::Status { .. } | Notice::Lagged) {} };
        // Time running out means the same as a notice: look again.
        _ = tokio::time::timeout(LOOK_AGAIN, stirred).await;
    }
}

/// The same, asked of a server, which tells nobody when a tree has ended.
async fn until_server_terminated(server: &RemoteServer, row: &ThreadRow) -> Result<Ended, Failure> {
    let over = Instant::now() + wish::ENDING;
    loop {
        let ended = Ended::read(server.threads(&tree_of(row), usize::MAX).await?, row);
        if ended.left == 0 || over <= Instant::now() {
            return Ok(ended);
        }
        tokio::time::sleep(LOOK_AGAIN / 10).await;
    }
}

fn tree_of(row: &ThreadRow) -> ThreadFilter {
    ThreadFilter { root: Some(row.root), ..ThreadFilter::default() }
}

impl Ended {
    /// One that was deleted meanwhile is as it was last seen.
    fn read(rows: Vec<ThreadRow>, last: &ThreadRow) -> Self {
        let thread = last.id;
        let Some(own) = rows.iter().find(|row| row.id == thread).cloned() else {
            return Self { own: last.clone(), below: 0, left: 0 };
        };
        let tree = Tree::of(rows);
        let below = tree.below(thread);
        // Whoever is told to end is woken with the thread's own ending. What had ended by then stays as it was.
        let is_over = |row: &ThreadRow| match row.status {
            ThreadStatus::Terminated => true,
            ThreadStatus::Done | ThreadStatus::Failed => row.id != thread,
            ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting | ThreadStatus::Idle => false,
        };
        let left = [&own].into_iter().chain(below.iter().copied()).filter(|row| !is_over(row)).count();
        let below = below.len();
        Self { own, below, left }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own, below, left } = self;
        match left {
            0 => write!(f, "thread `{}` is terminated, with {below} below it", own.id),
            _ => write!(
                f,
                "thread `{}` is {}; it was told to end with {below} below it, and {left} of them have not ended yet",
                own.id,
                own.status.word()
            ),
        }
    }
}
