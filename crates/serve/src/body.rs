//! A request's body as JSON of a given type.

use crate::fault::Fault;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(60);

/// An empty body is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Fault> {
        let Raw(bytes) = Raw::from_request(request, state).await?;
        let text = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        // The reader would take a list for an object whose names were left out.
        if matches!(text.trim_ascii_start().first(), Some(first) if *first != b'{') {
            return Err(Fault::new(StatusCode::BAD_REQUEST, "invalid_body", "the body must be a JSON object"));
        }
        let value = serde_json::from_slice(text).map_err(|fault| {
            let code = if fault.is_data() { "invalid_body" } else { "invalid_json" };
            Fault::new(StatusCode::BAD_REQUEST, code, format!("the body does not fit: {fault}"))
        })?;
        Ok(Self(value))
    }
}

/// The body as it came.
#[derive(Debug)]
pub(crate) struct Raw(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Fault> {
        match tokio::time::timeout(BODY_TIME, Bytes::from_request(request, state)).await {
            Ok(Ok(bytes)) => Ok(Self(bytes)),
            Ok(Err(fault)) => Err(refused(&fault)),
            Err(_) => Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", "the body took too long to come")),
        }
    }
}

fn refused(fault: &BytesRejection) -> Fault {
    if fault.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "the body is too large")
            .hint("`http_body_bytes` in `[limits]` says how large it may be");
    }
    Fault::bad_request("the body cannot be read")
}

/// A map in which no name stands twice: whoever wrote one twice meant only one of them.
pub(crate) fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Unique;

    impl<'de> Visitor<'de> for Unique {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("names and texts")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Self::Value, M::Error> {
            let mut map = BTreeMap::new();
            while let Some((name, value)) = entries.next_entry::<String, String>()? {
                if map.contains_key(&name) {
                    return Err(M::Error::custom(format_args!("`{name}` stands there twice")));
                }
                map.insert(name, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Unique)
}
