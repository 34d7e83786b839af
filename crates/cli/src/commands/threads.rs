//! `entourage threads`: what there is, newest first.

use crate::amount::{ago, tokens, total};
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::listing::Listing;
use crate::source::{Holder, Source};
use crate::tree::Tree;
use clap::Args;
use clap::builder::PossibleValuesParser;
use entourage_model::{Name, ThreadId, ThreadStatus};
use entourage_serve::shape::Thread;
use entourage_store::{ThreadFilter, ThreadRow};
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
    let holder = Holder::look(invocation).await?;
    let (source, limit) = (holder.source(), arguments.limit);
    let filter = filter(source, arguments).await?;
    let rows = source.threads(&filter, Listing::<ThreadRow>::page(limit)).await?;
    print(invocation, source, &Listing::of(rows, limit));
    source.close().await;
    Ok(())
}

async fn filter(source: &dyn Source, arguments: Arguments) -> Result<ThreadFilter, Failure> {
    let parent = match &arguments.parent {
        Some(parent) => Some(identifier::thread(source, parent).await?.id),
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

fn print(invocation: &Invocation, source: &dyn Source, listing: &Listing<ThreadRow>) {
    if invocation.is_json() {
        return listing.print_json(invocation, ("threads", "thread_id"), |row| json!(Thread::from(row)));
    }
    if listing.rows.is_empty() {
        return invocation.screen.note("no threads; `entourage run` starts one");
    }
    let now = source.now();
    let cells: Vec<_> = by_tree(&listing.rows)
        .into_iter()
        .map(|(depth, row)| {
            let name =
                Tree::given_name(row).map_or_else(|| row.agent.to_string(), |name| format!("{} ({name})", row.agent));
            let indented = format!("{}{name}", "  ".repeat(depth));
            let spent = tokens(total(row.usage));
            [row.id.to_string(), indented, row.status.word().to_owned(), spent, ago(now, row.created_at)]
        })
        .collect();
    listing.print_table(invocation, ["THREAD", "AGENT", "STATUS", "SPENT", "STARTED"], &cells);
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
