//! The keeper of one command.

use super::order::{Confinement, Ended, Order, Plan};
use super::{WORD, bubblewrap, descendants, git, namespaces};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, getpid, pidfd_open, set_child_subreaper, waitpid};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// An order holds a command and some paths.
const ORDER_BYTES_MAX: u64 = 4 << 20;

/// Runs the command that comes by the line on standard input, and ends everything when the line is closed.
pub(super) fn keep() -> ExitCode {
    let Ok(line) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return ExitCode::FAILURE };
    let ended = attend(&line);
    // Whoever has gone meanwhile does not want to know.
    _ = serde_json::to_string(&ended).map(|report| writeln!(&line, "{report}"));
    ExitCode::SUCCESS
}

fn attend(line: &UnixStream) -> Ended {
    let fault = |error: io::Error| Ended::Fault(error.to_string());
    let mut text = String::new();
    if let Err(error) = BufReader::new(line.take(ORDER_BYTES_MAX)).read_line(&mut text) {
        return fault(error);
    }
    let order: Order = match serde_json::from_str(&text) {
        Ok(order) => order,
        Err(error) => return Ended::Fault(error.to_string()),
    };
    // Dropped behind the temporary folder, and so when everything that the command started is gone.
    let _sweep = (order.plan.confinement != Confinement::None).then(|| git::Sweep::new(&order.plan.workspace));
    let temporary = match Temporary::new() {
        Ok(temporary) => temporary,
        Err(error) => return fault(error),
    };
    match start(&order, &temporary) {
        Ok(pid) => watch(line, pid).unwrap_or_else(|error| Ended::Fault(error.to_string())),
        Err(error) => fault(error),
    }
}

/// Starts the command in its box, as a child of this process.
fn start(Order { command, plan }: &Order, temporary: &Temporary) -> io::Result<Pid> {
    set_child_subreaper(Some(getpid()))?;
    let (mut child, _opened) = child(command, plan, temporary)?;
    child.stdin(Stdio::null());
    let child = child.spawn()?;
    let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
    Pid::from_raw(raw).ok_or_else(|| io::Error::other("a process without a number"))
}

/// The process that becomes the command, and what must be open when it starts.
#[expect(clippy::disallowed_methods, reason = "the one door to a command, which gives it a box and an end")]
fn child(command: &str, plan: &Plan, temporary: &Temporary) -> io::Result<(Command, Vec<OwnedFd>)> {
    match &plan.confinement {
        Confinement::Bubblewrap { program, binds_opened } => {
            let start = bubblewrap::start(plan, *binds_opened, command)?;
            let mut child = Command::new(program);
            child.args(start.arguments);
            Ok((child, start.opened))
        }
        Confinement::Landlock { .. } | Confinement::None => {
            if plan.confinement == (Confinement::Landlock { namespaces: true }) {
                namespaces::enter(plan)?;
            }
            let mut child = Command::new("/proc/self/exe");
            child.args([WORD, "confine", &serde_json::to_string(plan)?, command]).env("TMPDIR", &temporary.0);
            Ok((child, Vec::new()))
        }
    }
}

/// Waits for the command to end, or for the line to be closed.
fn watch(line: &UnixStream, pid: Pid) -> Result<Ended, Errno> {
    let command = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let mut events = [PollFd::new(&command, PollFlags::IN), PollFd::new(line, PollFlags::IN)];
        match poll(&mut events, None) {
            Err(Errno::INTR) => continue,
            polled => polled?,
        };
        if !events[0].revents().is_empty() {
            let status = waitpid(Some(pid), WaitOptions::empty())?.map(|(_, status)| status);
            let signal = status.and_then(|status| status.terminating_signal()).map(Ended::Signal);
            let exit = status.and_then(|status| status.exit_status()).map(Ended::Exit);
            return Ok(exit.or(signal).unwrap_or_else(|| Ended::Fault("it ended without a status".to_owned())));
        }
        // Nothing is ever said on the line after the order: whatever happens to it is its end.
        if !events[1].revents().is_empty() {
            return Ok(Ended::Fault("it was stopped".to_owned()));
        }
    }
}

/// A folder for the command's own temporary files, removed with everything in it.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("entourage-{:016x}", fastrand::u64(..)));
        // It must not be there: somebody else may have put it there.
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whoever still writes there is about to be ended; what cannot be removed then is the system's to clean up.
        descendants::end_all();
        _ = std::fs::remove_dir_all(&self.0);
    }
}
