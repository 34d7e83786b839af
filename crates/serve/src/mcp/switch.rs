//! A client on standard input and output, whoever answers it at the moment: this process, or the one that holds the data
//! folder. When that one goes, somebody is looked for again, and the client notices one failed call at most.

use super::relay::Relay;
use super::running::{self, Running};
use super::{Mcp, McpFault, info, progress};
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, GetTaskParams,
    GetTaskResult, ListToolsResult, PaginatedRequestParams, ServerConfig, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Who answers a client.
#[derive(Debug)]
pub enum Answerer {
    Here(Mcp),
    There(Relay),
}

/// Somebody waits to be told who answers from now on; why nobody does is for the client's model to read.
pub type Search = oneshot::Sender<Result<Answerer, String>>;

/// The conversation with one client.
#[derive(Debug)]
pub struct Switch {
    current: Mutex<Option<Arc<Answerer>>>,
    searches: mpsc::Sender<Search>,
    /// The calls that somebody else answers.
    relayed: Running,
}

impl Switch {
    /// Whoever holds the receiver answers every search, for as long as the conversation lasts.
    pub fn new(first: Answerer) -> (Self, mpsc::Receiver<Search>) {
        let (searches, wanted) = mpsc::channel(1);
        let current = Mutex::new(Some(Arc::new(first)));
        (Self { current, searches, relayed: Running::default() }, wanted)
    }

    /// Talks to the client until it has gone.
    pub fn converse(self) -> BoxFuture<'static, Result<(), McpFault>> {
        // In a box, so that the protocol is compiled here and not by whoever awaits this.
        Box::pin(async move {
            let started = Box::pin(self.serve(rmcp::transport::stdio())).await;
            let running =
                started.map_err(|fault| McpFault(format!("the client did not begin as the protocol asks: {fault}")))?;
            running.waiting().await.map(drop).map_err(|fault| McpFault(format!("the conversation broke: {fault}")))
        })
    }

    /// Others wait meanwhile, so that one search serves all.
    async fn answerer(&self) -> Result<Arc<Answerer>, ErrorData> {
        let mut current = self.current.lock().await;
        if let Some(answerer) = &*current {
            return Ok(Arc::clone(answerer));
        }
        let (search, found) = oneshot::channel();
        // Nobody searches any more when the process is about to end.
        let ending = || "the process is about to end".to_owned();
        let found = match self.searches.send(search).await {
            Ok(()) => found.await.unwrap_or_else(|_| Err(ending())),
            Err(_) => Err(ending()),
        };
        let found = Arc::new(found.map_err(|fault| ErrorData::internal_error(fault, None))?);
        *current = Some(Arc::clone(&found));
        Ok(found)
    }

    /// What the server said is passed on as it is. If it has gone, nobody knows what it still did: the call is not
    /// repeated, and the next one finds who answers then.
    async fn refused(&self, error: ServiceError) -> ErrorData {
        match error {
            ServiceError::McpError(said) => said,
            other => {
                *self.current.lock().await = None;
                let text = format!("the server that held the data folder has gone ({other}); look at agent_list first");
                ErrorData::internal_error(text, None)
            }
        }
    }
}

impl ServerHandler for Switch {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Answerer::There(relay) = &*self.answerer().await? {
            match relay.list_tools(request.clone()).await {
                Ok(listed) => return Ok(listed),
                Err(ServiceError::McpError(said)) => return Err(said),
                // Reading can be repeated.
                Err(_) => *self.current.lock().await = None,
            }
        }
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.list_tools(request, context).await,
            Answerer::There(relay) => match relay.list_tools(request).await {
                Ok(listed) => Ok(listed),
                Err(error) => Err(self.refused(error).await),
            },
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.call_tool(request, context).await,
            Answerer::There(relay) => {
                let relayed = self.relayed.enter(running::key(&context.extensions, &context.id));
                let cancelled = relayed.cancelled();
                // The server is told when the call is dropped.
                let called = async {
                    tokio::select! {
                        called = relay.call_tool(request) => Some(called),
                        () = cancelled.cancelled() => None,
                    }
                };
                match progress::accompany(&context, Box::pin(called)).await {
                    Some(Ok(response)) => Ok(response),
                    Some(Err(error)) => Err(self.refused(error).await),
                    None => Err(ErrorData::internal_error("the call was taken back", None)),
                }
            }
        }
    }

    async fn on_cancelled(&self, params: CancelledNotificationParam, context: NotificationContext<RoleServer>) {
        if let Some(id) = &params.request_id {
            self.relayed.cancel(&running::key(&context.extensions, id));
        }
        if let Ok(answerer) = self.answerer().await
            && let Answerer::Here(mcp) = &*answerer
        {
            mcp.on_cancelled(params, context).await;
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.get_task(request, context).await,
            Answerer::There(_) => Err(elsewhere()),
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.update_task(request, context).await,
            Answerer::There(_) => Err(elsewhere()),
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.cancel_task(request, context).await,
            Answerer::There(_) => Err(elsewhere()),
        }
    }
}

/// Calls that are passed on never become tasks; those of before are read by a tool.
fn elsewhere() -> ErrorData {
    ErrorData::invalid_params("another process answers here; use the tools task_output and task_cancel", None)
}
