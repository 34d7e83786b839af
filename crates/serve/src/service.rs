//! What handlers share.

use crate::codes::Codes;
use crate::meters::Meters;
use crate::tasks::Refusals;
use crate::token::{Bearer, Token, Tokens};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use entourage_model::Team;
use entourage_runtime::Runtime;
use std::convert::Infallible;
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
    pub(crate) codes: Codes,
    /// Whose threads are there for this request; everybody's where there is none.
    pub(crate) user: Option<Arc<str>>,
}

/// The service as it is for whoever sent the request. Handlers that know of threads take it in place of the state.
#[derive(Debug)]
pub(crate) struct Admitted(pub(crate) Service);

impl FromRequestParts<Service> for Admitted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Infallible> {
        let bearer = parts.extensions.get::<Bearer>().expect("whoever comes past the guard has a token");
        Ok(Self(service.for_user(bearer.user.clone())))
    }
}

impl Service {
    pub fn new(runtime: Runtime, teams: Arc<dyn Teams>, tokens: Tokens) -> Self {
        Self {
            runtime,
            teams,
            tokens,
            meters: Meters::default(),
            refusals: Refusals::default(),
            codes: Codes::default(),
            user: None,
        }
    }

    /// The same, as it is for this user.
    pub(crate) fn for_user(&self, user: Option<Arc<str>>) -> Self {
        Self { user, ..self.clone() }
    }

    /// Lets whoever has this code in as the owner, once and for a quarter of an hour. Without a token of the owner
    /// there is nothing that it could open.
    pub fn invite(&self, code: Token) -> bool {
        let owner = self.tokens.owner().cloned();
        owner.map(|owner| self.codes.add(code, owner)).is_some()
    }

    /// Whether something of this user is there for whoever asks.
    pub(crate) fn shows(&self, user: Option<&str>) -> bool {
        self.user.is_none() || self.user.as_deref() == user
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
