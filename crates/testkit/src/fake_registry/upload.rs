//! Blobs on their way in: taken over from another repository, sent whole, or in pieces.

use super::server::{Wanted, finish, said, unknown};
use super::{Sent, State};
use bytes::Bytes;
use entourage_model::Digest;
use hyper::Response;
use hyper::header::LOCATION;
use serde_json::json;

pub(super) fn begin(state: &mut State, wanted: &Wanted) -> Response<Sent> {
    if let (Some(digest), Some(from)) = (parameter(&wanted.query, "mount"), parameter(&wanted.query, "from"))
        && state.links.contains(&(from, digest.clone()))
    {
        state.links.insert((wanted.repository.clone(), digest));
        return finish(Response::builder().status(201), Bytes::new());
    }
    let number = (state.uploads.len() + 1).to_string();
    state.uploads.insert(number.clone(), Vec::new());
    go_on(wanted, &number)
}

/// A piece, which must begin where the last one ended.
pub(super) fn add(state: &mut State, wanted: &Wanted, body: &Bytes) -> Response<Sent> {
    let Some(arrived) = state.uploads.get_mut(&wanted.name) else { return unknown() };
    let expected = format!("{}-{}", arrived.len(), arrived.len() + body.len() - 1);
    if wanted.range != expected {
        return said(416, &json!({}));
    }
    arrived.extend_from_slice(body);
    go_on(wanted, &wanted.name)
}

pub(super) fn end(state: &mut State, wanted: &Wanted, body: &Bytes) -> Response<Sent> {
    let Some(mut bytes) = state.uploads.remove(&wanted.name) else { return unknown() };
    bytes.extend_from_slice(body);
    let digest = Digest::of(&bytes).to_string();
    if parameter(&wanted.query, "digest").as_deref() != Some(&digest) {
        return said(400, &json!({ "errors": [{ "code": "DIGEST_INVALID", "message": "other bytes" }] }));
    }
    state.links.insert((wanted.repository.clone(), digest.clone()));
    state.blobs.insert(digest, bytes.into());
    finish(Response::builder().status(201), Bytes::new())
}

fn go_on(wanted: &Wanted, number: &str) -> Response<Sent> {
    let place = format!("/v2/{}/uploads/{number}?session=7", wanted.repository);
    finish(Response::builder().status(202).header(LOCATION, place), Bytes::new())
}

/// A parameter of a query, with the two letters that digests and repositories have spelt out.
fn parameter(query: &str, name: &str) -> Option<String> {
    let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    Some(found.replace("%3A", ":").replace("%2F", "/"))
}
