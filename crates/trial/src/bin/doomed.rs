//! The process that dies at a point of its own.

#![expect(clippy::print_stdout, reason = "how far it came is its output")]

use clap::Parser;
use entourage_trial::doom::{Scenario, Settings, live};
use std::path::PathBuf;

/// Brings a piece of work to its end, or ends itself at one point of it.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    scenario: Scenario,
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    model_url: String,
    #[arg(long)]
    die_at: Option<usize>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let Arguments { scenario, folder, model_url, die_at } = Arguments::parse();
    println!("{}", live(&Settings { scenario, folder, model_url, die_at }).await?);
    Ok(())
}
