//! Tools that a tool calls: behind it, as a call of its own, or inside it.

use super::super::tool::{Caller, call_here};
use super::door::ThreadDoor;
use super::{Returned, run};
use entourage_engine::{may_call, server};
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
            let caller = self.caller(&call.name);
            let output = call_here(&self.inner, (&caller, None), &call, self.inner_key()).await;
            let answer = result(&output, &[]);
            self.witness(output.facts);
            return Ok(answer);
        };
        // Boxed, because a call inside this one leads here again.
        match Box::pin(run(Arc::new(self.inside(&tool)), &tool, &arguments)).await {
            Ok(Returned { output, files, acts }) => {
                self.desk().absorb(&self.world(), acts)?;
                Ok(result(&output, &files))
            }
            Err(output) => Ok(result(&output, &[])),
        }
    }

    fn caller(&self, tool: &Name) -> Caller {
        let desk = self.desk();
        let state = &desk.state;
        let server = self.world().prompt(state).and_then(|prompt| Some(server(prompt, tool)?.key.clone()));
        Caller { place: self.place, team: Arc::clone(&self.team), folder: state.folder(&self.team), server }
    }

    /// No other call has it: a script that runs again is another one.
    pub(super) fn inner_key(&self) -> String {
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
