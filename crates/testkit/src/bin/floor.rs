//! Measures the floor of the fan-out benchmark against a running fake model and prints it as one line of JSON.

#![expect(clippy::print_stdout, reason = "the measurement is this program's output")]

use std::num::NonZeroUsize;

use anyhow::Result;
use clap::Parser;
use entourage_testkit::floor::{self, IN_FLIGHT_DEFAULT, Mode, Settings};

#[derive(Parser)]
#[command(about)]
struct Arguments {
    /// Base URL of the fake model, such as `http://127.0.0.1:4711/v1`.
    #[arg(long)]
    url: String,
    /// Children to play.
    #[arg(long)]
    children: usize,
    /// Connections at once.
    #[arg(long, default_value_t = IN_FLIGHT_DEFAULT)]
    in_flight: NonZeroUsize,
    /// Plain answers in place of streams.
    #[arg(long)]
    plain: bool,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let Arguments { url, children, in_flight, plain } = Arguments::parse();
    let mode = if plain { Mode::Plain } else { Mode::Streamed };
    let measured = floor::run(&Settings { url, children, in_flight, mode }).await?;
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}
