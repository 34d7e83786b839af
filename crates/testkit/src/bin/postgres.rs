//! Runs a PostgreSQL for tests. Prints its URL as the first line and ends when stdin closes, so that it never
//! outlives who started it.

#![expect(clippy::print_stdout, reason = "the URL is this program's output")]

use anyhow::Result;
use clap::Parser;
use entourage_testkit::postgres::Server;
use std::io;
use std::path::PathBuf;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    /// The folder below which the server has one of its own.
    #[arg(long)]
    folder: Option<PathBuf>,
}

fn main() -> Result<()> {
    let Arguments { folder } = Arguments::parse();
    let server = folder.map_or_else(Server::start, |folder| Server::start_in(&folder));
    println!("{}", server.url());
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}
