//! Calling a tool that this process has.

use super::{Flight, Place};
use crate::runtime::Inner;
use entourage_engine::Input;
use entourage_model::{Outcome, ToolCall, ToolStatus};
use entourage_outside::tool::{Caller, Output};
use futures::FutureExt as _;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn tool(inner: &Arc<Inner>, place: Place, (call, key): (ToolCall, String), repeatable: bool) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let output = call_builtin(&inner, place, &call, key).await;
        let ended = Input::ToolEnded {
            call: call.id,
            outcome: outcome(output.status),
            text: output.text,
            attachments: Vec::new(),
            acts: Vec::new(),
            facts: Vec::new(),
        };
        (ended, repeatable)
    }
    .boxed()
}

/// Calls a tool of this process.
pub(super) async fn call_builtin(inner: &Inner, place: Place, call: &ToolCall, key: String) -> Output {
    let caller = Caller {
        thread: place.thread,
        call: call.id.clone(),
        key,
        workspace: Arc::clone(&inner.workspace),
        output_bytes_max: inner.limits.tool_output_bytes,
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
