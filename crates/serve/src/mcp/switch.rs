//! A client on standard input and output, whoever answers it at the moment: this process, or the one that holds the data
//! folder. When that one goes, somebody is looked for again, and the client notices one failed call at most.

use super::question::{self, Asker};
use super::relay::{Relay, Unanswered};
use super::running::{self, Running};
use super::{Mcp, McpFault, info, progress};
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelTaskRequest,
    CancelledNotificationParam, ClientRequest, GetTaskParams, GetTaskRequest, GetTaskResult, ListToolsRequest,
    ListToolsResult, PaginatedRequestParams, ServerConfig, ServerResult, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

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

    /// What the server said is passed on as it is. If it has gone, nobody knows what it still did: the request is not
    /// repeated, and the next one finds who answers then.
    async fn refused(&self, unanswered: Unanswered) -> ErrorData {
        match unanswered {
            Unanswered::Refused(said) => said,
            Unanswered::Gone(why) => {
                *self.current.lock().await = None;
                let text = format!("the server that held the data folder has gone ({why}); look at agent_list first");
                ErrorData::internal_error(text, None)
            }
        }
    }

    async fn pass_on(
        &self,
        relay: &Relay,
        context: &RequestContext<RoleServer>,
        request: ClientRequest,
    ) -> Result<ServerResult, ErrorData> {
        match relay.ask(context, request).await {
            Ok(result) => Ok(result),
            Err(unanswered) => Err(self.refused(unanswered).await),
        }
    }

    /// Has somebody else make a call. What it leaves open is asked of the person behind an older client from here, which
    /// is where the connection to it is.
    async fn call_there(
        &self,
        relay: &Relay,
        context: &RequestContext<RoleServer>,
        (mut request, cancelled): (CallToolRequestParams, CancellationToken),
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let call = ClientRequest::CallToolRequest(CallToolRequest::new(request.clone()));
            let open = match relay.call(context, call, &cancelled).await {
                Ok(ServerResult::InputRequiredResult(open)) => open,
                Ok(ServerResult::CallToolResult(result)) => return Ok(CallToolResponse::Complete(result)),
                Ok(ServerResult::CreateTaskResult(task)) => return Ok(CallToolResponse::Task(task)),
                Ok(_) => return Err(stranger()),
                Err(unanswered) => return Err(self.refused(unanswered).await),
            };
            let Asker::Peer(peer) = Asker::of(context) else { return Ok(CallToolResponse::InputRequired(open)) };
            request.input_responses = Some(question::put(&peer, open.input_requests.unwrap_or_default()).await);
            request.request_state = open.request_state;
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
        let listing =
            ClientRequest::ListToolsRequest(ListToolsRequest { params: request.clone(), ..Default::default() });
        if let Answerer::There(relay) = &*self.answerer().await? {
            match relay.ask(&context, listing.clone()).await {
                Ok(ServerResult::ListToolsResult(listed)) => return Ok(listed),
                Ok(_) => return Err(stranger()),
                Err(Unanswered::Refused(said)) => return Err(said),
                // Reading can be repeated.
                Err(Unanswered::Gone(_)) => *self.current.lock().await = None,
            }
        }
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.list_tools(request, context).await,
            Answerer::There(relay) => match self.pass_on(relay, &context, listing).await? {
                ServerResult::ListToolsResult(listed) => Ok(listed),
                _ => Err(stranger()),
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
                let called = self.call_there(relay, &context, (request, relayed.cancelled()));
                progress::accompany(&context, Box::pin(called)).await
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
            Answerer::There(relay) => {
                let get = ClientRequest::GetTaskRequest(GetTaskRequest::new(request));
                match self.pass_on(relay, &context, get).await? {
                    ServerResult::GetTaskResult(task) => Ok(task),
                    _ => Err(stranger()),
                }
            }
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.update_task(request, context).await,
            Answerer::There(relay) => {
                let update = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(request));
                self.pass_on(relay, &context, update).await.map(drop)
            }
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &*self.answerer().await? {
            Answerer::Here(mcp) => mcp.cancel_task(request, context).await,
            Answerer::There(relay) => {
                let cancel = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(request));
                self.pass_on(relay, &context, cancel).await.map(drop)
            }
        }
    }
}

/// Whoever answers is not of our kind.
fn stranger() -> ErrorData {
    ErrorData::internal_error("the server that holds the data folder gave an answer to something else", None)
}
