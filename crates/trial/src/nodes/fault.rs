//! What can happen to nodes and to the database between them.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Fault {
    /// A node is killed at once, and another one started in its place.
    Kill,
    /// A node is stopped for longer than it lives unheard, and goes on afterwards.
    Pause,
    /// A node is asked to end, hands its threads over, and another one is started in its place.
    Drain,
    /// PostgreSQL is stopped at once and started again.
    Restart,
    /// Every connection to the database is cut.
    Cut,
}

impl Fault {
    pub const ALL: [Self; 5] = [Self::Kill, Self::Pause, Self::Drain, Self::Restart, Self::Cut];

    /// Each in turn first, so that even a few rounds have seen all of them; then by chance.
    pub(super) fn of_round(round: usize) -> Self {
        let place = if round < Self::ALL.len() { round } else { fastrand::usize(..Self::ALL.len()) };
        Self::ALL[place]
    }
}
