//! The box that commands run in: what they see and may change, and how all of it ends.
//!
//! A command has a keeper: this program, started once more with a single line to whoever wants the command. The keeper
//! puts the command into its box and ends everything that it started as soon as the command ends or the line is closed,
//! be it because the caller was cancelled or because the whole process died. So nothing here needs code that runs
//! between a fork and its exec, and nothing is left when nobody is there to clean up.

#[cfg(target_os = "linux")]
mod bubblewrap;
mod choice;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(target_os = "linux")]
mod git;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod network;
mod order;
#[cfg(target_os = "linux")]
mod shell_line;
mod view;

pub(crate) use choice::choose;
pub(crate) use order::{Confinement, Ended, Order, Plan};
pub(crate) use view::readable;

use std::ffi::OsString;
use std::process::ExitCode;

/// The word by which the program is asked to be a keeper instead of what it usually is.
const WORD: &str = "__sandbox";

/// Which box people want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxWish {
    /// The best one that works here; without any, commands are refused.
    #[default]
    Auto,
    Bubblewrap,
    Landlock,
    /// Commands may do whatever this process may. Only where somebody says so.
    None,
}

/// What the program is started for, if it was started as a part of a sandbox: it does that and ends with this code.
/// Everybody who has a `shell` tool calls this before anything else.
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    Some(part(&rest))
}

#[cfg(target_os = "linux")]
fn part(rest: &[OsString]) -> ExitCode {
    let words: Vec<&str> = rest.iter().filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        ["keep"] => keeper::keep(),
        ["probe"] => namespaces::probe(),
        ["confine", plan, command] => confine::confine(plan, command),
        _ => ExitCode::from(2),
    }
}

#[cfg(not(target_os = "linux"))]
fn part(_: &[OsString]) -> ExitCode {
    ExitCode::from(2)
}
