//! `entourage resume [THREAD]`: goes on with what a crash or Ctrl-C left unfinished.

use crate::commands::run::{conclude, until_quiet};
use crate::errand::Errand;
use crate::failure::Failure;
use crate::identifier;
use crate::invocation::Invocation;
use crate::models;
use crate::readiness::Readiness;
use crate::source::alone;
use crate::storage::Storage;
use crate::verdict::{Verdict, Work};
use clap::Args;
use entourage_model::ThreadId;
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage resume          everything that is unfinished, until it has ended
  entourage resume 7f3a     one thread with its whole tree")]
pub(crate) struct Arguments {
    /// The thread's id, or a part of it; its whole tree goes on
    #[arg(value_name = "THREAD")]
    thread: Option<String>,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let models = models::settings(invocation)?;
    let readiness = Readiness::new(invocation, &models)?;
    let storage = alone(invocation, Storage::look(invocation).await).await?;
    let mut errand = Errand::open(invocation, storage, models).await?;
    match &arguments.thread {
        Some(thread) => {
            let root = identifier::thread(errand.bench.storage(), thread).await?.root;
            readiness.insist_for(&errand.bench, errand.bench.unfinished(Some(root)).await?).await?;
            let past = Work::rest(errand.bench.storage(), root).await?;
            errand.bench.runtime.resume(Some(root));
            work(&mut errand, invocation, root).await?;
            conclude(invocation, &errand, root, past).await
        }
        None => everything(invocation, errand, &readiness).await,
    }
}

async fn everything(invocation: &Invocation, mut errand: Errand<'_>, readiness: &Readiness<'_>) -> Result<(), Failure> {
    let unfinished = errand.bench.unfinished(None).await?;
    // Oldest first.
    let roots: BTreeSet<ThreadId> = unfinished.iter().map(|row| row.root).collect();
    readiness.insist_for(&errand.bench, unfinished).await?;
    let mut past = Vec::new();
    for root in roots {
        past.push((root, Work::rest(errand.bench.storage(), root).await?));
    }
    errand.bench.runtime.resume(None);
    for (root, _) in &past {
        work(&mut errand, invocation, *root).await?;
    }
    let mut verdicts = Vec::new();
    for (root, past) in past {
        verdicts.extend(Verdict::read(errand.bench.storage(), root, past).await?);
    }
    print(invocation, &verdicts);
    for verdict in &verdicts {
        verdict.stamp(invocation, errand.bench.storage()).await?;
    }
    errand.bench.close().await;
    let failures = verdicts.iter().filter_map(|verdict| verdict.outcome(invocation).err());
    match failures.reduce(|mut first, next| {
        first.reports.extend(next.reports);
        first
    }) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

async fn work(errand: &mut Errand<'_>, invocation: &Invocation, root: ThreadId) -> Result<(), Failure> {
    let runtime = errand.bench.runtime.clone();
    let live = errand.live(root, invocation.show()).after_past().await;
    let live = live.map_err(|error| errand.bench.refused(&error))?;
    errand.wait(live, until_quiet(&runtime, root)).await
}

fn print(invocation: &Invocation, verdicts: &[Verdict]) {
    if invocation.is_json() {
        return invocation.screen.json(&json!({ "threads": verdicts }));
    }
    if verdicts.is_empty() {
        return invocation.screen.note("nothing is unfinished");
    }
    for verdict in verdicts {
        if verdicts.len() > 1 {
            invocation.screen.note(&format!("{} {}:", verdict.agent, verdict.thread_id));
        }
        verdict.print(invocation);
    }
}
