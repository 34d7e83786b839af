//! `cargo x bench start`: how long it takes from the start of the process to its first model request.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use clap::Parser;
use entourage_testkit::{FakeModel, Reply};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Starts `entourage run` again and again against a model on this machine.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { rounds } = Arguments::parse();
    let mut fresh = Vec::new();
    let mut again = Vec::new();
    for _ in 0..rounds {
        let folder = tempfile::tempdir()?;
        fresh.push(first_request(folder.path()).await?);
        again.push(first_request(folder.path()).await?);
    }
    for (what, mut times) in [("in a new folder", fresh), ("with a store", again)] {
        times.sort_unstable();
        println!("{what}: median {:.1?}, best {:.1?}, worst {:.1?}", times[rounds / 2], times[0], times[rounds - 1]);
    }
    Ok(())
}

async fn first_request(folder: &Path) -> anyhow::Result<Duration> {
    let model = FakeModel::start(Reply::text("hello")).await;
    let began = Instant::now();
    let mut process = program()?
        .args(["run", "hi", "--model", "openai:fake"])
        .current_dir(folder)
        .env("OPENAI_BASE_URL", model.url())
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    model.until_requests(1).await;
    let took = began.elapsed();
    let status = process.wait().await?;
    anyhow::ensure!(status.success(), "entourage ended with {status}");
    Ok(took)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
fn program() -> anyhow::Result<tokio::process::Command> {
    Ok(tokio::process::Command::new(std::env::current_exe()?.with_file_name("entourage")))
}
