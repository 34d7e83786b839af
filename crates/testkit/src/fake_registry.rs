//! A registry on loopback that keeps everything in memory, and lies when a test tells it to.

mod body;
mod server;
mod upload;

use body::Sent;
use bytes::Bytes;
use entourage_model::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub const USERNAME: &str = "alice";
pub const PASSWORD: &str = "open-sesame";
/// What the token service gives to whoever proves who they are, or asks only to read.
pub const TOKEN: &str = "token-123";

/// Whom the registry answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    #[default]
    Open,
    /// [`USERNAME`] and [`PASSWORD`] with every request.
    Password,
    /// A token of its own service, which takes the password.
    Token,
}

/// What it says in place of the truth.
#[derive(Clone, Debug)]
pub enum Lie {
    /// Other bytes for a blob.
    Blob(Digest, Bytes),
    /// Announces the whole blob, sends so many bytes and hangs up; so often.
    Cut { blob: Digest, after: usize, times: usize },
    /// Sends half of a blob and then nothing.
    Silent(Digest),
    /// The header `Docker-Content-Digest` of every manifest.
    ContentDigest(String),
    /// Other bytes for whatever is asked for by this tag or digest.
    Manifest(String, Bytes),
    /// Announces every manifest whole, sends so many bytes and hangs up.
    CutManifest(usize),
    /// A manifest that never ends.
    Endless,
    /// Answers 503 so often, whatever is asked for.
    Busy { times: usize },
    /// Sends everybody who needs a token to this address.
    Realm(String),
    /// Sends everybody who wants a blob to the registry at this address.
    Blobs(String),
}

#[derive(Debug, Default)]
struct State {
    door: Door,
    /// Whether it knows the referrers API.
    lists_attached: bool,
    /// By repository and by tag or digest: media type and bytes.
    manifests: BTreeMap<(String, String), (String, Bytes)>,
    blobs: BTreeMap<String, Bytes>,
    /// Whether a blob is only in the repositories that it was sent to.
    keeps_apart: bool,
    /// Repository and digest of what was sent, or taken over.
    links: BTreeSet<(String, String)>,
    /// What has arrived of blobs that are sent in pieces, by the number of the upload.
    uploads: BTreeMap<String, Vec<u8>>,
    /// Longer bodies of requests are refused.
    body_bytes_max: Option<usize>,
    lies: Vec<Lie>,
    /// Method and path of every request.
    log: Vec<String>,
    /// `Authorization` of every request.
    credentials: Vec<Option<String>>,
    /// `Authorization` and query of every request for a token.
    tokens: Vec<(Option<String>, String)>,
}

/// A running registry. Dropping it ends the server.
#[derive(Debug)]
pub struct FakeRegistry {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Rung with every request.
    bell: Arc<Notify>,
    /// Owns the listener and all connections; aborted by `drop`.
    accepting: JoinHandle<()>,
}

impl FakeRegistry {
    pub async fn start(door: Door) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(Mutex::new(State { door, lists_attached: true, ..State::default() }));
        let bell = Arc::new(Notify::new());
        let accepting = tokio::spawn(server::serve(listener, Arc::clone(&state), Arc::clone(&bell), address));
        Self { address, state, bell, accepting }
    }

    /// The host of references, with its port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Without the referrers API, as older registries are.
    #[must_use]
    pub fn without_referrers(self) -> Self {
        self.state().lists_attached = false;
        self
    }

    /// With repositories that do not share their blobs, as real registries are.
    #[must_use]
    pub fn keeping_apart(self) -> Self {
        self.state().keeps_apart = true;
        self
    }

    /// Behind a proxy that refuses longer bodies.
    #[must_use]
    pub fn with_bodies_of(self, bytes_max: usize) -> Self {
        self.state().body_bytes_max = Some(bytes_max);
        self
    }

    pub fn put_blob(&self, bytes: impl Into<Bytes>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        self.state().blobs.insert(digest.to_string(), bytes);
        digest
    }

    /// Known by the tag and by its digest.
    pub fn put_manifest(&self, repository: &str, tag: &str, media_type: &str, bytes: impl Into<Bytes>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let mut state = self.state();
        for name in [tag.to_owned(), digest.to_string()] {
            state.manifests.insert((repository.to_owned(), name), (media_type.to_owned(), bytes.clone()));
        }
        digest
    }

    pub fn manifest(&self, repository: &str, wanted: &str) -> Option<Bytes> {
        let key = (repository.to_owned(), wanted.to_owned());
        self.state().manifests.get(&key).map(|(_, bytes)| bytes.clone())
    }

    pub fn blob(&self, digest: Digest) -> Option<Bytes> {
        self.state().blobs.get(&digest.to_string()).cloned()
    }

    pub fn lie(&self, lie: Lie) {
        self.state().lies.push(lie);
    }

    /// Nothing but the truth from now on.
    pub fn be_honest(&self) {
        self.state().lies.clear();
    }

    /// Method and path of every request so far.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// Waits until something whose path has these words was asked for. Has no deadline of its own.
    pub async fn until_asked(&self, words: &str) {
        loop {
            let rung = self.bell.notified();
            if self.state().log.iter().any(|line| line.contains(words)) {
                return;
            }
            rung.await;
        }
    }

    /// `Authorization` of every request so far.
    pub fn credentials_seen(&self) -> Vec<Option<String>> {
        self.state().credentials.clone()
    }

    /// `Authorization` and query of every request for a token so far.
    pub fn token_requests(&self) -> Vec<(Option<String>, String)> {
        self.state().tokens.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for FakeRegistry {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
