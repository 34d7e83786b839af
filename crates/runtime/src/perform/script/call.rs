//! Tools that a tool calls: behind it, as a call of its own, or inside it.

use super::super::tool::call_builtin;
use super::door::{Runner, ThreadDoor};
use super::{Returned, run};
use entourage_engine::may_call;
use entourage_model::{Act, FileRow, Name, ToolCall, ToolStatus};
use entourage_outside::tool::Output;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Tools that may wait for each other.
const DEPTH_MAX: usize = 4;

#[derive(Deserialize)]
pub(super) struct Wanted {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl ThreadDoor {
    pub(super) fn queue_tool(&self, Wanted { name, arguments }: Wanted) -> Result<Value, String> {
        let name = Name::from(name);
        self.may_use(&name)?;
        self.act(Act::QueueTool { name, arguments: Value::Object(arguments).to_string() })
    }

    /// Runs the tool now, inside this call. What a tool of the team does to the thread counts with what this one does,
    /// and not at all if it comes to no orderly end.
    pub(super) async fn invoke(&self, Wanted { name, arguments }: Wanted) -> Result<Value, String> {
        let name = Name::from(name);
        self.may_use(&name)?;
        may_call(&self.world(), &self.desk().state, &name)?;
        if self.depth >= DEPTH_MAX {
            return Err(format!("tools may call each other at most {DEPTH_MAX} deep"));
        }
        let arguments = Value::Object(arguments).to_string();
        let Some(tool) = self.team.tools.get(&name).cloned() else {
            let call = ToolCall { id: self.key.as_str().into(), name, arguments };
            let folder = self.desk().state.folder(&self.team);
            let place = (self.place, folder.as_deref(), None);
            let output = call_builtin(&self.inner, place, &call, self.inner_key()).await;
            return Ok(result(&output, &[]));
        };
        let desk = self.desk().inner();
        let scene = (self.place, Arc::clone(&self.team), Runner::Tool(Arc::clone(&tool)));
        let mut door = Self::new(Arc::clone(&self.inner), scene, desk, self.inner_key(), self.depth + 1);
        door.is_hook = self.is_hook;
        // Boxed, because a call inside this one leads here again.
        match Box::pin(run(Arc::new(door), &tool, &arguments)).await {
            Ok(Returned { output, files, acts }) => {
                self.desk().absorb(&self.world(), acts)?;
                Ok(result(&output, &files))
            }
            Err(output) => Ok(result(&output, &[])),
        }
    }

    /// No other call has it: a script that runs again is another one.
    fn inner_key(&self) -> String {
        format!("{}/{:016x}", self.key, fastrand::u64(..))
    }
}

/// A result as Standard Agents has it.
fn result(output: &Output, files: &[FileRow]) -> Value {
    let attachments: Vec<_> = files.iter().map(FileRow::attachment).collect();
    match output.status {
        ToolStatus::Success => json!({ "status": "success", "result": output.text, "attachments": attachments }),
        ToolStatus::Error => json!({ "status": "error", "error": output.text, "attachments": attachments }),
    }
}
