//! What handlers share.

use crate::codes::Codes;
use crate::current::{Current, Teams};
use crate::fault::Fault;
use crate::glance::Glances;
use crate::identity::Identity;
use crate::meters::Meters;
use crate::tasks::Refusals;
use crate::token::{Bearer, Token, Tokens};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use entourage_model::Team;
use entourage_runtime::{RunRow, Runtime, RuntimeError};
use std::convert::Infallible;
use std::sync::Arc;

/// Everything that a request may need. Clones share it.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) runtime: Runtime,
    current: Arc<Current>,
    pub(crate) tokens: Tokens,
    pub(crate) meters: Meters,
    pub(crate) refusals: Refusals,
    pub(crate) codes: Codes,
    pub(crate) identity: Option<Identity>,
    pub(crate) glances: Glances,
    /// Whose threads are there for this request; everybody's where there is none.
    pub(crate) user: Option<Arc<str>>,
    /// Whoever asks may change something, so that what is read counts as read.
    pub(crate) may_write: bool,
}

/// The service as it is for whoever sent the request. Handlers that know of threads take it in place of the state.
#[derive(Debug)]
pub(crate) struct Admitted(pub(crate) Service);

impl FromRequestParts<Service> for Admitted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Infallible> {
        let bearer = parts.extensions.get::<Bearer>().expect("whoever comes past the guard has a token");
        let service = service.for_user(bearer.user.clone());
        Ok(Self(Service { may_write: bearer.may_write, ..service }))
    }
}

impl Service {
    pub fn new(runtime: Runtime, teams: Arc<dyn Teams>, tokens: Tokens) -> Self {
        runtime.expect_readers();
        Self {
            runtime,
            current: Arc::new(Current::new(teams)),
            tokens,
            meters: Meters::default(),
            refusals: Refusals::default(),
            codes: Codes::default(),
            identity: None,
            glances: Glances::default(),
            user: None,
            may_write: true,
        }
    }

    /// Proves to whoever doubts it that this is the server of that key.
    pub fn identified(self, identity: Identity) -> Self {
        Self { identity: Some(identity), ..self }
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

    /// The name that whoever asks has chosen for something, apart from what others call the same.
    pub(crate) fn own_name(&self, name: &str) -> String {
        match &self.user {
            Some(user) => format!("{user}/{name}"),
            // No user's name is empty.
            None if name.contains('/') => format!("/{name}"),
            None => name.to_owned(),
        }
    }

    /// Notes that somebody was given the result of an ended run. Whoever only looks changes nothing by it.
    pub(crate) async fn read(&self, row: &RunRow) -> Result<bool, RuntimeError> {
        let is_news = self.may_write && row.status.is_terminal() && row.delivered_at.is_none();
        // What a child came to is for its parent, whoever else looks at it.
        let is_news = is_news && row.parent.is_none();
        if is_news {
            self.runtime.mark_delivered(&row.id).await?;
        }
        Ok(is_news)
    }

    /// What the project declares at the moment.
    pub(crate) async fn team(&self) -> Arc<Team> {
        self.current.team().await
    }

    /// Why no thread can be made. Whoever declared the agent is told what is wrong with it.
    pub(crate) async fn refusal(&self, error: RuntimeError) -> Fault {
        let lack = match &error {
            RuntimeError::NoAgent(agent) => self.current.lack(agent.clone()).await,
            _ => None,
        };
        let fault = Fault::from(error);
        lack.into_iter().fold(fault, |fault, lack| fault.because(&lack))
    }
}
