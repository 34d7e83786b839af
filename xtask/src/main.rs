//! `cargo x …`: the house's own commands.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its caller")]
#![expect(clippy::disallowed_methods, reason = "never ships; the doors are for what runs at a user's place")]

mod bench;
mod doc_tests;
mod failure;
mod fuzz_api;
mod generate;
mod postgres;
mod setup;
mod step;
mod test;
mod tidy;

use failure::Failure;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const HELP: &str = "\
usage: cargo x COMMAND

  test [--fast]        the gate: set up, format, lints, build, all tests
                       (--fast: without lints, documentation tests and heavy tests)
  tidy                 sizes, names, crate direction, documented error codes
  bench [NAME [ARG…]]  list the benchmarks, or build for release and run one
  fuzz-api             a fuzzing client reads `/openapi.json` and tries everything
  gen                  write the files that are generated
  setup                install what the tests need, or say what to install";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    let root = root();
    match words {
        ["test"] => test::run(&root, test::Extent::Everything),
        ["test", "--fast"] => test::run(&root, test::Extent::Fast),
        ["tidy"] => tidy::run(&root),
        ["bench", name, arguments @ ..] if !name.starts_with('-') => bench::run(&root, name, arguments),
        ["bench", ..] => bench::list(),
        ["fuzz-api"] => fuzz_api::run(&root, fuzz_api::Need::Must),
        ["gen"] => generate::run(&root),
        ["setup"] => setup::run(),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        other => {
            Err(Failure::new(format!("`cargo x {}` is not a command", other.join(" ")))
                .hint("`cargo x help` lists them"))
        }
    }
}

/// The workspace: every step runs here, wherever `cargo x` was called.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace's folder").to_owned()
}
