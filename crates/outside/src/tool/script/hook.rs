//! Hooks that a project declares as code: their time and memory bounded.

use super::Scripts;
use crate::tool::toolbox::panic_message;
use entourage_model::{Hook, Limits};
use entourage_script::{Door, Fault, FaultKind, Heard, Occasion, run_hook};
use futures::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

impl Scripts {
    /// Lets a hook hear of an occasion, with `door` as the way to its thread. An error says why it came to no orderly
    /// end: nothing that it did counts, and what happens goes on as it was.
    ///
    /// Nobody waits for room: a tool that has some may be what the hook is about.
    pub async fn hear(
        &self,
        hook: &Hook,
        occasion: Occasion,
        door: Arc<dyn Door>,
        limits: &Limits,
    ) -> Result<Heard, String> {
        let bounds =
            entourage_script::Limits { bytes: limits.script_bytes, time: Duration::from_secs(limits.script_seconds) };
        match AssertUnwindSafe(run_hook(&hook.program, occasion, door, bounds)).catch_unwind().await {
            Ok(heard) => heard.map_err(|fault| explain(&fault, limits)),
            Err(panic) => Err(format!("it panicked: {}", panic_message(panic.as_ref()))),
        }
    }
}

/// What is kept of a fault, for whoever mends the hook.
fn explain(fault: &Fault, limits: &Limits) -> String {
    match fault.kind {
        FaultKind::Time => {
            format!("it was stopped: the limit `script_seconds` of {} seconds is reached", limits.script_seconds)
        }
        FaultKind::Memory => {
            format!("it was stopped: the limit `script_bytes` of {} bytes is reached", limits.script_bytes)
        }
        FaultKind::Read
        | FaultKind::Syntax
        | FaultKind::Import
        | FaultKind::Threw
        | FaultKind::Value
        | FaultKind::Arguments => fault.to_string(),
    }
}
