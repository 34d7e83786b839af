//! A program that is nothing but a keeper: what the tests of this crate start, where users have the `entourage` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    entourage_outside::sandbox::serve(std::env::args_os()).unwrap_or(ExitCode::FAILURE)
}
