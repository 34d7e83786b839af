//! Hooks that a project declares as code: their time and memory bounded.

use super::Scripts;
use crate::tool::toolbox::panic_message;
use entourage_model::{Hook, Limits};
use entourage_script::{Door, Heard, Occasion, run_hook};
use futures::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

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
        let bounds = entourage_script::Limits { bytes: limits.script_bytes, ..entourage_script::Limits::HOOK };
        match AssertUnwindSafe(run_hook(&hook.program, occasion, door, bounds)).catch_unwind().await {
            Ok(heard) => heard.map_err(|fault| fault.to_string()),
            Err(panic) => Err(format!("it panicked: {}", panic_message(panic.as_ref()))),
        }
    }
}
