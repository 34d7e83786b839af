//! The doors of this crate: processes that it starts, and files that they leave behind.

use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "the one door for processes of this crate")]
pub(crate) fn command(program: &Path) -> tokio::process::Command {
    tokio::process::Command::new(program)
}

/// The lines of a ledger; none where nobody has written one.
#[expect(clippy::disallowed_methods, reason = "the driver's own ledger")]
pub(crate) fn lines(ledger: &Path) -> anyhow::Result<Vec<String>> {
    match std::fs::read_to_string(ledger) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(fault) => Err(fault.into()),
    }
}
