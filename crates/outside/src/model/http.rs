//! The connections to all providers: one pool for plain HTTP, one for TLS, each made when first needed.

use super::failure::{FailedAttempt, FailureKind};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Url};
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const CONNECT_SECONDS_MAX: u64 = 10;
const REDIRECTS_MAX: usize = 3;
/// A thousand children of one root may ask at once, and all their connections are worth keeping.
pub(super) const IDLE_PER_HOST_MAX: usize = 2048;
pub(super) const IDLE_SECONDS_MAX: u64 = 60;
pub(super) const KEEP_ALIVE_SECONDS: u64 = 20;
pub(super) const USER_AGENT: &str = concat!("entourage/", env!("CARGO_PKG_VERSION"));

/// Reading the system's certificates takes longer than a whole local call, so plain HTTP does without.
#[derive(Debug, Default)]
pub(crate) struct Http {
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
}

impl Http {
    pub(crate) fn new() -> Self {
        // Refused when somebody was first; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self::default()
    }

    /// The client for `url`. Fails for as long as the process lives if the system has no certificates.
    pub(super) fn client(&self, url: &Url) -> Result<&Client, FailedAttempt> {
        self.open(url).map_err(|fault| FailedAttempt::lasting(FailureKind::Unreachable, fault))
    }

    /// The same, or why there is none.
    pub(crate) fn open(&self, url: &Url) -> Result<&Client, String> {
        let client = match url.scheme() {
            "http" => self.plain.get_or_init(|| build(builder().no_proxy().tls_certs_only([]))),
            _ => self.secure.get_or_init(|| build(builder())),
        };
        client.as_ref().map_err(|fault| format!("cannot be reached securely: {fault}"))
    }
}

/// What a request that broke down means for the next one.
pub(super) fn transport_failure(error: &reqwest::Error) -> FailedAttempt {
    if error.is_builder() || error.is_redirect() {
        return FailedAttempt::lasting(FailureKind::BadRequest, format!("could not be asked: {}", root_cause(error)));
    }
    if error.is_timeout() {
        return not_reached_in_time();
    }
    if error.is_connect() { not_reached(error) } else { broken_connection(error) }
}

pub(super) fn not_reached_in_time() -> FailedAttempt {
    let why = format!("could not be reached within {CONNECT_SECONDS_MAX} s");
    FailedAttempt::passing(FailureKind::Timeout, why)
}

pub(super) fn not_reached(error: &dyn Error) -> FailedAttempt {
    FailedAttempt::passing(FailureKind::Unreachable, format!("could not be reached: {}", root_cause(error)))
}

pub(super) fn broken_connection(error: &dyn Error) -> FailedAttempt {
    FailedAttempt::passing(FailureKind::Unreachable, format!("broke the connection: {}", root_cause(error)))
}

fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX))
        .redirect(Policy::custom(same_host))
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(KEEP_ALIVE_SECONDS))
        .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
        .pool_idle_timeout(Duration::from_secs(IDLE_SECONDS_MAX))
        .http2_keep_alive_interval(Duration::from_secs(KEEP_ALIVE_SECONDS))
        // A compressed stream arrives in lumps.
        .no_gzip()
}

fn build(builder: ClientBuilder) -> Result<Client, String> {
    builder.build().map_err(|error| root_cause(&error))
}

/// A request carries a key: it goes where it was sent, and nowhere else. Any other 30x is the answer itself.
fn same_host(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let is_same = attempt.previous().last().is_some_and(|previous| previous.origin() == attempt.url().origin());
    if is_same && attempt.previous().len() <= REDIRECTS_MAX { attempt.follow() } else { attempt.stop() }
}

/// The innermost error says what happened; the outer ones say where, with the URL.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
