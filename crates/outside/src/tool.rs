//! Tools: what a model may have done for it, each in a file of its own.
//!
//! To its caller a tool never fails: whatever happens is an [`Output`], which the model reads.

mod alias;
mod arguments;
mod attendant;
mod background;
mod cut;
mod edit_file;
mod file_tool;
mod find_files;
mod grep_files;
mod list_files;
mod read_file;
mod script;
mod shell;
mod toolbox;
mod write_file;

pub use attendant::{Attendant, Stream};
pub use cut::bounded;
pub use entourage_script::{Door, Heard, Occasion};
pub use script::{Enclosure, Given, ScriptCall, Scripts};
pub use shell::{Shell, ShellSettings};
pub use toolbox::{Caller, Toolbox};

use crate::workspace::{PathFault, Workspace};
use async_trait::async_trait;
use entourage_model::{CallId, Fact, ThreadId, ToolSpec, ToolStatus};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

#[async_trait]
pub trait Tool: Send + Sync + Debug {
    /// The same at every call: a toolbox compiles the schema once.
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Does the call, whose arguments fit the schema. Dropping the future ends the work soon; a tool that is not
    /// [`Pure`](entourage_model::EffectClass::Pure) may have had its effect by then. The same key means the same call again.
    async fn call(&self, call: Call) -> Output;
}

/// One call of a tool, its arguments checked.
#[derive(Clone, Debug)]
pub struct Call {
    pub thread: ThreadId,
    pub call: CallId,
    /// The same for every attempt at this call, and for no other call.
    pub key: String,
    pub arguments: Value,
    pub workspace: Arc<Workspace>,
    /// A tool that gives more is cut; one that knows better where to cut does it itself.
    pub output_bytes_max: usize,
    /// When it is over, the call is stopped. A tool that can tell what it has by then stops by itself.
    pub time_max: Duration,
    pub attendant: Option<Arc<dyn Attendant>>,
}

/// What a call came to, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub status: ToolStatus,
    pub text: String,
    /// What the call did, as we saw it; nothing of it comes from the model.
    pub facts: Vec<Fact>,
}

impl Output {
    pub fn success(text: impl Into<String>) -> Self {
        Self { status: ToolStatus::Success, text: text.into(), facts: Vec::new() }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { status: ToolStatus::Error, text: text.into(), facts: Vec::new() }
    }

    /// The same with what a call that succeeded did; a call that failed did nothing.
    #[must_use]
    pub(crate) fn having(mut self, fact: Option<Fact>) -> Self {
        if self.status == ToolStatus::Success {
            self.facts.extend(fact);
        }
        self
    }
}

impl From<PathFault> for Output {
    fn from(fault: PathFault) -> Self {
        Self::error(fault.to_string())
    }
}
