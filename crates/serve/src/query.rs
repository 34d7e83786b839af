//! What stands behind the `?` of a request, as a given type.

use crate::fault::Fault;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// Unknown names are refused: a filter that is not heeded would give the wrong rows.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(fault) => Err(Fault::bad_request(fault.body_text())),
        }
    }
}

/// A whole number that is not negative, in the range that JSON programs agree upon.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse::<i64>().ok().and_then(|number| u64::try_from(number).ok())
}

/// `true` or `false`; absent is false.
pub(crate) fn flag(name: &str, text: Option<&str>) -> Result<bool, Fault> {
    match text {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(_) => Err(Fault::bad_request(format!("`{name}` must be `true` or `false`"))),
    }
}
