//! The Model Context Protocol: other harnesses drive our agents as durable children, by tools.
//!
//! A client's call is a call on a thread that the clients of one data folder share, so it goes through the same decisions
//! as a model's. Connections hold nothing: whoever comes back asks for results by the ids that it was given.

mod progress;
mod relay;
mod root;
mod switch;
mod tool;

pub use relay::Relay;
pub use switch::{Answerer, Search, Switch};

use crate::service::Service;
use entourage_model::ToolStatus;
use entourage_runtime::RuntimeError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;

const INSTRUCTIONS: &str = "\
Durable subagents: agent_spawn starts one and gives it a task, agent_send writes to it again. With timeout_seconds 0, or \
when the time is over, the work goes on in the background as a task: task_output reads its result or waits for it, \
task_list shows all tasks, task_cancel ends one. Subagents and tasks outlive this connection and this server: after a \
restart the same ids are still good. A subagent sees nothing of your conversation, so tell it everything that it needs.";

/// Why a conversation on standard input and output could not go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct McpFault(pub(crate) String);

/// Our side of the conversation with one client.
#[derive(Clone, Debug)]
pub struct Mcp {
    service: Service,
}

impl Mcp {
    pub fn new(service: Service) -> Self {
        Self { service }
    }

    async fn called(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, RuntimeError> {
        let thread = match root::home(&self.service, &arguments).await? {
            Some(thread) => thread,
            None => root::current(&self.service).await?,
        };
        let arguments = serde_json::Value::Object(arguments).to_string();
        let result = self.service.runtime.call(thread, tool.into(), arguments).await?;
        let content = vec![ContentBlock::text(result.content.clone())];
        let is_error = result.tool_status == Some(ToolStatus::Error);
        Ok(if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) })
    }
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tool::listed(&self.service).await))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if !tool::listed(&self.service).await.iter().any(|tool| tool.name == name) {
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        }
        let called = self.called(name, request.arguments.unwrap_or_default());
        // What a client can do something about is a result, so that its model reads it.
        let result = progress::accompany(&context, called).await.unwrap_or_else(|error| {
            tracing::warn!(%error, tool = name, "a call over MCP failed");
            CallToolResult::error(vec![ContentBlock::text(format!("Error: {error}"))])
        });
        Ok(result.into())
    }
}

/// `/mcp`. Every request stands for itself, so that a server can be restarted between any two.
pub(crate) fn over_http(service: &Service) -> StreamableHttpService<Mcp, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(service.runtime.limits().http_body_bytes)
        // Whose requests are answered at all was decided before.
        .disable_allowed_hosts();
    let service = service.clone();
    StreamableHttpService::new(move || Ok(Mcp::new(service.clone())), Arc::default(), config)
}

/// Who we are, whichever way a client comes.
fn info() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().build();
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new("entourage", env!("CARGO_PKG_VERSION")))
        .with_instructions(INSTRUCTIONS)
}
