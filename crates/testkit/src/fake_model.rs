//! A model on loopback that says what a test tells it to say, in the words of the real providers.
//!
//! A request travels: `server` reads it → [`Request`] → [`Brain::reply`] → [`Reply`] → `answer` puts it into the
//! dialect of the path (`chat_completions` or `messages`) → `answer_body` writes it out, with its stalls and breaks.

mod answer;
mod answer_body;
mod chat_completions;
mod counters;
mod fanout;
mod ids;
mod messages;
mod reply;
mod request;
mod rules;
mod server;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::counters::Counters;
use self::ids::Ids;
use self::server::Shared;

pub use self::fanout::Fanout;
pub use self::reply::{Reply, Stop};
pub use self::request::{Dialect, Request, ToolResult};
pub use self::rules::{Answer, Call, Rule, Rules, When};

/// Connections that may wait to be accepted; a benchmark opens a thousand at once.
const BACKLOG: u32 = 4096;

/// Decides what the model says. Called once per request, from many tasks at once, in the order of arrival of each
/// connection; a retried request is a new call.
pub trait Brain: Send + Sync {
    fn reply(&self, request: &Request) -> Reply;
}

impl<F: Fn(&Request) -> Reply + Send + Sync> Brain for F {
    fn reply(&self, request: &Request) -> Reply {
        self(request)
    }
}

/// The same words to everybody.
impl Brain for Reply {
    fn reply(&self, _: &Request) -> Reply {
        self.clone()
    }
}

/// Whether requests are kept for [`FakeModel::requests`]. A benchmark keeps none: it would measure the keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    On,
    Off,
}

/// A running fake model. Dropping it ends the server and closes every connection.
pub struct FakeModel {
    url: String,
    shared: Arc<Shared>,
    /// Owns the listener and all connections; aborted by `drop`.
    accepting: JoinHandle<()>,
}

impl FakeModel {
    /// Starts on a free port of 127.0.0.1, keeping every request.
    pub async fn start(brain: impl Brain + 'static) -> FakeModel {
        FakeModel::start_with(brain, Recording::On).await
    }

    /// Async because the server lives in the runtime of its caller.
    pub async fn start_with(brain: impl Brain + 'static, recording: Recording) -> FakeModel {
        let socket = TcpSocket::new_v4().expect("the system gives out sockets");
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("loopback has a free port");
        let listener = socket.listen(BACKLOG).expect("a bound socket listens");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            brain: Box::new(brain),
            started: Instant::now(),
            ids: Ids::new(),
            counters: Arc::new(Counters::default()),
            record: match recording {
                Recording::On => Some(watch::Sender::new(Vec::new())),
                Recording::Off => None,
            },
        });
        let accepting = tokio::spawn(server::serve(listener, Arc::clone(&shared)));
        FakeModel { url: format!("http://{address}/v1"), shared, accepting }
    }

    /// The base that a provider's path is appended to, as in `http://127.0.0.1:4711/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every request so far, in the order of arrival; empty with [`Recording::Off`].
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared.record.as_ref().map(|record| record.borrow().clone()).unwrap_or_default()
    }

    /// Connections open now, idle ones included.
    pub fn open_connections(&self) -> usize {
        self.shared.counters.open()
    }

    /// Requests whose client went away before the last byte of the answer was handed to its connection.
    pub fn aborted(&self) -> usize {
        self.shared.counters.aborted()
    }

    /// Waits until `count` requests arrived. Has no deadline of its own, as the clock of a test may stand still.
    /// Never returns with [`Recording::Off`].
    pub async fn until_requests(&self, count: usize) {
        match &self.shared.record {
            Some(record) => {
                let mut kept = record.subscribe();
                kept.wait_for(|requests| requests.len() >= count).await.expect("the sender lives in self");
            }
            None => std::future::pending().await,
        }
    }

    /// Waits until `count` requests were aborted. Has no deadline of its own.
    pub async fn until_aborted(&self, count: usize) {
        self.shared.counters.until(|counts| counts.aborted >= count).await;
    }

    /// Waits until exactly `count` connections are open. Has no deadline of its own.
    pub async fn until_open_connections(&self, count: usize) {
        self.shared.counters.until(|counts| counts.open == count).await;
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FakeModel").field("url", &self.url).finish_non_exhaustive()
    }
}
