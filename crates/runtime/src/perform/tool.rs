//! Calling a tool that this process has.

mod attendant;

use super::{Flight, Place};
use crate::runtime::Inner;
use attendant::ThreadAttendant;
use entourage_engine::Input;
use entourage_model::{Outcome, ServerKey, Team, ToolCall, ToolStatus};
use entourage_outside::tool::{Attendant, Output};
use futures::FutureExt as _;
use std::sync::Arc;
use std::time::Duration;

/// Who calls a tool.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) place: Place,
    pub(crate) team: Arc<Team>,
    /// Where the thread works, if not in the project's own folder.
    pub(crate) folder: Option<String>,
    /// The MCP server whose tool it is.
    pub(crate) server: Option<ServerKey>,
}

/// Dropping the flight stops the tool.
pub(crate) fn tool(inner: &Arc<Inner>, caller: Caller, (call, key): (ToolCall, String), repeatable: bool) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let attendant = Arc::new(ThreadAttendant::new(Arc::clone(&inner), &caller, call.id.clone(), &key));
        let attending = Some(Arc::clone(&attendant) as Arc<dyn Attendant>);
        let output = call_here(&inner, (&caller, attending), &call, key).await;
        let ended = Input::ToolEnded {
            call: call.id,
            outcome: outcome(output.status),
            text: output.text,
            attachments: Vec::new(),
            acts: attendant.acts(),
            facts: output.facts,
        };
        (ended, repeatable)
    }
    .boxed()
}

/// Calls a tool of this process, or of a server that it has, in the thread's folder.
pub(super) async fn call_here(
    inner: &Inner,
    (caller, attendant): (&Caller, Option<Arc<dyn Attendant>>),
    call: &ToolCall,
    key: String,
) -> Output {
    let workspace = match inner.workspaces.root(caller.folder.as_deref()) {
        Ok(workspace) => workspace,
        Err(fault) => return Output::error(format!("The workspace cannot be opened: {fault}")),
    };
    let on_behalf = entourage_outside::tool::Caller {
        thread: caller.place.thread,
        call: call.id.clone(),
        key,
        workspace,
        output_bytes_max: inner.limits.tool_output_bytes,
        attendant,
    };
    let time_max = Duration::from_secs(inner.limits.shell_seconds);
    match &caller.server {
        Some(server) => inner.servers.call(server, (&call.name, &call.arguments), on_behalf, time_max).await,
        None => inner.tools.call(&call.name, &call.arguments, on_behalf, time_max).await,
    }
}

pub(super) fn outcome(status: ToolStatus) -> Outcome {
    match status {
        ToolStatus::Success => Outcome::Done,
        ToolStatus::Error => Outcome::Failed,
    }
}
