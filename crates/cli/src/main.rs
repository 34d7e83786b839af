//! The `entourage` binary: arguments, settings and words for people. What they ask for is done by the other crates.
//!
//! A call travels: `arguments` → `invocation` (project, settings, screen) → one file of `commands` → data on stdout,
//! reports on stderr, and an exit code.

mod arguments;
mod commands;
mod environment;
mod failure;
mod given;
mod harmless;
mod log;
mod screen;

mod declarations;
mod definition_folder;
mod invocation;
mod packed;
mod private_file;
mod project;
mod readiness;
mod settings;
mod trusted;

mod attachment;
mod bundle_source;
mod errand;
mod interrupt;
mod key_file;
mod live;
mod memory;
mod models;
mod packing;
mod remote_agent;
mod remote_server;
mod server_file;
mod server_lack;
mod servers;
mod signatures;
mod source;
mod storage;
mod token_file;
mod transfer;
mod verdict;
mod wish;
mod workbench;

mod advice;
mod amount;
mod identifier;
mod listing;
mod output;
mod table;
mod transcript;
mod tree;
mod typed;

use failure::{Exit, Failure};
use screen::{Format, Screen};
use std::process::ExitCode;

/// A fan-out allocates on every thread at once; `docs/benchmarks.md` has what this gains and what it costs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The keeper of a command is this program, too; it reads no settings and says nothing.
    if let Some(exit) = entourage_outside::sandbox::serve(std::env::args_os()) {
        return exit;
    }
    let arguments = match typed::arguments() {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    let screen = Screen::new(if arguments.options.json { Format::Json } else { Format::Text });
    log::start(arguments.options.log.unwrap_or_default(), &screen);
    let mut failure = commands::perform(arguments, &screen).err();
    if let Some(loss) = screen.loss() {
        failure.get_or_insert_with(|| Failure::told(Exit::File)).reports.push(loss);
    }
    let Some(failure) = failure else { return ExitCode::SUCCESS };
    for report in &failure.reports {
        screen.report(report);
    }
    failure.exit.into()
}
