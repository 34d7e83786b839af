//! The process that the kill test kills.

use clap::Parser;
use entourage_trial::node::{self, Settings, Shared};
use std::path::PathBuf;
use std::time::Duration;

/// A runtime that takes commands on standard input, on SQLite or on a PostgreSQL that it shares with others.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    model_url: String,
    #[arg(long)]
    ledger: PathBuf,
    /// The URL of a database
    #[arg(long, requires = "refused")]
    store: Option<String>,
    /// How long it lives from one heartbeat to the next
    #[arg(long, default_value_t = 15_000)]
    life_ms: u64,
    /// Where it notes the commits that were refused
    #[arg(long)]
    refused: Option<PathBuf>,
    /// Never say that it lives
    #[arg(long)]
    zombie: bool,
}

fn main() -> anyhow::Result<()> {
    let Arguments { data, model_url, ledger, store, life_ms, refused, zombie } = Arguments::parse();
    let life = Duration::from_millis(life_ms);
    let shared = store.zip(refused).map(|(url, refused)| Shared { url, life, refused, zombie });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(node::serve(Settings { data, model_url, ledger, shared }));
    // Whoever reads standard input does so until it ends, which it need not.
    runtime.shutdown_background();
    served
}
