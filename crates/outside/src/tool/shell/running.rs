//! A command at work, and its keeper.

use super::ShellSettings;
use super::capture::{Captive, Captured};
use crate::sandbox::{Ended, Order};
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

const PIECE_BYTES: usize = 16 << 10;
/// What a keeper tells is a line.
const REPORT_BYTES_MAX: usize = 64 << 10;

/// Dropping it closes the line, and then the keeper ends the command with everything that it started.
#[derive(Debug)]
pub(super) struct Running {
    keeper: Child,
    /// Absent once it was closed.
    line: Option<UnixStream>,
    report: Vec<u8>,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Running {
    pub(super) async fn start(settings: &ShellSettings, order: &Order) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut line = UnixStream::from_std(ours)?;
        let mut keeper = keeper(settings, theirs.into())?;
        let pipes = (keeper.stdout.take(), keeper.stderr.take());
        let (Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("its output cannot be read")) };
        let mut text = serde_json::to_vec(order)?;
        text.push(b'\n');
        line.write_all(&text).await?;
        Ok(Self { keeper, line: Some(line), report: Vec::new(), stdout, stderr })
    }

    /// Reads everything until the command and its keeper are gone. It can be dropped and called again.
    pub(super) async fn finish(&mut self, captured: &mut Captured<'_>) -> Ended {
        let Self { keeper, line, report, stdout, stderr } = self;
        tokio::join!(drain(stdout, &mut captured.stdout), drain(stderr, &mut captured.stderr), async {
            if let Some(line) = line {
                hear(line, report).await;
            }
        },);
        // It has closed everything that it had: it is about to go.
        _ = keeper.wait().await;
        serde_json::from_slice(report).unwrap_or_else(|_| Ended::Fault("its keeper was killed".to_owned()))
    }

    /// Has everything ended. What was written until then can still be read.
    pub(super) fn stop(&mut self) {
        self.line = None;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one door for processes: a keeper with a line, which ends what it started"
)]
fn keeper(settings: &ShellSettings, line: OwnedFd) -> io::Result<Child> {
    let mut command = Command::new(&settings.keeper);
    command.args(["__sandbox", "keep"]).env_clear().envs(&settings.variables).current_dir("/");
    // A group of its own: whoever presses Ctrl-C means us, and we decide what becomes of it.
    command.process_group(0).stdin(Stdio::from(line)).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The command holds a copy of the keeper's end of the line, and is dropped here with it.
    command.spawn()
}

/// A pipe that breaks has nothing more to say.
async fn drain(pipe: &mut (impl AsyncRead + Unpin), captive: &mut Captive<'_>) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(length) = pipe.read(&mut piece).await
        && length > 0
    {
        captive.take(&piece[..length]);
    }
}

async fn hear(line: &mut UnixStream, report: &mut Vec<u8>) {
    let mut piece = [0; 1024];
    while let Ok(length) = line.read(&mut piece).await
        && length > 0
        && report.len() < REPORT_BYTES_MAX
    {
        report.extend_from_slice(&piece[..length]);
    }
}
