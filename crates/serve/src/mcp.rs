//! The Model Context Protocol: other harnesses drive our agents as durable children, by tools.
//!
//! A client's call is a call on a thread that the clients of one data folder share, so it goes through the same decisions
//! as a model's. Connections hold nothing: whoever comes back asks for results by the ids that it was given.

mod document;
mod over_http;
mod progress;
mod question;
mod relay;
mod root;
mod running;
mod switch;
mod task;
mod tool;

pub(crate) use document::describe;
pub(crate) use over_http::over_http;
pub use relay::Relay;
pub use switch::{Answerer, Search, Switch};

use crate::service::Service;
use crate::token::Bearer;
use axum::http::request::Parts;
use entourage_model::{Message, RunId, RunStatus, ThreadId, ToolStatus};
use entourage_runtime::{Driven, Given, Page, RunFilter, RuntimeError};
use question::{Answer, Asked, Asker, Question, Values};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CancelledNotificationParam,
    ContentBlock, Extensions, GetTaskParams, GetTaskResult, Implementation, InputResponses, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use root::Need;
use running::Running;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How soon a client that knows tasks is given one in place of the result.
const TASK_AFTER: Duration = Duration::from_secs(1);
/// What is said to whoever answers a question that nobody asks any more.
const OVER: &str = "The question is over; call the tool again.";
/// How often it is looked for the run of a call that was taken back before anybody had decided about it.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

const INSTRUCTIONS: &str = "\
Durable subagents: agent_spawn starts one and gives it a task, agent_send writes to it again. With timeout_seconds 0, or \
when the time is over, the work goes on in the background as a task: task_output reads its result or waits for it, \
task_list shows all tasks, task_cancel ends one. Subagents and tasks outlive this connection and this server: after a \
restart the same ids are still good. A subagent sees nothing of your conversation, so tell it everything that it needs.";

/// Why a conversation on standard input and output could not go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct McpFault(pub(crate) String);

/// Our side of the conversation with clients. Clones share what is under way.
#[derive(Clone, Debug)]
pub struct Mcp {
    service: Service,
    running: Running,
}

/// How somebody wants a call to be made.
struct Wish {
    tool: String,
    arguments: JsonObject,
    /// Becomes so when the client takes the call back.
    cancelled: CancellationToken,
    /// The client would rather have a task than wait.
    takes_task: bool,
    /// How the person is asked for what the call turns out to lack.
    asker: Asker,
}

impl Wish {
    /// Whether the call starts work of its own, which ends with it if it is taken back.
    fn starts_work(&self) -> bool {
        !tool::READING.contains(&self.tool.as_str()) && self.tool != tool::CANCEL
    }

    /// What a thread must have for it, unless the call names something that a thread has.
    fn need(&self) -> Need {
        if self.starts_work() && self.tool != tool::SEND { Need::Room } else { Need::Any }
    }
}

impl Mcp {
    pub fn new(service: Service) -> Self {
        Self { service, running: Running::default() }
    }

    /// The service as it is for whoever sent the request: over HTTP a token says who that is.
    fn admitted(&self, extensions: &Extensions) -> Service {
        let parts = extensions.get::<Parts>();
        match parts.and_then(|parts| parts.extensions.get::<Bearer>()) {
            Some(bearer) => self.service.for_user(bearer.user.clone()),
            None => self.service.clone(),
        }
    }

    async fn called(service: &Service, wish: Wish) -> Result<CallToolResponse, RuntimeError> {
        let thread = match root::home(service, &wish.arguments).await? {
            Some(thread) => thread,
            None => root::current(service, wish.need()).await?,
        };
        let arguments = serde_json::Value::Object(wish.arguments.clone()).to_string();
        let mut call = service.runtime.begin_call(thread, wish.tool.as_str().into(), arguments).await?;
        let patience = tokio::time::sleep(TASK_AFTER);
        tokio::pin!(patience);
        let mut is_asked = wish.takes_task;
        loop {
            tokio::select! {
                biased;
                result = service.runtime.finish_call(&mut call) => {
                    if let (Err(RuntimeError::Broken(_)), Some(run)) = (&result, call.run()) {
                        return Ok(interrupted(run).into());
                    }
                    let result = result?;
                    service.runtime.deliver_call(&call).await?;
                    return Self::closed(service, &wish, (thread, &*result)).await;
                }
                () = wish.cancelled.cancelled() => break,
                () = &mut patience, if is_asked => {
                    is_asked = false;
                    if let Some(run) = call.run() {
                        let row = service.runtime.run(run).await?;
                        let row = row.ok_or_else(|| RuntimeError::NoRun(run.to_string()))?;
                        return Ok(task::begun(&row));
                    }
                }
            }
        }
        let result = Self::take_back(service, &wish, &mut call).await?;
        Ok(result.into())
    }

    /// The answer to a call that has a result. Where a person can say what was missing, it is what that leads to.
    async fn closed(
        service: &Service,
        wish: &Wish,
        (thread, result): (ThreadId, &Message),
    ) -> Result<CallToolResponse, RuntimeError> {
        let Some(question) = Question::of(service, thread, result).await else { return Ok(told(result).into()) };
        let asked = question.asked;
        match question.ask(&wish.asker).await {
            Answer::Given(values) => Self::boot(service, wish, asked, values).await,
            Answer::Open(question) => Ok(question.into()),
            Answer::Refused => Ok(told(result).into()),
        }
    }

