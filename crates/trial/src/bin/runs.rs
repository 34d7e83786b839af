//! `cargo x bench runs`: many background runs at once, and how fast their parent can ask how they stand.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_model::Dialect;
use entourage_trial::runs::{self, Settings};
use std::time::Duration;

/// As in `entourage` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Starts background runs through each dialect and measures the parent's lists meanwhile.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Each is read again with all that follow, so that many of them measure the length of a conversation.
    #[arg(long, default_value_t = 20)]
    lists: usize,
    /// The model's latency for each of a child's two steps.
    #[arg(long, default_value_t = 500)]
    latency_ms: u64,
    /// A list that takes longer is a failure.
    #[arg(long, default_value_t = 20.0)]
    list_ms_max: f64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    println!(
        "{:>11} {:>5} {:>6} {:>9} {:>8} {:>8} {:>8}",
        "dialect", "runs", "lists", "wall s", "median", "p99", "worst"
    );
    let mut slow = false;
    for (name, dialect) in [("agentscope", Dialect::AgentScope), ("dex", Dialect::Dex)] {
        let settings = Settings {
            dialect,
            runs: arguments.runs,
            lists: arguments.lists,
            latency: Duration::from_millis(arguments.latency_ms),
        };
        let folder = tempfile::tempdir()?;
        let mut figures = runs::run(&settings, folder.path()).await?;
        figures.list_ms.sort_by(f64::total_cmp);
        let lists = figures.list_ms.len();
        let at = |share: usize| figures.list_ms.get((lists * share / 100).min(lists.saturating_sub(1))).copied();
        let (median, late) = at(50).zip(at(99)).context("there is at least one list")?;
        let worst = figures.list_ms[lists - 1];
        println!(
            "{name:>11} {:>5} {lists:>6} {:>9.2} {median:>8.2} {late:>8.2} {worst:>8.2}   ms; {} runs unfinished at the last list",
            settings.runs,
            figures.wall.as_secs_f64(),
            figures.unfinished,
        );
        slow |= late > arguments.list_ms_max;
    }
    anyhow::ensure!(!slow, "a list took longer than {} ms", arguments.list_ms_max);
    Ok(())
}
