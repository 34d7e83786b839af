//! `cargo x bench server`: event streams and requests against one server, and what an answer takes.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use clap::Parser;
use entourage_trial::load::{self, Settings, Times};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::Duration;

const GOAL: Duration = Duration::from_millis(20);

/// Loads a server and measures it from the outside.
#[derive(Debug, Parser)]
struct Arguments {
    /// Open event streams.
    #[arg(long, default_value_t = 2000)]
    streams: usize,
    /// Requests a second.
    #[arg(long, default_value_t = 500)]
    rate: u32,
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Of the thread that has the most.
    #[arg(long, default_value_t = 200)]
    children: usize,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { streams, rate, seconds, children } = Arguments::parse();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    let program = std::env::current_exe()?.with_file_name("entourage");
    let loaded = load::run(Settings { program, streams, rate, seconds, children }).await?;
    println!("{streams} open event streams, {rate} requests a second for {seconds} s");
    show("GET /threads/{id}", &loaded.shown);
    show(&format!("the same, {children} children"), &loaded.shown_parent);
    show("everything else", &loaded.rest);
    let mib = |kib: u64| kib / 1024;
    println!(
        "resident MiB: {} idle, {} with the streams, {} at most under load",
        mib(loaded.idle_kib),
        mib(loaded.streams_kib),
        mib(loaded.peak_kib),
    );
    println!("frames on the streams: {}; streams still open: {}", loaded.events, loaded.streams_open);
    let is_met = loaded.shown.permille(990) < GOAL;
    println!("goal: p99 of GET /threads/{{id}} below {GOAL:?}: {}", if is_met { "met" } else { "missed" });
    anyhow::ensure!(loaded.failed == 0, "{} requests failed", loaded.failed);
    anyhow::ensure!(loaded.streams_open == streams, "{} streams ended early", streams - loaded.streams_open);
    Ok(())
}

fn show(what: &str, times: &Times) {
    let [median, slow, slower, slowest] = [500, 990, 999, 1000].map(|share| times.permille(share));
    println!(
        "{what:<26} {:>6} answers: p50 {median:.1?}, p99 {slow:.1?}, p99.9 {slower:.1?}, slowest {slowest:.1?}",
        times.count()
    );
}
