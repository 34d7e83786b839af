//! Calling a tool that this process has.

mod attendant;

use super::{Flight, Place};
use crate::runtime::Inner;
use attendant::ThreadAttendant;
use entourage_engine::Input;
use entourage_model::{Outcome, ToolCall, ToolStatus};
use entourage_outside::tool::{Attendant, Caller, Output};
use futures::FutureExt as _;
use std::sync::Arc;
use std::time::Duration;

/// Dropping the flight stops the tool. `folder` is where the thread works, if not in the project's own.
pub(crate) fn tool(
    inner: &Arc<Inner>,
    (place, folder): (Place, Option<String>),
    (call, key): (ToolCall, String),
    repeatable: bool,
) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let attendant = Arc::new(ThreadAttendant::new(Arc::clone(&inner), place, call.id.clone(), &key));
        let attending = Some(Arc::clone(&attendant) as Arc<dyn Attendant>);
        let output = call_builtin(&inner, (place, folder.as_deref(), attending), &call, key).await;
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

/// Calls a tool of this process in the thread's folder.
pub(super) async fn call_builtin(
    inner: &Inner,
    (place, folder, attendant): (Place, Option<&str>, Option<Arc<dyn Attendant>>),
    call: &ToolCall,
    key: String,
) -> Output {
    let workspace = match inner.workspaces.root(folder) {
        Ok(workspace) => workspace,
        Err(fault) => return Output::error(format!("The workspace cannot be opened: {fault}")),
    };
    let caller = Caller {
        thread: place.thread,
        call: call.id.clone(),
        key,
        workspace,
        output_bytes_max: inner.limits.tool_output_bytes,
        attendant,
    };
    let time_max = Duration::from_secs(inner.limits.shell_seconds);
    inner.tools.call(&call.name, &call.arguments, caller, time_max).await
}

pub(super) fn outcome(status: ToolStatus) -> Outcome {
    match status {
        ToolStatus::Success => Outcome::Done,
        ToolStatus::Error => Outcome::Failed,
    }
}
