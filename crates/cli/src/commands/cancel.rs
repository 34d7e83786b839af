//! `entourage cancel RUN`: ends a run and everything that works for it. An ended run stays as it is.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::{identifier, wish};
use clap::Args;
use entourage_model::Item;
use entourage_runtime::{Runtime, RuntimeError};
use entourage_serve::shape::Run;
use entourage_store::RunRow;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run's id, or a part of it
    #[arg(value_name = "RUN")]
    run: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let mut row = identifier::run(&storage, &arguments.run).await?;
    if row.status.is_terminal() {
        storage.store.close().await;
    } else {
        row = cancel(invocation, storage, &row).await?;
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
    let thread = storage.store.thread(row.thread).await.map_err(|error| storage.refused(&error))?;
    let missing = || Failure::of_runtime(&RuntimeError::NoThread(row.thread), &storage.place);
    let thread = thread.ok_or_else(missing)?;
    let ended = async |runtime: &Runtime| runtime.wait_for_run(&row.id, wish::ENDING).await;
    wish::grant(invocation, storage, &thread, Item::Cancel { run: row.id.clone() }, ended).await
}
