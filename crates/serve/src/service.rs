//! What handlers share.

use crate::meters::Meters;
use crate::tasks::Refusals;
use crate::token::Tokens;
use entourage_model::Team;
use entourage_runtime::Runtime;
use std::fmt::Debug;
use std::sync::Arc;

/// Gives the team that new root threads are started from. Declarations may have changed since the last call.
pub trait Teams: Debug + Send + Sync + 'static {
    fn current(&self) -> Arc<Team>;
}

/// Everything that a request may need. Clones share it.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) runtime: Runtime,
    teams: Arc<dyn Teams>,
    pub(crate) tokens: Tokens,
    pub(crate) meters: Meters,
    pub(crate) refusals: Refusals,
}

impl Service {
    pub fn new(runtime: Runtime, teams: Arc<dyn Teams>, tokens: Tokens) -> Self {
        Self { runtime, teams, tokens, meters: Meters::default(), refusals: Refusals::default() }
    }

    /// Reading declarations blocks; nobody else waits for it.
    pub(crate) async fn team(&self) -> Arc<Team> {
        let teams = Arc::clone(&self.teams);
        match tokio::task::spawn_blocking(move || teams.current()).await {
            Ok(team) => team,
            Err(broken) => std::panic::resume_unwind(broken.into_panic()),
        }
    }
}
