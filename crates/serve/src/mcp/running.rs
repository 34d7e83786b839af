//! Calls that are under way, so that whoever made one can take it back.

use crate::token::Bearer;
use axum::http::request::Parts;
use rmcp::model::{Extensions, RequestId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// What a client names itself by over HTTP, where it does: we give it out and never insist on it.
pub(super) const SESSION: &str = "mcp-session-id";

/// Who made a call, and by which number. Clients that do not say who they are share what is left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    user: Option<Arc<str>>,
    session: String,
    id: String,
}

/// The key of a request that came this way.
pub(super) fn key(extensions: &Extensions, id: &RequestId) -> Key {
    key_of(extensions.get::<Parts>(), id)
}

pub(super) fn key_of(parts: Option<&Parts>, id: &RequestId) -> Key {
    let session = parts.and_then(|parts| parts.headers.get(SESSION)?.to_str().ok()).unwrap_or_default();
    let user = parts.and_then(|parts| parts.extensions.get::<Bearer>()?.user.clone());
    Key { user, session: session.to_owned(), id: id.to_string() }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    entered: u64,
    /// Each with the number by which it entered.
    by_key: HashMap<Key, Vec<(u64, CancellationToken)>>,
}

/// A call that is under way. Dropping it forgets the call.
#[derive(Debug)]
pub(super) struct Call {
    running: Running,
    key: Key,
    number: u64,
    token: CancellationToken,
}

impl Running {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, key: Key) -> Call {
        let token = CancellationToken::new();
        let mut calls = self.calls();
        calls.entered += 1;
        let number = calls.entered;
        calls.by_key.entry(key.clone()).or_default().push((number, token.clone()));
        Call { running: self.clone(), key, number, token }
    }

    /// Takes a call back. Where two clients that cannot be told apart have one number, nobody's is.
    pub(super) fn cancel(&self, key: &Key) {
        if let Some([(_, token)]) = self.calls().by_key.get(key).map(Vec::as_slice) {
            token.cancel();
        }
    }
}

impl Call {
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.token.clone()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut calls = self.running.calls();
        let Some(entries) = calls.by_key.get_mut(&self.key) else { return };
        entries.retain(|(number, _)| *number != self.number);
        if entries.is_empty() {
            calls.by_key.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session: &str, id: &str) -> Key {
        Key { user: None, session: session.to_owned(), id: id.to_owned() }
    }

    #[test]
    fn only_the_call_that_is_meant_is_taken_back() {
        let running = Running::default();
        let (mine, other) = (running.enter(key("a", "1")), running.enter(key("b", "1")));
        running.cancel(&key("a", "1"));
        running.cancel(&key("a", "2"));
        assert!(mine.cancelled().is_cancelled() && !other.cancelled().is_cancelled());
        drop(mine);
        assert_eq!(running.calls().by_key.len(), 1);
        let again = running.enter(key("b", "1"));
        running.cancel(&key("b", "1"));
        assert!(!other.cancelled().is_cancelled(), "nobody knows which of the two is meant");
        drop(other);
        running.cancel(&key("b", "1"));
        assert!(again.cancelled().is_cancelled());
    }
}
