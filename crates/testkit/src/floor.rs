//! The floor of the fan-out benchmark: the same requests as a parent with N children makes, by a bare client that
//! decides nothing and stores nothing. What a runtime takes beyond this is its own cost.

mod conversation;
mod measure;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use self::conversation::{Child, Parent};

/// Connections in use at once, unless told otherwise.
pub const IN_FLIGHT_DEFAULT: NonZeroUsize = NonZeroUsize::new(1000).expect("a thousand is not zero");

/// What the file says that every child reads.
const NOTE: &str = "The quick brown fox jumps over the lazy dog.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Streamed,
    Plain,
}

#[derive(Debug, Clone)]
pub struct Settings {
    /// The base that `/chat/completions` is appended to.
    pub url: String,
    pub children: usize,
    /// The most connections at once; never more than children are opened.
    pub in_flight: NonZeroUsize,
    pub mode: Mode,
}

/// What it took. Processor time and memory are of the whole process, so nothing else should run in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub children: usize,
    pub wall_ms: f64,
    pub cpu_ms: f64,
    pub peak_kib: u64,
    pub requests: usize,
}

/// Plays the parent's first request, all children, and the parent's last request.
pub async fn run(settings: &Settings) -> Result<Measured> {
    let folder = tempfile::tempdir().context("a folder for the note")?;
    let note = folder.path().join("note.txt");
    write_note(&note).context("writing the note")?;
    let started = Instant::now();
    let floor = Arc::new(Floor {
        endpoint: Endpoint::parse(&settings.url)?,
        mode: settings.mode,
        children: settings.children,
        next: AtomicUsize::new(1),
        note: note.into_boxed_path(),
    });

    let mut connection = Connection::open(Arc::clone(&floor)).await?;
    let parent = Parent { children: settings.children };
    connection.ask(parent.first(settings.mode), "worker").await?;
    let mut workers = JoinSet::new();
    for _ in 0..settings.in_flight.get().min(settings.children) {
        workers.spawn(play_children(Arc::clone(&floor)));
    }
    let mut requests = 2;
    while let Some(played) = workers.join_next().await {
        requests += played.context("a child's task broke")??;
    }
    connection.ask(parent.last(settings.mode, NOTE), "all").await?;

    Measured::take(settings.children, started.elapsed(), requests)
}

impl Measured {
    /// Measures this process as it is now.
    pub fn take(children: usize, wall: Duration, requests: usize) -> Result<Self> {
        Ok(Self {
            children,
            wall_ms: measure::milliseconds(wall),
            cpu_ms: measure::milliseconds(measure::cpu_time()),
            peak_kib: measure::peak_kib()?,
            requests,
        })
    }
}

/// What all connections share.
struct Floor {
    endpoint: Endpoint,
    mode: Mode,
    children: usize,
    /// The next child to play; above `children` there is none.
    next: AtomicUsize,
    note: Box<Path>,
}

/// One connection's share: takes child after child until none is left, and tells how many requests that took.
async fn play_children(floor: Arc<Floor>) -> Result<usize> {
    let mut connection = Connection::open(Arc::clone(&floor)).await?;
    let mut requests = 0;
    loop {
        let number = floor.next.fetch_add(1, Ordering::Relaxed);
        if number > floor.children {
            return Ok(requests);
        }
        let child = Child { number };
        connection.ask(child.first(floor.mode), "read_file").await?;
        let note = read_note(&floor.note)?;
        connection.ask(child.last(floor.mode, &note), "done").await?;
        requests += 2;
    }
}

/// Where requests go, taken apart once.
struct Endpoint {
    authority: String,
    path: String,
}

impl Endpoint {
    fn parse(url: &str) -> Result<Endpoint> {
        let uri: Uri = url.parse().with_context(|| format!("`{url}` is no URL"))?;
        let authority = uri.authority().with_context(|| format!("`{url}` names no host"))?;
        let path = format!("{}/chat/completions", uri.path().trim_end_matches('/'));
        Ok(Endpoint { authority: authority.to_string(), path })
    }
}

/// A kept-alive connection. Its driving task ends when the sender is dropped.
struct Connection {
    floor: Arc<Floor>,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    async fn open(floor: Arc<Floor>) -> Result<Connection> {
        let stream = TcpStream::connect(&floor.endpoint.authority).await.context("connecting")?;
        stream.set_nodelay(true)?;
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(Connection { floor, sender })
    }

    /// Reads the answer to its end and checks that it is whole and says `expected`.
    async fn ask(&mut self, body: String, expected: &str) -> Result<()> {
        let request = hyper::Request::builder()
            .method(Method::POST)
            .uri(&self.floor.endpoint.path)
            .header(HOST, &self.floor.endpoint.authority)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        let status = answer.status();
        let said = answer.into_body().collect().await?.to_bytes();
        let said = str::from_utf8(&said)?;
        ensure!(status.is_success(), "status {status}: {said}");
        ensure!(said.contains(expected), "an answer lacks `{expected}`: {said}");
        ensure!(self.floor.mode == Mode::Plain || said.ends_with("[DONE]\n\n"), "a stream broke off: {said}");
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the floor's one door for its one file")]
fn write_note(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, NOTE)
}

/// The tool call of a child. Blocking on purpose: a small cached file costs less than handing it to another thread.
#[expect(clippy::disallowed_methods, reason = "the floor's one door for its one file")]
fn read_note(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
