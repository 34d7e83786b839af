//! The server that holds the data folder, as a process sees it that does not.

use super::McpFault;
use crate::token::Token;
use entourage_mcp::Conversation;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ResultType};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::net::SocketAddr;

/// A connection to the `/mcp` of another process. Dropping it closes the connection.
#[derive(Debug)]
pub struct Relay {
    conversation: Conversation,
}

impl Relay {
    /// Introduces itself to the server.
    pub async fn connect(address: SocketAddr, token: &Token) -> Result<Self, McpFault> {
        // Ours is plain HTTP on this machine, but a client is not made without a provider; one that is there stays.
        _ = rustls::crypto::ring::default_provider().install_default();
        let uri = format!("http://{address}/mcp");
        let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(token.reveal());
        let begun = Conversation::over_http(reqwest::Client::default(), config).await;
        let conversation = begun.map_err(|fault| McpFault(format!("{address} does not answer: {fault}")))?;
        Ok(Self { conversation })
    }

    pub(super) async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListToolsResult, ServiceError> {
        let mut listed = self.conversation.list_tools(request).await?;
        // The client may speak a newer version than the two servers do, in which a result says of what kind it is.
        listed.result_type = Some(ResultType::COMPLETE);
        Ok(listed)
    }

    pub(super) async fn call_tool(&self, mut request: CallToolRequestParams) -> Result<CallToolResponse, ServiceError> {
        // What it says of the connection holds for the client's own, and progress is told from here.
        request.meta = None;
        let mut response = self.conversation.call_tool(request).await?;
        if let CallToolResponse::Complete(result) = &mut response {
            result.result_type = Some(ResultType::COMPLETE);
        }
        Ok(response)
    }
}
