//! The last step before the command: this process takes its own rights away and becomes the command.

use super::order::{Confinement, Plan};
use super::{landlock, network, shell_line};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_parent_process_death_signal, setsid, wait};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// What a shell says of a command that it cannot start.
const CANNOT_START: u8 = 126;

/// Runs the command, restricted as the plan says. It comes back only for a process that cannot be started, or when it is
/// the first of its namespace: then it waits for all the others.
pub(super) fn confine(plan: &str, command: &str) -> ExitCode {
    match confined(plan, command) {
        Ok(code) => code,
        Err(why) => {
            _ = writeln!(std::io::stderr(), "the sandbox could not be made: {why}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn confined(plan: &str, command: &str) -> Result<ExitCode, String> {
    let plan: Plan = serde_json::from_str(plan).map_err(|error| error.to_string())?;
    // The keeper ends us. If somebody ends the keeper, this does.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // Whoever leads a group cannot have a session of its own, and then has one already.
    _ = setsid();
    let mut shell = shell(&plan, command);
    match plan.confinement {
        Confinement::Landlock { namespaces } => {
            landlock::restrict(&plan, &std::env::temp_dir(), namespaces).map_err(|error| error.to_string())?;
            if !plan.network {
                network::close()?;
            }
        }
        Confinement::Bubblewrap { .. } | Confinement::None => {}
    }
    if getpid() == Pid::INIT { first_of_namespace(shell) } else { Err(shell.exec().to_string()) }
}

#[expect(clippy::disallowed_methods, reason = "the one door to a command, with a keeper around it")]
fn shell(plan: &Plan, command: &str) -> Command {
    let mut shell = Command::new(shell_line::SHELL);
    shell.args(shell_line::arguments(plan, command)).current_dir(&plan.workspace);
    shell
}

/// Nobody else waits for orphans here. When this ends, the kernel ends whoever is left.
fn first_of_namespace(mut shell: Command) -> Result<ExitCode, String> {
    let shell = shell.spawn().map_err(|error| error.to_string())?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == shell.id() => {
                return Ok(code(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// A signal as a shell tells it.
fn code(status: WaitStatus) -> ExitCode {
    let signal = status.terminating_signal().map(|signal| signal.saturating_add(128));
    let code = status.exit_status().or(signal).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(u8::MAX))
}
