//! `entourage cancel RUN`: ends a run and everything that works for it. An ended run stays as it is.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::source::{Holder, Source as _};
use crate::storage::Storage;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::Item;
use entourage_runtime::{Runtime, RuntimeError};
use entourage_serve::shape::Run;
use entourage_store::RunRow;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage cancel 7f3a     a run that `entourage runs` lists")]
pub(crate) struct Arguments {
    /// The run's id, or a part of it
    #[arg(value_name = "RUN")]
    run: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let mut row = identifier::run(holder.source(), &arguments.run).await?;
    if row.status.is_terminal() {
        holder.source().close().await;
    } else {
        row = match holder {
            Holder::Store(storage) => cancel(invocation, storage, &row).await?,
            Holder::Server(server) => {
                server.cancel(&row.id).await?;
                server.ended(&row.id, wish::ENDING).await?.unwrap_or(row)
            }
        };
    }
    if invocation.is_json() {
        invocation.screen.json(&Run::from(&row));
    } else {
        invocation.screen.note(&format!("run `{}` is {}", row.id, row.status.word()));
    }
    Ok(())
}

async fn cancel(invocation: &Invocation, storage: Storage, row: &RunRow) -> Result<RunRow, Failure> {
    storage.store.request_cancel(&row.id).await.map_err(|error| storage.refused(&error))?;
    let thread = storage.thread(row.thread).await?;
    let missing = || Failure::of_runtime(&RuntimeError::NoThread(row.thread), &storage.place);
    let thread = thread.ok_or_else(missing)?;
    let ended = async |runtime: &Runtime| runtime.wait_for_run(&row.id, wish::ENDING).await;
    wish::grant(invocation, storage, &thread, Item::Cancel { run: row.id.clone() }, ended).await
}
