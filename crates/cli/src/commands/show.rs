//! `entourage show ID`: a thread, the tree below it, and its last messages.

use crate::amount::{ago, duration, tokens, total};
use crate::errand::Errand;
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::screen::Paint;
use crate::source::{Holder, Source};
use crate::storage::Storage;
use crate::transcript::{self, Audience, Length};
use crate::tree::Tree;
use crate::verdict::ChildVerdict;
use crate::workbench::silent_models;
use clap::Args;
use entourage_model::ThreadStatus;
use entourage_serve::shape::ThreadWithChildren;
use entourage_store::{RunEnd, RunFilter, ThreadRow};
use serde::Serialize;

/// So many lines of each message are shown.
const LINES_MAX: usize = 6;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  entourage show 7f3a     any beginning or end of the id that is unique")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it
    #[arg(value_name = "ID")]
    thread: String,
    /// How many of its last messages are shown
    #[arg(long, value_name = "N", default_value_t = 8)]
    last: usize,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let holder = Holder::look(invocation).await?;
    match holder {
        Holder::Store(storage) if invocation.is_json() => {
            return document(invocation, storage, &arguments.thread).await;
        }
        Holder::Server(server) if invocation.is_json() => {
            let row = identifier::thread(&server, &arguments.thread).await?;
            let shown = Shown { thread: server.shown(row.id).await?, rest: Rest::read(&server, &row).await? };
            invocation.screen.json(&shown);
            return Ok(());
        }
        Holder::Store(_) | Holder::Server(_) => {}
    }
    let source = holder.source();
    let row = identifier::thread(source, &arguments.thread).await?;
    let shown = words(source, &row, arguments.last, invocation.screen.data_paint()).await?;
    source.close().await;
    invocation.screen.data(&shown);
    Ok(())
}

/// A thread as `GET /threads/{id}` shows it, and what only this command tells.
#[derive(Serialize)]
struct Shown<T> {
    #[serde(flatten)]
    thread: T,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Serialize)]
struct Rest {
    /// Why its last session failed.
    error: Option<String>,
    /// Every thread below it; `children` are those that it can speak to.
    tree: Vec<ChildVerdict>,
}

impl Rest {
    async fn read(source: &dyn Source, row: &ThreadRow) -> Result<Self, Failure> {
        let tree = ChildVerdict::below(&Tree::read(source, row.root).await?, row.id);
        Ok(Self { error: fault(source, row).await?, tree })
    }
}

/// Why the thread's last session failed, if it did.
async fn fault(source: &dyn Source, row: &ThreadRow) -> Result<Option<String>, Failure> {
    if row.status != ThreadStatus::Failed {
        return Ok(None);
    }
    let end = source.last_end(row.id).await?;
    Ok(end.and_then(|end| RunEnd::from(&end).error.map(str::to_owned)))
}

async fn document(invocation: &Invocation, storage: Storage, thread: &str) -> Result<(), Failure> {
    let errand = Errand::open(invocation, storage, silent_models()).await?;
    let row = identifier::thread(errand.bench.storage(), thread).await?;
    let state = errand.bench.runtime.state(row.id).await.map_err(|error| errand.bench.refused(&error))?;
    let (agent, children) = match state {
        Some(state) => (state.agent.clone(), state.registry().collect()),
        None => (row.agent.clone(), Vec::new()),
    };
    let rest = Rest::read(errand.bench.storage(), &row).await?;
    errand.bench.close().await;
    invocation.screen.json(&Shown { thread: ThreadWithChildren::new(&row, &agent, &children), rest });
    Ok(())
}

async fn words(source: &dyn Source, row: &ThreadRow, last: usize, paint: Paint) -> Result<String, Failure> {
    let tree = Tree::read(source, row.root).await?;
    let mut lines = vec![format!("{} {}", paint.strong("thread"), row.id)];
    if let Some(parent) = row.parent {
        lines.push(format!("{} {parent}, below {}", paint.strong("parent"), row.root));
    }
    lines.push(format!("{} {}", paint.strong("started"), ago(source.now(), row.created_at)));
    lines.push(String::new());
    branch(source, &tree, row, (&mut Vec::new(), paint), &mut lines).await?;
    if let Some(fault) = fault(source, row).await? {
        lines.push(format!("{} {fault}", paint.bad("because")));
    }
    let messages = transcript::last(source.messages(row.id, Audience::People).await?, last);
    if !messages.is_empty() {
        lines.push(String::new());
    }
    for message in messages {
        lines.push(transcript::lines(&message.message, Length::Lines(LINES_MAX), paint));
    }
    Ok(lines.join("\n"))
}

/// The thread's line, then those of its children.
async fn branch(
    source: &dyn Source,
    tree: &Tree,
    row: &ThreadRow,
    (last, paint): (&mut Vec<bool>, Paint),
    lines: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut line = String::new();
    if let Some((own, above)) = last.split_last() {
        above.iter().for_each(|last| line.push_str(if *last { "   " } else { "│  " }));
        line.push_str(if *own { "└─ " } else { "├─ " });
    }
    line.push_str(&about(source, row, paint).await?);
    lines.push(line);
    let children: Vec<_> = tree.children(row.id).collect();
    for (place, child) in children.iter().enumerate() {
        last.push(place + 1 == children.len());
        Box::pin(branch(source, tree, child, (last, paint), lines)).await?;
        last.pop();
    }
    Ok(())
}

async fn about(source: &dyn Source, row: &ThreadRow, paint: Paint) -> Result<String, Failure> {
    let name = Tree::given_name(row).map_or_else(|| row.agent.to_string(), |name| format!("{} ({name})", row.agent));
    let status = row.status.word();
    let status = match row.status {
        ThreadStatus::Done | ThreadStatus::Idle => paint.good(status),
        ThreadStatus::Failed | ThreadStatus::Terminated => paint.bad(status),
        ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting => paint.busy(status),
    };
    let mut spent = tokens(total(row.usage));
    let filter = RunFilter { thread: Some(row.id), ..RunFilter::default() };
    if let Some(run) = source.runs(&filter, 1).await?.pop() {
        let end = run.ended_at.unwrap_or_else(|| source.now());
        spent = format!("{spent}, {}", duration(end.since(run.started_at.unwrap_or(run.created_at))));
    }
    Ok(format!("{name}  {status}  {spent}  {}", paint.faint(&row.id.to_string())))
}
