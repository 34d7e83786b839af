//! `cargo x bench remote`: two servers, one remote for the other, either killed in the middle.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_trial::remote::{self, Settings};

/// Kills either of two servers while one works for the other, and checks that every run ended once.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 50)]
    rounds: usize,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { rounds } = Arguments::parse();
    let program = std::env::current_exe()?.with_file_name("entourage");
    let tried = remote::run(Settings { program, rounds }).await?;
    println!("{}", serde_json::to_string_pretty(&tried).context("figures are JSON")?);
    anyhow::ensure!(tried.violations.is_empty(), "{} violations", tried.violations.len());
    Ok(())
}
