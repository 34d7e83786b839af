//! Bodies of events and lines as every backend keeps them: JSON, with the version that it was written in.

use crate::StoreError;
use entourage_model::{Body, JOURNAL_VERSION};

pub fn encode_body(body: &impl Body) -> Result<String, StoreError> {
    body.to_json().map_err(|fault| StoreError::Unavailable(format!("it cannot be written as JSON: {fault}")))
}

/// Fails for what a newer program has written.
pub fn decode_body<T: Body>(version: u32, bytes: &[u8]) -> Result<T, StoreError> {
    if version > JOURNAL_VERSION {
        return Err(StoreError::Newer { found: version, known: JOURNAL_VERSION });
    }
    T::from_json(bytes).map_err(|fault| StoreError::Corrupt(fault.to_string()))
}
