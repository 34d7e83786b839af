//! `entourage tail ID`: the messages of a thread, oldest first.

use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::transcript::{self, Audience, Length};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage tail 7f3a --last 5")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
    /// Only so many of the last messages
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Also silent messages, which models see and people need not
    #[arg(long)]
    all: bool,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let row = identifier::thread(&storage, &arguments.thread).await?;
    let audience = if arguments.all { Audience::Everybody } else { Audience::People };
    let last = arguments.last.unwrap_or(usize::MAX);
    let messages = transcript::read(&*storage.store, row.id, audience, last).await;
    let messages = messages.map_err(|error| storage.refused(&error))?;
    storage.store.close().await;
    if invocation.is_json() {
        let messages: Vec<_> = messages.iter().map(|line| line.message.shown(Some(line.seq))).collect();
        invocation.screen.json(&json!({ "messages": messages }));
        return Ok(());
    }
    for line in &messages {
        invocation.screen.data(&transcript::lines(&line.message, Length::Whole, invocation.screen.data_paint()));
    }
    Ok(())
}
