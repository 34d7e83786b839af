//! `entourage runs`: delegated work and its results, newest first.

use crate::amount::ago;
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::listing::Listing;
use crate::source::{Holder, Source};
use crate::table;
use clap::Args;
use clap::builder::PossibleValuesParser;
use entourage_model::RunStatus;
use entourage_serve::shape::Run;
use entourage_store::{RunFilter, RunRow};
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage runs --unread     what ended and nobody has read yet")]
pub(crate) struct Arguments {
    /// Only runs that have ended and whose result nobody was given
    #[arg(long)]
    unread: bool,
    /// Only runs of this thread
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only runs with this status
    #[arg(long, value_parser = PossibleValuesParser::new(RunStatus::ALL.map(RunStatus::word)))]
    status: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    let source = holder.source();
    let thread = match &arguments.thread {
        Some(thread) => Some(identifier::thread(source, thread).await?.id),
        None => None,
    };
    let status = arguments.status.and_then(|word| RunStatus::ALL.into_iter().find(|status| status.word() == word));
    let filter = RunFilter { thread, status, unread: arguments.unread, parent: None };
    let rows = source.runs(&filter, Listing::<RunRow>::page(arguments.limit)).await?;
    print(invocation, source, &Listing::of(rows, arguments.limit));
    source.close().await;
    Ok(())
}

fn print(invocation: &Invocation, source: &dyn Source, listing: &Listing<RunRow>) {
    if invocation.is_json() {
        return listing.print_json(invocation, ("runs", "run_id"), |row| json!(Run::from(row)));
    }
    if listing.rows.is_empty() {
        return invocation.screen.note("no runs");
    }
    let now = source.now();
    let cells: Vec<_> = listing
        .rows
        .iter()
        .map(|row| {
            let text = row.result.as_deref().or(row.error.as_deref()).unwrap_or_default();
            let read = if row.status.is_terminal() && row.delivered_at.is_none() { "unread" } else { "" };
            [
                row.id.to_string(),
                row.agent.to_string(),
                row.status.word().to_owned(),
                read.to_owned(),
                ago(now, row.created_at),
                table::first_line(text, 60),
            ]
        })
        .collect();
    listing.print_table(invocation, ["RUN", "AGENT", "STATUS", "READ", "ASKED", "RESULT"], &cells);
}
