//! One conversation with a server.

use super::bounded::Bounded;
use super::process::Process;
use super::{ServerSettings, Shared};
use crate::remote::expand;
use entourage_model::ServerAddress;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, ClientRequest, Implementation, PingRequest};
use rmcp::service::{NotificationContext, Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

type Running = RunningService<RoleClient, Listener>;

/// Dropping it ends the conversation, and the command with everything that it started.
#[derive(Debug)]
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    running: Mutex<Option<Running>>,
    process: Option<Process>,
    changed: Arc<Notify>,
    begun: Instant,
    used: Mutex<Instant>,
    users: AtomicUsize,
}

/// What a server may tell or ask us: only that its tools have changed.
#[derive(Clone, Debug)]
struct Listener {
    changed: Arc<Notify>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("entourage", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// How long a server may be silent after one of its calls was taken back.
const STIR: Duration = Duration::from_secs(5);

/// Somebody uses the connection: it is not let go.
#[derive(Debug)]
pub(super) struct InUse<'a>(&'a Connection);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Connection {
    /// Starts or reaches the server and introduces us. Why that failed completes "the server …".
    pub(super) async fn open(address: &ServerAddress, shared: &Shared) -> Result<Self, String> {
        let changed = Arc::new(Notify::new());
        let listener = Listener { changed: Arc::clone(&changed) };
        match address {
            ServerAddress::Command { command, args, env } => {
                let settings = &shared.settings;
                let mut variables = Vec::new();
                for (name, value) in env {
                    let value = expand(value.reveal(), settings.lookup).map_err(|why| cannot_start(&why))?;
                    variables.push((name.clone(), value));
                }
                let mut process = Process::start(command, args, variables, settings)
                    .map_err(|fault| format!("cannot be started: `{command}`: {fault}"))?;
                let (stdin, stdout) = process.pipes().ok_or_else(|| "has no pipes".to_owned())?;
                let stdout = Bounded::new(stdout, settings.message_bytes_max);
                let transport = AsyncRwTransport::new_client(stdout, stdin);
                match introduce(listener.serve(transport), settings).await {
                    Ok(running) => Ok(Self::new(running, Some(process), changed)),
                    Err(why) => Err(process.explain_start(&why).await),
                }
            }
            ServerAddress::Url { url, headers } => {
                let settings = &shared.settings;
                let address: Url = url.parse().map_err(|_| "has a `url` that is no address".to_owned())?;
                if !matches!(address.scheme(), "http" | "https") {
                    return Err(format!("cannot be reached by `{}`: only http and https", address.scheme()));
                }
                let mut named = HashMap::new();
                for (name, value) in headers {
                    let value = expand(value.reveal(), settings.lookup).map_err(|why| cannot_start(&why))?;
                    let header = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value));
                    let (Ok(name), Ok(mut value)) = header else {
                        return Err(format!("cannot be reached: the header `{name}` is none"));
                    };
                    value.set_sensitive(true);
                    named.insert(name, value);
                }
                let client = shared.http.open(&address)?.clone();
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(named)
                    .max_sse_event_size(settings.message_bytes_max);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let running = introduce(listener.serve(transport), settings).await?;
                Ok(Self::new(running, None, changed))
            }
        }
    }

    fn new(running: Running, process: Option<Process>, changed: Arc<Notify>) -> Self {
        let now = Instant::now();
        Self {
            peer: running.peer().clone(),
            running: Mutex::new(Some(running)),
            process,
            changed,
            begun: now,
            used: Mutex::new(now),
            users: AtomicUsize::new(0),
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    pub(super) fn in_use(&self) -> InUse<'_> {
        self.users.fetch_add(1, Ordering::AcqRel);
        self.touch();
        InUse(self)
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Nothing while somebody uses it.
    pub(super) fn unused_for(&self) -> Duration {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_in_use() { Duration::ZERO } else { used.elapsed() }
    }

    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub(super) async fn tools_changed(&self) {
        self.changed.notified().await;
    }

    /// Waits until the conversation is over. Notices it a moment late.
    pub(super) async fn closed(&self) {
        while !self.is_closed() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Ends a server that a call was taken back from and that hears nothing since: it would keep everybody waiting.
    pub(super) async fn stir(&self) {
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        if tokio::time::timeout(STIR, ping).await.is_err() {
            tracing::warn!("an MCP server did not stop a call that was taken back, and is ended");
            self.close().await;
        }
    }

    /// The reason, with what the server last wrote for people.
    pub(super) async fn explain(&self, why: &str) -> String {
        match &self.process {
            Some(process) if self.is_closed() => process.explain(why).await,
            Some(_) | None => why.to_owned(),
        }
    }

    /// Ends the conversation in order, and then what is left of the process.
    pub(super) async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut running) = running {
            _ = running.close_with_timeout(Duration::from_millis(200)).await;
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

fn cannot_start(why: &str) -> String {
    format!("cannot be started: {why}")
}

async fn introduce<E: Error>(
    served: impl Future<Output = Result<Running, E>>,
    settings: &ServerSettings,
) -> Result<Running, String> {
    match tokio::time::timeout(settings.start_time_max, served).await {
        Ok(Ok(running)) => Ok(running),
        Ok(Err(fault)) => Err(format!("cannot be used: {}", innermost(&fault))),
        Err(_) => Err(format!("did not answer within {} seconds", settings.start_time_max.as_secs_f64())),
    }
}

/// The outer errors say where it happened, with the URL.
fn innermost(fault: &dyn Error) -> String {
    let mut cause = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
