//! `cargo x bench kill`: many rounds of `kill -9` under load, and what the checker finds.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_trial::kill::{self, Settings};

/// Kills a runtime at random instants under load and checks the whole history.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    #[arg(long, default_value_t = 16)]
    roots: usize,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { rounds, roots } = Arguments::parse();
    let node = std::env::current_exe()?.with_file_name("node");
    let killed = kill::run(Settings { node, rounds, roots }).await?;
    println!("{}", serde_json::to_string_pretty(&killed).context("figures are JSON")?);
    anyhow::ensure!(killed.violations.is_empty(), "{} violations", killed.violations.len());
    Ok(())
}
