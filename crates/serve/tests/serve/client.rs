//! A client that sends what it is told to, also what no decent client would.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let document = serde_json::from_slice(&self.body);
        assert!(document.is_ok(), "not JSON: {self:?}");
        document.unwrap()
    }

    /// The status, and that the body says why in our own form; returns the code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let document = self.json();
        let error = document["error"].as_object().unwrap();
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{self:?}");
        assert!(error.keys().all(|key| ["code", "message", "hint"].contains(&key.as_str())), "{self:?}");
        error["code"].as_str().unwrap().to_owned()
    }
}

pub(crate) async fn open(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let response = open(address).await.send_request(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}

/// Sends these bytes and returns everything that comes back until the server closes the connection.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has read enough may close before everything is sent.
    _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// An open event stream.
#[derive(Debug)]
pub(crate) struct Events {
    body: Incoming,
    text: String,
    /// Kept because the connection ends with it.
    _sender: SendRequest<Full<Bytes>>,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>, sender: SendRequest<Full<Bytes>>) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new(), _sender: sender }
    }

    /// The next event; none once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines().filter_map(|line| line.strip_prefix(name));
                    lines.map(|value| value.strip_prefix(' ').unwrap_or(value).to_owned()).next()
                };
                let (id, data) = (field("id:"), field("data:"));
                self.text = rest.to_owned();
                if let Some(data) = data {
                    return Some(Event { id: id.map(|id| id.parse().unwrap()), data });
                }
                continue;
            }
            let frame = self.body.frame().await?.ok()?;
            self.text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// The next durable event.
    pub(crate) async fn next_kept(&mut self) -> Option<Event> {
        loop {
            let event = self.next().await?;
            if event.id.is_some() {
                return Some(event);
            }
        }
    }

    /// So many durable events.
    pub(crate) async fn kept(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next_kept().await.unwrap());
        }
        events
    }

    /// Every durable event until the stream ends.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next_kept().await {
            events.push(event);
        }
        events
    }
}
