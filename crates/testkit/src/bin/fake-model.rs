//! Runs the fake model in a process of its own. Prints its URL as the first line and ends when stdin closes, so that
//! it never outlives who started it.

#![expect(clippy::print_stdout, reason = "the URL is this program's output")]

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use entourage_testkit::{FakeModel, Fanout, Recording, Rules};

#[derive(Parser)]
#[command(about)]
struct Arguments {
    /// A JSON file of rules to answer by.
    #[arg(long, required_unless_present = "fanout", conflicts_with = "fanout")]
    rules: Option<PathBuf>,
    /// Answer as the fan-out benchmark needs it.
    #[arg(long)]
    fanout: bool,
    /// Latency of every answer of the fan-out benchmark.
    #[arg(long, default_value_t = 0, requires = "fanout")]
    latency_ms: u64,
}

/// One thread: on two cores a second one would take from the client what it gives to the server.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let model = match &arguments.rules {
        Some(path) => FakeModel::start_with(load(path)?, Recording::Off).await,
        None => {
            let latency = Duration::from_millis(arguments.latency_ms);
            FakeModel::start_with(Fanout::new(latency), Recording::Off).await
        }
    };
    println!("{}", model.url());
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin().lock(), &mut io::sink())).await??;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the program's one door for its one file")]
fn load(path: &Path) -> Result<Rules> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))?;
    Rules::from_json(&text).with_context(|| format!("`{}` holds no rules", path.display()))
}
