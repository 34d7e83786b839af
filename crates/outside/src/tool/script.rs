//! Tools that a project declares as code: their arguments checked, their time and memory bounded, their results read.

mod given;
mod hook;

pub use given::{Enclosure, Given};

use super::Output;
use super::arguments::Schema;
use super::toolbox::panic_message;
use entourage_model::{Digest, Limits, Name, ScriptTool};
use entourage_script::{Door, Fault, FaultKind, Given as Handed};
use futures::FutureExt as _;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Scripts that run side by side in one process. Each may use as much memory as its limit says.
const AT_ONCE_MAX: usize = 64;

/// The function of a tool's definition that does the work.
const EXECUTE: &str = "execute";

/// What the scripted tools of a process share.
#[derive(Debug)]
pub struct Scripts {
    /// By the team that brings the tool along, and the tool's name.
    schemas: Mutex<HashMap<(Digest, Name), Arc<Schema>>>,
    at_once: Semaphore,
}

/// One call of a scripted tool.
#[derive(Clone, Copy, Debug)]
pub struct ScriptCall<'a> {
    pub tool: &'a ScriptTool,
    /// The team that it belongs to.
    pub bundle: Digest,
    /// As the caller wrote them.
    pub arguments: &'a str,
    pub limits: &'a Limits,
    /// How many scripts wait for this one. The innermost must never wait for room that they take up.
    pub depth: usize,
}

impl Default for Scripts {
    fn default() -> Self {
        Self { schemas: Mutex::default(), at_once: Semaphore::new(AT_ONCE_MAX) }
    }
}

impl Scripts {
    /// Runs the tool with `door` as the way to its thread. What it gives may have any length. An error is for the model like any output, and says that the
    /// tool came to no orderly end: nothing that it did counts.
    ///
    /// Dropping the future ends the script soon, also one that would never end by itself.
    pub async fn call(&self, call: ScriptCall<'_>, door: Arc<dyn Door>) -> Result<Given, Output> {
        let ScriptCall { tool, limits, .. } = call;
        let name = &tool.spec.name;
        // A schema that parses, such as zod's, may take more than JSON Schema can say: then it decides.
        let (value, misfit) = self.schema(&call).compare(name.as_str(), call.arguments)?;
        let _room = if call.depth == 0 { self.at_once.acquire().await.ok() } else { None };
        let bounds =
            entourage_script::Limits { bytes: limits.script_bytes, time: Duration::from_secs(limits.script_seconds) };
        let work = entourage_script::call(&tool.program, EXECUTE, Handed::Arguments { value, misfit }, door, bounds);
        let value = match AssertUnwindSafe(work).catch_unwind().await {
            Ok(Ok(value)) => value,
            Ok(Err(fault)) => return Err(Output::error(explain(name, &fault, limits))),
            Err(panic) => {
                tracing::error!(tool = %name, panic = panic_message(panic.as_ref()), "a scripted tool panicked");
                return Err(Output::error(format!("`{name}` broke down. That is a defect of the program.")));
            }
        };
        Given::read(value).map_err(|why| Output::error(format!("`{name}` failed: {why}")))
    }

    fn schema(&self, call: &ScriptCall<'_>) -> Arc<Schema> {
        let spec = &call.tool.spec;
        let mut schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let schema = schemas.entry((call.bundle, spec.name.clone()));
        Arc::clone(schema.or_insert_with(|| Arc::new(Schema::new(Arc::clone(&spec.parameters)))))
    }
}

/// What the model reads; the place is for whoever mends the tool.
fn explain(tool: &Name, fault: &Fault, limits: &Limits) -> String {
    let limit = |name: &str, max: String| format!("`{tool}` was stopped: the limit `{name}` of {max} is reached.");
    match fault.kind {
        FaultKind::Time => limit("script_seconds", format!("{} seconds", limits.script_seconds)),
        FaultKind::Memory => limit("script_bytes", format!("{} bytes", limits.script_bytes)),
        FaultKind::Arguments => fault.what.clone(),
        FaultKind::Read | FaultKind::Syntax | FaultKind::Import | FaultKind::Threw | FaultKind::Value => {
            let mut text = format!("`{tool}` failed: {}\nat {}", fault.what, fault.file);
            for number in [fault.line, fault.column].into_iter().flatten() {
                text.push_str(&format!(":{number}"));
            }
            text
        }
    }
}
