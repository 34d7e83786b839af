//! What a keeper is told, and what it tells.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One command, and the box for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) command: String,
    pub(crate) plan: Plan,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) confinement: Confinement,
    /// The working folder, and the only one that may be changed.
    pub(crate) workspace: PathBuf,
    /// The program's own folder, which is neither read nor changed.
    pub(crate) closed: Option<PathBuf>,
    /// What may be read beside it.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) network: bool,
    /// How much memory each process may ask for.
    pub(crate) bytes_max: u64,
}

/// The kind of box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confinement {
    Bubblewrap {
        program: PathBuf,
        /// It takes what is open already, and not only paths.
        binds_opened: bool,
    },
    Landlock {
        /// The kernel lets us have namespaces of our own.
        namespaces: bool,
    },
    None,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    Exit(i32),
    Signal(i32),
    /// It was not started.
    Fault(String),
}
