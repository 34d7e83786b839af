//! What can be said to a server, and what it says by itself.

use crate::bounded::Bounded;
use crate::client::Client;
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    ListToolsResult, PaginatedRequestParams, PingRequest,
};
use rmcp::service::{NotificationContext, Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Notify;

/// How long a conversation may take to end in order.
const ENDING: Duration = Duration::from_millis(200);

/// Dropping it ends the conversation.
#[derive(Debug)]
pub struct Conversation {
    peer: Peer<RoleClient>,
    running: Mutex<Option<RunningService<RoleClient, Listener>>>,
    changed: Arc<Notify>,
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

impl Conversation {
    /// Introduces us to a command. Whoever writes a longer message than that is not heard any more.
    pub fn over_pipes(
        (stdin, stdout): (ChildStdin, ChildStdout),
        message_bytes_max: usize,
    ) -> BoxFuture<'static, Result<Self, String>> {
        let stdout = Bounded::new(stdout, message_bytes_max);
        Box::pin(Self::begin(AsyncRwTransport::new_client(stdout, stdin)))
    }

    /// Introduces us to a server on the network, under the same condition.
    pub fn over_http(
        client: reqwest::Client,
        config: StreamableHttpClientTransportConfig,
        message_bytes_max: usize,
    ) -> BoxFuture<'static, Result<Self, String>> {
        let client = Client::new(client, message_bytes_max);
        Box::pin(Self::begin(StreamableHttpClientTransport::with_client(client, config)))
    }

    async fn begin<T, E, A>(transport: T) -> Result<Self, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let changed = Arc::new(Notify::new());
        let listener = Listener { changed: Arc::clone(&changed) };
        let running = listener.serve(transport).await.map_err(|fault| innermost(&fault))?;
        Ok(Self { peer: running.peer().clone(), running: Mutex::new(Some(running)), changed })
    }

    pub fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> BoxFuture<'_, Result<ListToolsResult, ServiceError>> {
        Box::pin(self.peer.list_tools(request))
    }

    /// Whoever drops the future has told the server by then that nobody waits for it any more.
    pub fn call_tool(&self, request: CallToolRequestParams) -> BoxFuture<'_, Result<CallToolResponse, ServiceError>> {
        Box::pin(self.peer.call_tool_once(request))
    }

    /// Ends when the server has shown that it hears.
    pub fn ping(&self) -> BoxFuture<'_, ()> {
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        Box::pin(async move { _ = ping.await })
    }

    pub fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Ends when the server says that it has other tools now.
    pub async fn tools_changed(&self) {
        self.changed.notified().await;
    }

    /// Ends the conversation in order.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(mut running) = running {
                _ = running.close_with_timeout(ENDING).await;
            }
        })
    }
}

/// Why it happened. The outer errors say where, with the URL and names of types.
pub fn innermost(fault: &dyn Error) -> String {
    let mut cause = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
