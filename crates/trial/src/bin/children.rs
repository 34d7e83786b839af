//! `cargo x bench children`: what creating, messaging and listing cost a parent that has 10, 100 and 1,000 children.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Context as _;
use clap::Parser;
use entourage_testkit::{FakeModel, Recording, Request};
use entourage_trial::children::{Parent, Row, reply};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// As in `entourage` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures one more child, one more message and one more list, with many children there already.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many children; may be given several times, growing.
    #[arg(long, default_values_t = [10, 100, 1000])]
    children: Vec<usize>,
    /// Each thing is done so often.
    #[arg(long, default_value_t = 20)]
    times: usize,
    /// Is the model, until standard input ends.
    #[arg(long)]
    model: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.model {
        let model = FakeModel::start_with(|request: &Request| reply(request), Recording::Off).await;
        println!("{}", model.url());
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())).await??;
        return Ok(());
    }
    let (mut model, url) = start_model()?;
    let folder = tempfile::tempdir()?;
    let mut parent = Parent::start(&url, folder.path()).await?;
    println!(
        "{:>8} {:>24} {:>24} {:>26} {:>14}",
        "children", "create ms wall/CPU", "message ms wall/CPU", "list ms, µs a child (CPU)", "request bytes"
    );
    for &children in &arguments.children {
        show(&parent.measure(children, arguments.times).await?);
    }
    parent.stop().await;
    model.kill()?;
    model.wait()?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn show(row: &Row) {
    let Row { children, create, message, list, request_bytes } = row;
    let each = 1000.0 * list.cpu / *children as f64;
    println!(
        "{children:>8} {:>14.1} /{:>8.1} {:>14.1} /{:>8.1} {:>16.1}, {each:>8.1} {request_bytes:>14}",
        create.wall, create.cpu, message.wall, message.cpu, list.cpu
    );
}

/// In a process of its own, so that what it does is not counted.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it talks to")]
fn start_model() -> anyhow::Result<(Child, String)> {
    let mut model =
        Command::new(std::env::current_exe()?).arg("--model").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut url = String::new();
    BufReader::new(model.stdout.take().context("the model's output")?).read_line(&mut url)?;
    Ok((model, url.trim().to_owned()))
}
