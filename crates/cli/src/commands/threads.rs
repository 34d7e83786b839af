//! `entourage threads`: what there is, newest first.

use crate::amount::{ago, tokens, total};
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::storage::Storage;
use crate::tree::Tree;
use crate::{json, table};
use clap::Args;
use clap::builder::PossibleValuesParser;
use entourage_model::{Name, ThreadId, ThreadStatus};
use entourage_store::{Page, ThreadFilter, ThreadRow};
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage threads --roots --status failed")]
pub(crate) struct Arguments {
    /// Only threads of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only threads with this status
    #[arg(long, value_parser = PossibleValuesParser::new(ThreadStatus::ALL.map(ThreadStatus::word)))]
    status: Option<String>,
    /// Only the children of this thread
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Only threads with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only threads that nobody's child is
    #[arg(long)]
    roots: bool,
    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let storage = Storage::look(invocation)?;
    let limit = usize::from(arguments.limit);
    let filter = filter(&storage, arguments).await?;
    let rows = storage.store.threads(&filter, Page { after: None, limit: limit + 1 }).await;
    let mut rows = rows.map_err(|error| storage.refused(&error))?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    print(invocation, &storage, &rows, has_more);
    storage.store.close().await;
    Ok(())
}

async fn filter(storage: &Storage, arguments: Arguments) -> Result<ThreadFilter, Failure> {
    let parent = match &arguments.parent {
        Some(parent) => Some(identifier::thread(storage, parent).await?.id),
        None => None,
    };
    Ok(ThreadFilter {
        agent: arguments.agent.map(Name::from),
        status: arguments.status.and_then(|word| ThreadStatus::ALL.into_iter().find(|status| status.word() == word)),
        parent,
        roots: arguments.roots,
        tag: arguments.tag,
        ..ThreadFilter::default()
    })
}

fn print(invocation: &Invocation, storage: &Storage, rows: &[ThreadRow], has_more: bool) {
    if invocation.is_json() {
        let mut document = json!({ "threads": rows.iter().map(json::thread).collect::<Vec<_>>() });
        if let (true, Some(last)) = (has_more, rows.last()) {
            document["next"] = json!(last.id);
        }
        return invocation.screen.json(&document);
    }
    if rows.is_empty() {
        return invocation.screen.note("no threads; `entourage run` starts one");
    }
    let now = storage.store.now();
    let cells: Vec<_> = by_tree(rows)
        .into_iter()
        .map(|(depth, row)| {
            let name =
                Tree::given_name(row).map_or_else(|| row.agent.to_string(), |name| format!("{} ({name})", row.agent));
            let indented = format!("{}{name}", "  ".repeat(depth));
            let spent = tokens(total(row.usage));
            [row.id.to_string(), indented, row.status.word().to_owned(), spent, ago(now, row.created_at)]
        })
        .collect();
    let heads = ["THREAD", "AGENT", "STATUS", "SPENT", "STARTED"];
    invocation.screen.data(&table::lines(heads, &cells, invocation.screen.data_paint()));
    if has_more {
        invocation.screen.note("there are more; `--limit N` shows them");
    }
}

/// The rows with children below their parents, as far as both are listed: trees newest first, siblings oldest first.
fn by_tree(rows: &[ThreadRow]) -> Vec<(usize, &ThreadRow)> {
    let is_listed = |id: Option<ThreadId>| rows.iter().any(|row| Some(row.id) == id);
    let mut ordered = Vec::new();
    for top in rows.iter().filter(|row| !is_listed(row.parent)) {
        add_branch(rows, (0, top), &mut ordered);
    }
    ordered
}

fn add_branch<'a>(
    rows: &'a [ThreadRow],
    (depth, row): (usize, &'a ThreadRow),
    ordered: &mut Vec<(usize, &'a ThreadRow)>,
) {
    ordered.push((depth, row));
    for child in rows.iter().rev().filter(|child| child.parent == Some(row.id)) {
        add_branch(rows, (depth + 1, child), ordered);
    }
}
