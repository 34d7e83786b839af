//! Plain HTTP to one address, without detours: connections that are kept and asked again.
//!
//! What a client for everything does for each request is done once: the address is taken apart and the headers are
//! made. TLS, a password in the address and redirects are left to [`Http`](super::http::Http).

use super::failure::FailedAttempt;
use super::http::{
    CONNECT_SECONDS_MAX, IDLE_PER_HOST_MAX, IDLE_SECONDS_MAX, KEEP_ALIVE_SECONDS, USER_AGENT, broken_connection,
    not_reached, not_reached_in_time,
};
use super::quick_ack::QuickAck;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, LOCATION, USER_AGENT as AGENT};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service as _;

const IDLE_MAX: Duration = Duration::from_secs(IDLE_SECONDS_MAX);

/// Where one kind of request goes: a POST of JSON.
pub(super) struct Direct {
    url: Url,
    /// Without scheme and authority, as it stands in the request.
    path: hyper::Uri,
    headers: HeaderMap,
    connector: HttpConnector,
    pool: Arc<Pool>,
}

type Sender = SendRequest<Full<Bytes>>;

/// Connections without a request.
#[derive(Default)]
struct Pool {
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    /// The one that was used last stands last.
    idle: Vec<(Sender, Instant)>,
    /// Somebody will look through them in time.
    is_watched: bool,
}

/// An answer whose body is still coming. Dropping it closes the connection, unless the body was read to its end.
pub(super) struct DirectAnswer {
    pub(super) response: hyper::Response<Incoming>,
    /// Goes back to the pool at the body's end.
    sender: Option<Sender>,
    pool: Arc<Pool>,
}

impl Direct {
    /// `None` where more is needed than this can do.
    pub(super) fn new(url: &Url, authorization: Option<HeaderValue>) -> Option<Self> {
        let has_password = !url.username().is_empty() || url.password().is_some();
        if url.scheme() != "http" || has_password {
            return None;
        }
        let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let host = url.host_str()?;
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let mut headers = HeaderMap::with_capacity(5);
        headers.insert(HOST, host.parse().ok()?);
        headers.insert(AGENT, HeaderValue::from_static(USER_AGENT));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(authorization.map(|value| (reqwest::header::AUTHORIZATION, value)));
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_keepalive(Some(Duration::from_secs(KEEP_ALIVE_SECONDS)));
        Some(Self { path: path.parse().ok()?, url: url.clone(), headers, connector, pool: Arc::default() })
    }

    /// Sends the request and waits for the head of the answer.
    pub(super) async fn send(&self, body: Bytes) -> Result<DirectAnswer, FailedAttempt> {
        let mut request = hyper::Request::new(Full::new(body));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        loop {
            let kept = self.pool.take();
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            if sender.ready().await.is_err() && is_kept {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(DirectAnswer { response, sender: Some(sender), pool: self.pool.clone() }),
                Err(mut unsent) => match unsent.take_message() {
                    // Closed while it was kept, before anything was sent.
                    Some(again) if is_kept => request = again,
                    _ => return Err(broken_connection(unsent.error())),
                },
            }
        }
    }

    async fn connect(&self) -> Result<Sender, FailedAttempt> {
        let address = self.url.as_str().parse().map_err(|error| not_reached(&error))?;
        let connecting = self.connector.clone().call(address);
        let stream = timeout(Duration::from_secs(CONNECT_SECONDS_MAX), connecting).await;
        let stream = stream.map_err(|_| not_reached_in_time())?.map_err(|error| not_reached(&error))?;
        let (sender, connection) = handshake(QuickAck::new(stream)).await.map_err(|error| not_reached(&error))?;
        // Ends when the sender is dropped or the other side hangs up; what broke is told to whoever waits for it.
        tokio::spawn(async move { _ = connection.await });
        Ok(sender)
    }

    /// Whether the answer is elsewhere on the same host, where a key may go too.
    pub(super) fn is_moved(&self, answer: &DirectAnswer) -> bool {
        let location = answer.response.headers().get(LOCATION).filter(|_| answer.response.status().is_redirection());
        let target = location.and_then(|location| self.url.join(location.to_str().ok()?).ok());
        target.is_some_and(|target| target.origin() == self.url.origin())
    }
}

impl DirectAnswer {
    /// The next bytes of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, FailedAttempt> {
        while let Some(frame) = self.response.body_mut().frame().await {
            if let Ok(data) = frame.map_err(|error| broken_connection(&error))?.into_data() {
                return Ok(Some(data));
            }
        }
        if let Some(sender) = self.sender.take() {
            self.pool.keep(sender);
        }
        Ok(None)
    }
}

impl Pool {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Sender> {
        let mut shelf = self.shelf();
        std::iter::from_fn(|| shelf.idle.pop()).map(|(sender, _)| sender).find(|sender| !sender.is_closed())
    }

    fn keep(self: &Arc<Self>, sender: Sender) {
        let mut shelf = self.shelf();
        if sender.is_closed() || shelf.idle.len() >= IDLE_PER_HOST_MAX {
            return;
        }
        shelf.idle.push((sender, Instant::now()));
        if !std::mem::replace(&mut shelf.is_watched, true) {
            tokio::spawn(tidy(Arc::downgrade(self)));
        }
    }
}

/// Closes what nobody has used for long, until nothing is kept.
async fn tidy(pool: Weak<Pool>) {
    loop {
        sleep(IDLE_MAX).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut shelf = pool.shelf();
        shelf.idle.retain(|(sender, since)| since.elapsed() < IDLE_MAX && !sender.is_closed());
        if shelf.idle.is_empty() {
            shelf.is_watched = false;
            return;
        }
    }
}
