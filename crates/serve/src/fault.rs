//! What a request is refused with: a status, a code for programs, words for people.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use entourage_runtime::RuntimeError;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// Why a request was not answered as it wished.
#[derive(Debug)]
pub(crate) struct Fault {
    status: StatusCode,
    why: Why,
}

/// What was wrong in one text, for protocols that have no more room. It travels with the response.
#[derive(Clone, Debug)]
pub(crate) struct PlainFault(String);

impl PlainFault {
    /// The refusal as the task protocol writes it.
    pub(crate) fn rewrite(mut response: Response) -> Response {
        let Some(Self(error)) = response.extensions_mut().remove() else { return response };
        (response.status(), Json(PlainRefusal { error })).into_response()
    }
}

/// The body of every refusal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refusal {
    #[schema(inline)]
    error: Why,
}

/// The same under `/tasks`, whose protocol has one text for it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlainRefusal {
    error: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct Why {
    /// For programs.
    code: &'static str,
    /// For people.
    message: Cow<'static, str>,
    /// What could be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, why: Why { code, message: message.into(), hint: None } }
    }

    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    pub(crate) fn because(mut self, why: &str) -> Self {
        self.why.message = format!("{}: {why}", self.why.message).into();
        self
    }

    pub(crate) fn into_message(self) -> String {
        self.why.message.into_owned()
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.why.hint = Some(hint);
        self
    }
}

impl From<RuntimeError> for Fault {
    fn from(error: RuntimeError) -> Self {
        let message = error.to_string();
        let (status, code) = match &error {
            RuntimeError::NoThread(_) | RuntimeError::NoRun(_) => (StatusCode::NOT_FOUND, "not_found"),
            RuntimeError::NoAgent(_) => (StatusCode::NOT_FOUND, "unknown_agent"),
            RuntimeError::Terminated => (StatusCode::CONFLICT, "terminated"),
            RuntimeError::QueueFull => (StatusCode::TOO_MANY_REQUESTS, "queue_full"),
            RuntimeError::MessageTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "message_too_large"),
            RuntimeError::KeyConflict => (StatusCode::CONFLICT, "idempotency_conflict"),
            RuntimeError::Journal(_) | RuntimeError::Broken(_) | RuntimeError::Store(_) => {
                // Whoever asked can do nothing about it; whoever runs the server can.
                tracing::error!("a request failed: {message}");
                if error.damage().is_some() {
                    let message = "what the store holds of it cannot be read by this program";
                    return Self::new(StatusCode::SERVICE_UNAVAILABLE, "damaged", message)
                        .hint("`entourage store check` says more; a damaged thread can be deleted");
                }
                let message = "the store cannot be used right now";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
                    .hint("what was acknowledged is kept; try again");
            }
        };
        Self::new(status, code, message)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let plain = PlainFault(self.why.message.clone().into_owned());
        let mut response = (self.status, Json(Refusal { error: self.why })).into_response();
        response.extensions_mut().insert(plain);
        response
    }
}
