//! A client on standard input and output is passed on to the server that holds the data folder.

use super::{McpFault, converse, info, progress};
use crate::token::Token;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ResultType, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt as _};
use std::net::SocketAddr;

/// A connection to the `/mcp` of another process. Dropping it closes the connection.
#[derive(Debug)]
pub struct Relay {
    connection: RunningService<RoleClient, ()>,
}

impl Relay {
    /// Introduces itself to the server.
    pub async fn connect(address: SocketAddr, token: &Token) -> Result<Self, McpFault> {
        // Ours is plain HTTP on this machine, but a client is not made without a provider; one that is there stays.
        _ = rustls::crypto::ring::default_provider().install_default();
        let uri = format!("http://{address}/mcp");
        let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(token.reveal());
        let connected = ().serve(StreamableHttpClientTransport::from_config(config)).await;
        let connection = connected.map_err(|fault| McpFault(format!("{address} does not answer: {fault}")))?;
        Ok(Self { connection })
    }

    /// Passes on what the client asks until it has gone.
    pub async fn converse(self) -> Result<(), McpFault> {
        converse(Passing { server: self.connection.peer().clone() }).await
    }
}

#[derive(Debug)]
struct Passing {
    server: Peer<RoleClient>,
}

impl ServerHandler for Passing {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(request).await.map_err(refused)?;
        listed.result_type = Some(ResultType::COMPLETE);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // What it says of the connection holds for this one, and progress is told from here.
        request.meta = None;
        let called = progress::accompany(&context, self.server.call_tool(request)).await;
        let mut result = called.map_err(refused)?;
        // The client may speak a newer version than the two servers do, in which a result says of what kind it is.
        result.result_type = Some(ResultType::COMPLETE);
        Ok(result.into())
    }
}

/// What the server said is passed on as it is.
fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(said) => said,
        other => ErrorData::internal_error(format!("the server that holds the data folder has gone: {other}"), None),
    }
}
