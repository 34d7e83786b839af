//! How a store is opened: what the address says, and what the program adds.

use entourage_store::{Clock, NODE_LIFE};
use std::time::Duration;

/// What the program decides about a store, beside its address.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a node lives from one heartbeat to the next. All processes of a database must agree on it.
    pub node_life: Duration,
    /// What `now` tells instead of an estimate of the database's clock: for tests that move that one by hand.
    pub clock: Option<Clock>,
    /// How long a server that does not answer is waited for, beginning with the second attempt.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { node_life: NODE_LIFE, clock: None, patience: Duration::from_secs(10) }
    }
}

/// The address as people may read it: without its password.
pub fn place(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres".to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}
