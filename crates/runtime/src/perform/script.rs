//! Calling a tool that the team brings along as code.
//!
//! The tool sees its thread as it was when the call began, and what it has done itself since. Everything that it does
//! to the thread is collected, and becomes durable in one commit together with the end of the call: all of it or
//! nothing, never twice. A tool that throws, runs into a limit or is interrupted has done nothing.

mod call;
mod desk;
mod door;
mod file;
mod hook;
mod message;
mod relative;
mod secret;

pub(crate) use hook::{Ground, advised, echo, is_advised};

use super::tool::outcome;
use super::{Flight, Place};
use crate::runtime::Inner;
use desk::Desk;
use door::{Runner, ThreadDoor};
use entourage_engine::{Input, ThreadState};
use entourage_model::{Act, Attachment, FileRow, Name, Outcome, ScriptTool, Team, ToolCall};
use entourage_outside::tool::{Output, ScriptCall, bounded};
use futures::FutureExt as _;
use std::sync::Arc;

/// A tool and the thread that calls it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) place: Place,
    pub(crate) team: Arc<Team>,
    pub(crate) tool: Arc<ScriptTool>,
    /// The prompt that calls it, where that was called as a tool itself.
    pub(crate) subprompt: Option<Name>,
    /// As it is when the call begins.
    pub(crate) state: ThreadState,
}

/// What came of a tool that ended in an orderly way.
#[derive(Debug)]
struct Returned {
    output: Output,
    files: Vec<FileRow>,
    acts: Vec<Act>,
}

/// Dropping the flight ends the script, and with it all that it did.
pub(crate) fn script(inner: &Arc<Inner>, scene: Scene, (call, key): (ToolCall, String), repeatable: bool) -> Flight {
    let inner = Arc::clone(inner);
    async move {
        let Scene { place, team, tool, subprompt, state } = scene;
        let scene = (place, team, Runner::Tool(Arc::clone(&tool)));
        let mut door = ThreadDoor::new(inner, scene, Desk::new(state, None), key, 0);
        door.subprompt = subprompt;
        let door = Arc::new(door);
        let ended = match run(Arc::clone(&door), &tool, &call.arguments).await {
            Ok(Returned { output, files, acts }) => Input::ToolEnded {
                call: call.id,
                outcome: outcome(output.status),
                text: output.text,
                attachments: files.iter().map(FileRow::attachment).collect::<Vec<Attachment>>(),
                acts,
                facts: door.take_witnessed(),
            },
            Err(output) => Input::ToolEnded {
                call: call.id,
                outcome: Outcome::Failed,
                text: output.text,
                attachments: Vec::new(),
                acts: Vec::new(),
                facts: door.take_witnessed(),
            },
        };
        (ended, repeatable)
    }
    .boxed()
}

/// Runs the tool behind its door. After an error nothing that it did counts.
async fn run(door: Arc<ThreadDoor>, tool: &ScriptTool, arguments: &str) -> Result<Returned, Output> {
    let call = ScriptCall { tool, bundle: door.bundle(), arguments, limits: &door.inner.limits, depth: door.depth };
    let given = door.inner.scripts.call(call, Arc::clone(&door) as _).await;
    let bytes_max = door.inner.limits.tool_output_bytes;
    let mut given = given.map_err(|fault| {
        let text = bounded(door.without_secrets(fault.text), bytes_max, None);
        Output { text, ..fault }
    })?;
    let text = door.without_secrets(given.output.text);
    let whole = if text.len() > bytes_max { door.keep(&tool.spec.name, &text).await } else { None };
    given.output.text = bounded(text, bytes_max, whole.as_deref());
    let files = door.enclose(given.enclosures).await;
    let files = files.map_err(|why| Output::error(format!("`{}` failed: {why}", tool.spec.name)))?;
    Ok(Returned { output: given.output, files, acts: door.desk().take_acts() })
}
