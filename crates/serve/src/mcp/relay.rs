//! The server that holds the data folder, as a process sees it that does not.
//!
//! Each request stands for itself and says what the client here can do, so that it is answered as if the client had come
//! to the server: with a task where it knows tasks, with a question where it has a person to ask.

use super::McpFault;
use super::running::SESSION;
use crate::token::Token;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientJsonRpcMessage, ClientRequest,
    GetMeta as _, Implementation, InitializeRequest, InitializeRequestParams, ProtocolVersion, RequestId,
    RequestMetaObject, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio_util::sync::CancellationToken;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The way to the `/mcp` of another process.
#[derive(Debug)]
pub struct Relay {
    client: reqwest::Client,
    uri: String,
    token: Token,
    /// With the number of a call it says which one is taken back.
    session: HeaderMap,
    numbers: AtomicI64,
}

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The server says so.
    Refused(ErrorData),
    /// Nobody is there any more, or nobody of our kind.
    Gone(String),
}

/// Which requests name what they are about in a header as well.
fn named(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallToolRequest(call) => Some(&call.params.name),
        ClientRequest::GetTaskRequest(get) => Some(&get.params.task_id),
        ClientRequest::UpdateTaskRequest(update) => Some(&update.params.task_id),
        ClientRequest::CancelTaskRequest(cancel) => Some(&cancel.params.task_id),
        _ => None,
    }
}

fn ours() -> Implementation {
    Implementation::new("entourage", env!("CARGO_PKG_VERSION"))
}

/// What the server is to know of the client. Progress is told from here.
fn introduction(context: &RequestContext<RoleServer>) -> RequestMetaObject {
    let client = context.client_info().unwrap_or_else(ours);
    let can = context.client_capabilities().unwrap_or_default();
    RequestMetaObject::with_client_context(ProtocolVersion::LATEST, client, can)
}

impl Relay {
    /// Introduces itself to the server.
    pub async fn connect(address: SocketAddr, token: &Token) -> Result<Self, McpFault> {
        // Ours is plain HTTP on this machine, but a client is not made without a provider; one that is there stays.
        _ = rustls::crypto::ring::default_provider().install_default();
        let mut relay = Self {
            client: reqwest::Client::default(),
            uri: format!("http://{address}/mcp"),
            token: token.clone(),
            session: HeaderMap::new(),
            numbers: AtomicI64::new(0),
        };
        let greeting = InitializeRequestParams::new(ClientCapabilities::default(), ours())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let greeting = ClientRequest::InitializeRequest(InitializeRequest::new(greeting));
        let message = ClientJsonRpcMessage::request(greeting, relay.number());
        let gone = |fault: reqwest::Error| McpFault(format!("{address} does not answer: {fault}"));
        let greeted = relay.post(HeaderMap::new(), &message).await.map_err(gone)?;
        let greeted = greeted.error_for_status().map_err(gone)?;
        if let Some(session) = greeted.headers().get(SESSION) {
            relay.session.insert(SESSION, session.clone());
        }
        Ok(relay)
    }

    fn number(&self) -> RequestId {
        RequestId::Number(self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    async fn post(
        &self,
        headers: HeaderMap,
        message: &ClientJsonRpcMessage,
    ) -> Result<reqwest::Response, reqwest::Error> {
        let request = self.client.post(&self.uri).bearer_auth(self.token.reveal()).header(ACCEPT, ACCEPTED);
        request.headers(self.session.clone()).headers(headers).json(message).send().await
    }

    /// Passes a request on.
    pub(super) async fn ask(
        &self,
        context: &RequestContext<RoleServer>,
        request: ClientRequest,
    ) -> Result<ServerResult, Unanswered> {
        self.request(context, request, self.number()).await
    }

    /// Passes a call on, and that it is taken back. Its end is waited for even then: the server has it end.
    pub(super) async fn call(
        &self,
        context: &RequestContext<RoleServer>,
        request: ClientRequest,
        cancelled: &CancellationToken,
    ) -> Result<ServerResult, Unanswered> {
        let number = self.number();
        let answered = self.request(context, request, number.clone());
        tokio::pin!(answered);
        tokio::select! {
            answer = &mut answered => return answer,
            () = cancelled.cancelled() => {}
        }
        let params = CancelledNotificationParam::new(Some(number), None);
        let message = ClientJsonRpcMessage::notification(CancelledNotification::new(params).into());
        if let Err(fault) = self.post(HeaderMap::new(), &message).await {
            return Err(Unanswered::Gone(fault.to_string()));
        }
        answered.await
    }

    async fn request(
        &self,
        context: &RequestContext<RoleServer>,
        mut request: ClientRequest,
        number: RequestId,
    ) -> Result<ServerResult, Unanswered> {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, HeaderValue::from_static(ProtocolVersion::LATEST.as_str()));
        let value = |text: &str| {
            let refused = |_| Unanswered::Refused(ErrorData::invalid_params(format!("`{text}` is no name"), None));
            HeaderValue::from_str(text).map_err(refused)
        };
        headers.insert(METHOD, value(request.method())?);
        if let Some(name) = named(&request) {
            headers.insert(NAME, value(name)?);
        }
        *request.get_meta_mut() = introduction(context);
        let gone = |fault: reqwest::Error| Unanswered::Gone(fault.to_string());
        let message = ClientJsonRpcMessage::request(request, number);
        let response = self.post(headers, &message).await.map_err(gone)?;
        match response.json().await.map_err(gone)? {
            ServerJsonRpcMessage::Response(response) => Ok(response.result),
            ServerJsonRpcMessage::Error(error) => Err(Unanswered::Refused(error.error)),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => {
                Err(Unanswered::Gone("it answers with a question".to_owned()))
            }
        }
    }
}
