//! `entourage stop ID`: ends the current turn of a thread; children in the background go on.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::live::Show;
use crate::storage::Storage;
use crate::{identifier, json, wish};
use clap::Args;
use entourage_model::Item;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let row = identifier::thread(&storage, &arguments.thread).await?;
    wish::queue(invocation, &storage, row.id, Item::Stop).await?;
    let mut errand = wish::grant(invocation, storage, row.root).await?;
    let runtime = errand.bench.runtime.clone();
    let live = errand.live(row.root, Show::Nothing);
    let row = errand.wait(live, runtime.wait(row.id, wish::ENDING)).await?;
    errand.bench.close().await;
    if invocation.is_json() {
        invocation.screen.json(&json::thread(&row));
    } else {
        invocation.screen.note(&format!("thread `{}` is {}", row.id, row.status.word()));
    }
    Ok(())
}
