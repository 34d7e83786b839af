//! Calling a tool.

use super::{Flight, Place};
use crate::runtime::Inner;
use entourage_engine::Input;
use entourage_model::{Outcome, ToolCall, ToolStatus};
use entourage_outside::tool::Caller;
use futures::FutureExt as _;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn tool(inner: &Arc<Inner>, place: Place, (call, key): (ToolCall, String), repeatable: bool) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let caller = Caller {
            thread: place.thread,
            call: call.id.clone(),
            key,
            workspace: Arc::clone(&inner.workspace),
            output_bytes_max: inner.limits.tool_output_bytes,
        };
        let time_max = Duration::from_secs(inner.limits.shell_seconds);
        let output = inner.tools.call(&call.name, &call.arguments, caller, time_max).await;
        let outcome = match output.status {
            ToolStatus::Success => Outcome::Done,
            ToolStatus::Error => Outcome::Failed,
        };
        (Input::ToolEnded { call: call.id, outcome, text: output.text }, repeatable)
    }
    .boxed()
}
