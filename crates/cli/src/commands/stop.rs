//! `entourage stop ID`: ends the current turn of a thread; children in the background go on.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::source::Holder;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::Item;
use entourage_runtime::Runtime;
use entourage_serve::shape::Thread;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let row = identifier::thread(holder.source(), &arguments.thread).await?;
    let row = match holder {
        Holder::Store(storage) => {
            let settled = async |runtime: &Runtime| {
                let mut row = [runtime.wait(row.id, wish::ENDING).await?];
                runtime.name_artifacts(&mut row).await?;
                Ok(row)
            };
            let [row] = wish::grant(invocation, storage, &row, Item::Stop, settled).await?;
            row
        }
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
