//! `cargo x bench fanout`: one parent and N children, against the floor, in the same run.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_testkit::floor::Measured;
use entourage_trial::fanout::{self, Settings};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// As in `entourage` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compares a durable fan-out with a bare client that makes the same requests.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many children; may be given several times.
    #[arg(long, default_values_t = [10, 100, 1000, 10_000])]
    children: Vec<usize>,
    /// Each pair is measured so often; the best of each counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Measures this process alone, against that model.
    #[arg(long, requires = "data")]
    ours: Option<String>,
    #[arg(long)]
    data: Option<PathBuf>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    match (&arguments.ours, &arguments.data) {
        (Some(url), Some(data)) => ours(url, data, arguments.children[0]).await,
        _ => compare(&arguments),
    }
}

async fn ours(url: &str, data: &std::path::Path, children: usize) -> anyhow::Result<()> {
    let workspace = data.parent().context("the data folder lies in the workspace")?.to_owned();
    let settings = Settings { url: url.to_owned(), children, data: data.to_owned(), workspace };
    println!("{}", serde_json::to_string(&fanout::run(&settings).await?)?);
    Ok(())
}

fn compare(arguments: &Arguments) -> anyhow::Result<()> {
    let (mut model, url) = start_model(arguments.latency_ms)?;
    println!("{:>8} {:>22} {:>22} {:>22}   ratios", "children", "wall ms ours/floor", "CPU ms ours/floor", "peak MiB");
    for &children in &arguments.children {
        let (mut best_ours, mut best_floor): (Option<Measured>, Option<Measured>) = (None, None);
        for _ in 0..arguments.rounds {
            let floor = measure(&["floor", "--url", &url, "--children", &children.to_string()])?;
            let folder = workspace()?;
            let data = folder.path().join("data").display().to_string();
            let ours = measure(&["fanout", "--ours", &url, "--data", &data, "--children", &children.to_string()])?;
            best_floor = Some(better(best_floor, floor));
            best_ours = Some(better(best_ours, ours));
        }
        let (ours, floor) = best_ours.zip(best_floor).context("at least one round")?;
        show(&ours, &floor);
    }
    model.kill()?;
    model.wait()?;
    Ok(())
}

/// A folder with the note that every child reads.
#[expect(clippy::disallowed_methods, reason = "a benchmark lays out what it measures")]
fn workspace() -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("note.txt"), "The quick brown fox jumps over the lazy dog.")?;
    Ok(folder)
}

fn better(best: Option<Measured>, next: Measured) -> Measured {
    match best {
        Some(best) if best.cpu_ms <= next.cpu_ms => best,
        _ => next,
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn show(ours: &Measured, floor: &Measured) {
    let mib = |kib: u64| kib as f64 / 1024.0;
    println!(
        "{:>8} {:>12.0} /{:>8.0} {:>12.0} /{:>8.0} {:>12.1} /{:>8.1}   wall {:.2}  CPU {:.2}  CPU a child {:.0} µs",
        ours.children,
        ours.wall_ms,
        floor.wall_ms,
        ours.cpu_ms,
        floor.cpu_ms,
        mib(ours.peak_kib),
        mib(floor.peak_kib),
        ours.wall_ms / floor.wall_ms,
        ours.cpu_ms / floor.cpu_ms,
        1000.0 * ours.cpu_ms / ours.children as f64,
    );
}

/// Runs a program that lies beside this one and reads its line of figures.
fn measure(command: &[&str]) -> anyhow::Result<Measured> {
    let output = beside(command[0])?.args(&command[1..]).stderr(Stdio::inherit()).output()?;
    anyhow::ensure!(output.status.success(), "{} failed", command.join(" "));
    serde_json::from_slice(&output.stdout).context("figures are JSON")
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it compares")]
fn beside(program: &str) -> anyhow::Result<Command> {
    Ok(Command::new(std::env::current_exe()?.with_file_name(program)))
}

fn start_model(latency_ms: u64) -> anyhow::Result<(Child, String)> {
    let mut model = beside("fake-model")?
        .args(["--fanout", "--latency-ms", &latency_ms.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut url = String::new();
    BufReader::new(model.stdout.take().context("the model's output")?).read_line(&mut url)?;
    Ok((model, url.trim().to_owned()))
}
