//! Why a process ended otherwise than well: the numbers that scripts see.

use std::process::ExitCode;

/// The numbers are part of the contract with scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for, or what an author wrote.
    Usage = 1,
    /// The machine: it cannot be read or written, or something is in the way.
    File = 2,
    /// A registry or another server, or the way to it.
    Network = 3,
    /// The packages that an artifact depends on.
    Packages = 4,
    /// What the target cannot hold.
    Unfaithful = 5,
    /// A digest, a size, a signature or an archive that is not what it must be.
    Integrity = 6,
    AgentFailed = 7,
    /// Somebody asked to stop.
    Cancelled = 8,
    /// The store refused.
    Store = 9,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