    /// Starts the subagent that lacked variables, and waits for it as the call would have.
    async fn boot(
        service: &Service,
        wish: &Wish,
        asked: Asked,
        values: Values,
    ) -> Result<CallToolResponse, RuntimeError> {
        let child = match service.runtime.give(asked.thread, asked.request, values, None).await? {
            Given::Started(child) => child,
            Given::Missing(names) => return Ok(failed(format!("Still missing: {}.", names.join(", "))).into()),
            Given::Unknown => return Ok(failed(OVER).into()),
            Given::Full => return Ok(failed("A limit keeps the subagent from starting now.").into()),
        };
        let of_child = RunFilter { thread: Some(child), ..RunFilter::default() };
        let runs = service.runtime.runs(&of_child, Page { after: None, limit: 1 }).await?;
        let mut run = runs.into_iter().next().ok_or_else(|| RuntimeError::NoRun(child.to_string()))?;
        let mut is_wanted = true;
        loop {
            tokio::select! {
                row = service.runtime.wait_for_run(&run.id, TASK_AFTER) => run = row?,
                () = wish.cancelled.cancelled(), if is_wanted => {
                    is_wanted = false;
                    service.runtime.cancel(&run.id).await?;
                }
            }
            match run.status {
                RunStatus::Done | RunStatus::Failed => return Ok(task::result(service, &run).await?.into()),
                RunStatus::Cancelled => return Ok(failed("The run was cancelled.").into()),
                _ if wish.takes_task && is_wanted => {
                    return Ok(task::begun(&run));
                }
                RunStatus::Pending | RunStatus::Running | RunStatus::Interrupted => {}
            }
        }
    }

    /// A client comes back with what its person said.
    async fn resumed(
        service: &Service,
        wish: &Wish,
        (state, responses): (&str, InputResponses),
    ) -> Result<CallToolResponse, RuntimeError> {
        match (Asked::found(service, state).await, question::answered(responses)) {
            (Some(asked), Some(values)) => Self::boot(service, wish, asked, values).await,
            (None, _) => Ok(failed(OVER).into()),
            (_, None) => Ok(failed("Nobody said what the subagent needs to know; it was not started.").into()),
        }
    }

    /// The client does not want the result any more: what the call has begun is to end.
    async fn take_back(service: &Service, wish: &Wish, call: &mut Driven) -> Result<CallToolResult, RuntimeError> {
        let mut is_open = wish.starts_work();
        loop {
            if is_open && let Some(run) = call.run() {
                is_open = false;
                service.runtime.cancel(run).await?;
            }
            match tokio::time::timeout(LOOK_AGAIN, service.runtime.finish_call(call)).await {
                Ok(result) => return result.map(|message| told(&message)),
                Err(_) if is_open => {}
                // What is only read goes on without anybody.
                Err(_) => return Ok(failed("The call was taken back.")),
            }
        }
    }
}

fn failed(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The server ends while somebody waits: where the result will be.
fn interrupted(run: &RunId) -> CallToolResult {
    let note = "the server is about to end; the work goes on when it is back, and `task_output` has its result";
    CallToolResult::success(vec![ContentBlock::text(format!("status: timeout_promoted\ntask_id: {run}\nnote: {note}"))])
}

fn told(message: &Message) -> CallToolResult {
    let content = vec![ContentBlock::text(message.content.clone())];
    let is_error = message.tool_status == Some(ToolStatus::Error);
    if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
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
        let tool = request.name.to_string();
        if !tool::listed(&self.service).await.iter().any(|listed| listed.name == tool) {
            return Err(ErrorData::invalid_params(format!("there is no tool `{tool}`"), None));
        }
        let service = self.admitted(&context.extensions);
        let running = self.running.enter(running::key(&context.extensions, &context.id));
        let arguments = request.arguments.unwrap_or_default();
        let knows_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
        // Whoever says how long it waits wants to wait.
        let takes_task = knows_tasks && !arguments.contains_key("timeout_seconds");
        let asker = Asker::of(&context);
        let wish = Wish { tool: tool.clone(), arguments, cancelled: running.cancelled(), takes_task, asker };
        let takes_task = takes_task && wish.starts_work();
        let wish = Wish { takes_task, ..wish };
        let called = async {
            match (request.request_state, request.input_responses) {
                (Some(state), Some(responses)) => Self::resumed(&service, &wish, (&state, responses)).await,
                _ => Self::called(&service, wish).await,
            }
        };
        // What a client can do something about is a result, so that its model reads it.
        Ok(progress::accompany(&context, called).await.unwrap_or_else(|error| {
            tracing::warn!(%error, tool, "a call over MCP failed");
            failed(format!("Error: {error}")).into()
        }))
    }

    async fn on_cancelled(&self, params: CancelledNotificationParam, context: NotificationContext<RoleServer>) {
        if let Some(id) = &params.request_id {
            self.running.cancel(&running::key(&context.extensions, id));
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        task::get(&self.admitted(&context.extensions), &request.task_id).await
    }

    /// Our tasks ask for nothing.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::find(&self.admitted(&context.extensions), &request.task_id).await.map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        task::cancel(&self.admitted(&context.extensions), &request.task_id).await
    }
}

/// Who we are, whichever way a client comes.
fn info() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new("entourage", env!("CARGO_PKG_VERSION")))
        .with_instructions(INSTRUCTIONS)
}
