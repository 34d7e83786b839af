//! One-time codes: a link that was printed once opens the page, and is worth nothing afterwards.

use crate::body::Body;
use crate::fault::Fault;
use crate::service::Service;
use crate::token::{Token, equal};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use utoipa::ToSchema;

/// How long a code waits for somebody.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// Codes that nobody has used yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes(Arc<Mutex<Vec<Code>>>);

#[derive(Debug)]
struct Code {
    /// As hard to guess as a token.
    value: Token,
    opens: Token,
    until: Instant,
}

impl Codes {
    pub(crate) fn add(&self, value: Token, opens: Token) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Code { value, opens, until: Instant::now() + LIFE });
    }

    /// The token that the code stands for, once.
    fn take(&self, given: &str) -> Option<Token> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.until > Instant::now());
        let found = codes.iter().position(|code| equal(code.value.reveal().as_bytes(), given.as_bytes()))?;
        Some(codes.swap_remove(found).opens)
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Given {
    code: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Opened {
    token: String,
}

/// Exchanges the code of a printed link for the token. A code can be used once.
#[utoipa::path(post, path = "/session", tag = "page", request_body = Given, responses(
    (status = 200, description = "The token", body = Opened),
    (status = 401, description = "The code was used, is too old, or never was one"),
))]
pub(crate) async fn exchange(State(service): State<Service>, Body(given): Body<Given>) -> Result<Response, Fault> {
    let Some(token) = service.codes.take(&given.code) else {
        let fault =
            Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", "the code was used, is too old, or never was one");
        return Err(fault.hint("`entourage serve` prints a new link whenever it starts; the token itself works too"));
    };
    let opened = Opened { token: token.reveal().to_owned() };
    Ok(([(CACHE_CONTROL, "no-store")], Json(opened)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_code_works_once_and_not_for_ever() {
        let (codes, token) = (Codes::default(), Token::parse("0123456789abcdef").unwrap());
        let code = |text: &str| Token::parse(text).unwrap();
        codes.add(code("first-first-first"), token.clone());
        codes.add(code("second-second-second"), token);
        assert!(codes.take("first-first-firs").is_none());
        assert_eq!(codes.take("first-first-first").unwrap().reveal(), "0123456789abcdef");
        assert!(codes.take("first-first-first").is_none());
        tokio::time::advance(LIFE).await;
        assert!(codes.take("second-second-second").is_none());
    }
}
