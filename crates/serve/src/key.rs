//! `Idempotency-Key`: what makes a request the same as an earlier one.

use crate::fault::Fault;
use axum::http::HeaderMap;
use entourage_model::Digest;
use serde::Serialize;

pub(crate) const HEADER: &str = "idempotency-key";
const BYTES_MAX: usize = 256;

/// The key that came with a request, if one did.
pub(crate) fn given(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let is_plain = |text: &&str| !text.is_empty() && text.len() <= BYTES_MAX && !text.contains('\t');
    let text = value.to_str().ok().filter(is_plain);
    match (text, values.next()) {
        (Some(text), None) => Ok(Some(text.to_owned())),
        _ => Err(Fault::bad_request(format!("`{HEADER}` must be one text of at most {BYTES_MAX} bytes"))),
    }
}

/// Of a request as it was understood: spaces and the order of its fields make no difference.
pub(crate) fn digest(request: &impl Serialize) -> Digest {
    let bytes = serde_json::to_vec(request).expect("a request that was JSON can be written as JSON");
    Digest::of(&bytes)
}
