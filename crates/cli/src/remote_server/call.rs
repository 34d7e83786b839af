//! One request to the server and what came of it.

use crate::failure::{Exit, Failure, UNANSWERED};
use bytes::Bytes;
use entourage_model::Report;
use entourage_runtime::RuntimeError;
use entourage_serve::Token;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::{Display, Write as _};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

/// A server on this machine takes a connection at once.
const CONNECT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Desk {
    address: SocketAddr,
    /// None for whoever has not shown yet that it is our server.
    token: Option<Token>,
}

impl Desk {
    pub(super) fn new(address: SocketAddr, token: Option<Token>) -> Self {
        Self { address, token }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, Failure> {
        let (response, _sender) = self.send("GET", path, &Value::Null).await?;
        Answer::read(response).await
    }

    /// Posts the document, or nothing if it is null.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Answer, Failure> {
        let (response, _sender) = self.send("POST", path, body).await?;
        Answer::read(response).await
    }

    pub(super) async fn events(&self, path: &str) -> Result<Events, Failure> {
        let (response, sender) = self.send("GET", path, &Value::Null).await?;
        if response.status().is_success() {
            return Ok(Events { body: response.into_body(), bytes: Vec::new(), _sender: sender });
        }
        Err(Answer::read(response).await?.refused())
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<(Response<Incoming>, SendRequest<Full<Bytes>>), Failure> {
        let mut request = Request::builder().method(method).uri(path).header(HOST, self.address.to_string());
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {}", token.reveal()));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(body)).map_err(unanswered)?;
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect(self.address)).await;
        let stream = connected.map_err(unanswered)?.map_err(unanswered)?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(unanswered)?;
        // It ends with the sender and the body.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(unanswered)?;
        Ok((response, sender))
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    body: Value,
}

impl Answer {
    async fn read(response: Response<Incoming>) -> Result<Self, Failure> {
        let status = response.status();
        let bytes = response.into_body().collect().await.map_err(unanswered)?.to_bytes();
        Ok(Self { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) })
    }

    pub(super) fn is_good(&self) -> bool {
        self.status.is_success()
    }

    /// Why it was refused, for programs.
    pub(super) fn code(&self) -> Option<&str> {
        self.body["error"]["code"].as_str()
    }

    pub(super) fn document<T: DeserializeOwned>(self) -> Result<T, Failure> {
        if self.is_good() { read(self.body) } else { Err(self.refused()) }
    }

    /// Nothing for what is not there.
    pub(super) fn found<T: DeserializeOwned>(self) -> Result<Option<T>, Failure> {
        if self.status == StatusCode::NOT_FOUND { Ok(None) } else { self.document().map(Some) }
    }

    /// In the words of a command that does it without a server, where there are any.
    fn refused(&self) -> Failure {
        let message = self.body["error"]["message"].as_str().unwrap_or("it gave no reason");
        match self.code() {
            Some("terminated") => Failure::of_runtime(&RuntimeError::Terminated, ""),
            Some("queue_full") => Failure::of_runtime(&RuntimeError::QueueFull, ""),
            Some("message_too_large") => Failure::usage(
                Report::error("C023", message)
                    .hint("give the long part as a file of the thread, or raise `message_bytes` in `[limits]`"),
            ),
            Some("not_found") => Failure::usage(
                Report::error("C020", message).hint("`entourage threads` and `entourage runs` list what there is"),
            ),
            // It is about to end, or cannot reach its store: whoever asks again finds what is then.
            Some("unavailable") => unanswered(message),
            Some("damaged") => Failure::new(
                Exit::Store,
                Report::error("C017", message).hint(
                    "stop the server, then `entourage store check` says more; restore a copy, or delete the thread",
                ),
            ),
            _ => {
                let what = format!("the server that holds the data folder refused ({}): {message}", self.status);
                Failure::new(Exit::Store, Report::error("C050", what))
            }
        }
    }
}

/// One event of a stream; only durable ones have a number.
#[derive(Debug)]
pub(crate) struct Event {
    pub(super) number: Option<u64>,
    pub(crate) document: Value,
}

/// A stream of events. Dropping it closes its connection.
#[derive(Debug)]
pub(crate) struct Events {
    body: Incoming,
    bytes: Vec<u8>,
    _sender: SendRequest<Full<Bytes>>,
}

impl Events {
    /// The next event; none once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|pair| pair == b"\n\n") {
                let rest = self.bytes.split_off(end + 2);
                let block = std::mem::replace(&mut self.bytes, rest);
                if let Some(event) = parsed(&String::from_utf8_lossy(&block)) {
                    return Some(event);
                }
                continue;
            }
            let frame = self.body.frame().await?.ok()?;
            self.bytes.extend_from_slice(frame.data_ref().map_or(&[], |bytes| bytes));
        }
    }
}

/// Nothing for a block without data, such as what keeps a connection open.
fn parsed(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    let document = serde_json::from_str(field("data:")?).ok()?;
    Some(Event { number: field("id:").and_then(|id| id.parse().ok()), document })
}

pub(super) fn read<T: DeserializeOwned>(document: Value) -> Result<T, Failure> {
    serde_json::from_value(document).map_err(|fault| {
        let what = format!("the server's answer cannot be understood: {fault}");
        Failure::new(Exit::Store, Report::error("C050", what).hint("use the same version of entourage as the server"))
    })
}

/// Text for a URL: everything but letters, digits and four signs is escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(byte.into());
        } else {
            _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

fn unanswered(fault: impl Display) -> Failure {
    let what = format!("the server that holds the data folder does not answer: {fault}");
    Failure::new(Exit::Store, Report::error(UNANSWERED, what).hint("if it was just ended, try again"))
}
