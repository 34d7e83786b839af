//! The process that the kill test kills.

use clap::Parser;
use entourage_trial::node::{self, Settings};
use std::path::PathBuf;

/// A runtime on SQLite that takes commands on standard input.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    model_url: String,
    #[arg(long)]
    ledger: PathBuf,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { data, model_url, ledger } = Arguments::parse();
    node::serve(Settings { data, model_url, ledger }).await
}
