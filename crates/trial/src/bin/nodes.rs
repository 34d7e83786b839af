//! `cargo x bench nodes`: nodes on one PostgreSQL, disturbed round after round, and what the checker finds.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_trial::nodes::{self, Settings};
use std::time::Duration;

/// How long the nodes may take to bring everything to rest.
const REST: Duration = Duration::from_secs(180);

/// Disturbs nodes that share a database and checks the whole history.
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds for each number of nodes
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// How many nodes; may be given more than once
    #[arg(long = "nodes", default_values_t = [2, 3])]
    nodes: Vec<usize>,
    #[arg(long, default_value_t = 16)]
    roots: usize,
    /// How long a node lives from one heartbeat to the next
    #[arg(long, default_value_t = 1500)]
    life_ms: u64,
    /// So many nodes never say that they live
    #[arg(long, default_value_t = 0)]
    zombies: usize,
    /// Remove the guard against those who have lost a thread: the checker must then find something
    #[arg(long)]
    unguarded: bool,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { rounds, nodes, roots, life_ms, zombies, unguarded } = Arguments::parse();
    let node = std::env::current_exe()?.with_file_name("node");
    for nodes in nodes {
        let (node, life) = (node.clone(), Duration::from_millis(life_ms));
        let disturbed =
            nodes::run(Settings { node, rounds, nodes, roots, life, zombies, unguarded, rest: REST }).await?;
        println!("{}", serde_json::to_string_pretty(&disturbed).context("figures are JSON")?);
        anyhow::ensure!(disturbed.violations.is_empty(), "{} violations", disturbed.violations.len());
    }
    Ok(())
}
