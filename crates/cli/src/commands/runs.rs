//! `entourage runs`: delegated work and its results, newest first.

use crate::amount::ago;
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::{json, table};
use clap::Args;
use clap::builder::PossibleValuesParser;
use entourage_model::RunStatus;
use entourage_store::{Page, RunFilter, RunRow};
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
    let storage = Storage::look(invocation)?;
    let thread = match &arguments.thread {
        Some(thread) => Some(identifier::thread(&storage, thread).await?.id),
        None => None,
    };
    let status = arguments.status.and_then(|word| RunStatus::ALL.into_iter().find(|status| status.word() == word));
    let filter = RunFilter { thread, status, unread: arguments.unread, parent: None };
    let limit = usize::from(arguments.limit);
    let rows = storage.store.runs(&filter, Page { after: None, limit: limit + 1 }).await;
    let mut rows = rows.map_err(|error| storage.refused(&error))?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    print(invocation, &storage, &rows, has_more);
    storage.store.close().await;
    Ok(())
}

fn print(invocation: &Invocation, storage: &Storage, rows: &[RunRow], has_more: bool) {
    if invocation.is_json() {
        let mut document = json!({ "runs": rows.iter().map(json::run).collect::<Vec<_>>() });
        if let (true, Some(last)) = (has_more, rows.last()) {
            document["next"] = json!(last.id);
        }
        return invocation.screen.json(&document);
    }
    if rows.is_empty() {
        return invocation.screen.note("no runs");
    }
    let now = storage.store.now();
    let cells: Vec<_> = rows
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
    let heads = ["RUN", "AGENT", "STATUS", "READ", "ASKED", "RESULT"];
    invocation.screen.data(&table::lines(heads, &cells, invocation.screen.data_paint()));
    if has_more {
        invocation.screen.note("there are more; `--limit N` shows them");
    }
}
