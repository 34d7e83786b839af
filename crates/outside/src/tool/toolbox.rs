//! The tools that a process has: found by name, checked, bounded in time and bytes, and never the end of their caller.

use super::arguments::Schema;
use super::edit_file::edit_file;
use super::find_files::find_files;
use super::grep_files::grep_files;
use super::list_files::list_files;
use super::read_file::read_file;
use super::shell::{Shell, ShellSettings};
use super::write_file::write_file;
use super::{Attendant, Call, Output, Tool, alias, cut};
use crate::workspace::Workspace;
use entourage_model::{CallId, Name, ThreadId, ToolSpec};
use futures::FutureExt as _;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// How much longer a tool may take to stop by itself when its time is over.
const STOPPING: Duration = Duration::from_secs(10);

/// How much of a name that nobody knows is repeated to the model.
const NAME_CHARS_SHOWN: usize = 80;

#[derive(Debug, Default)]
pub struct Toolbox {
    tools: BTreeMap<Name, Registered>,
}

#[derive(Debug)]
struct Registered {
    tool: Arc<dyn Tool>,
    schema: Schema,
}

/// On whose behalf a call is made, and what it may use.
#[derive(Clone, Debug)]
pub struct Caller {
    pub thread: ThreadId,
    pub call: CallId,
    /// The same for every attempt at this call, and for no other call.
    pub key: String,
    pub workspace: Arc<Workspace>,
    pub output_bytes_max: usize,
    /// Whoever shows and keeps what the call gives. Without one, what is cut is lost.
    pub attendant: Option<Arc<dyn Attendant>>,
}

impl Toolbox {
    /// The tools that every project has, but for commands.
    pub fn builtin() -> Self {
        let mut toolbox = Self::default();
        toolbox.insert(Arc::new(read_file()));
        for tool in [list_files(), find_files(), grep_files(), write_file(), edit_file()] {
            toolbox.insert(Arc::new(tool));
        }
        toolbox
    }

    /// The same with `shell`. Only a program that is its own keeper can have it.
    #[must_use]
    pub fn with_shell(mut self, settings: ShellSettings) -> Self {
        self.insert(Arc::new(Shell::new(settings)));
        self
    }

    /// Adds a tool under the name of its spec. The tool that had that name before is given back.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        let spec = tool.spec();
        let name = spec.name.clone();
        let schema = Schema::new(Arc::clone(&spec.parameters));
        self.tools.insert(name, Registered { tool, schema }).map(|before| before.tool)
    }

    /// Sorted by name.
    pub fn specs(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.tools.values().map(|registered| registered.tool.spec())
    }

    /// The spec of the tool that answers to `name`, which may be an alias.
    pub fn spec(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.resolve(name).map(|(_, registered)| registered.tool.spec())
    }

    /// The name under which the tool that answers to `name` is registered.
    pub fn canonical(&self, name: &str) -> Option<&Name> {
        self.resolve(name).map(|(name, _)| name)
    }

    /// Calls a tool with the arguments as the model wrote them. Every way that this can go is an output.
    pub async fn call(&self, name: &Name, raw_arguments: &str, caller: Caller, time_max: Duration) -> Output {
        let (output_bytes_max, attendant) = (caller.output_bytes_max, caller.attendant.clone());
        let mut output = match self.resolve(name.as_str()) {
            Some((name, registered)) => registered.call(name, raw_arguments, caller, time_max).await,
            None => self.unknown(name.as_str()),
        };
        if output.text.len() > output_bytes_max {
            let whole = match attendant {
                Some(attendant) => attendant.keep(&format!("{name}.txt"), output.text.clone().into_bytes()).await,
                None => None,
            };
            output.text = cut::bounded(output.text, output_bytes_max, whole.as_deref());
        }
        output
    }

    /// A tool of that very name goes before an alias.
    fn resolve(&self, name: &str) -> Option<(&Name, &Registered)> {
        self.tools.get_key_value(name).or_else(|| self.tools.get_key_value(alias::resolve(name)?))
    }

    fn unknown(&self, name: &str) -> Output {
        let shown: String = name.chars().take(NAME_CHARS_SHOWN).collect();
        let mut text = format!("There is no tool `{}`.", shown.escape_debug());
        if let Some(nearest) = entourage_model::nearest(name, self.tools.keys().map(Name::as_str)) {
            text.push_str(&format!(" Did you mean `{nearest}`?"));
        }
        Output::error(text)
    }
}

impl Registered {
    async fn call(&self, name: &Name, raw_arguments: &str, caller: Caller, time_max: Duration) -> Output {
        let arguments = match self.schema.arguments(name.as_str(), raw_arguments) {
            Ok(arguments) => arguments,
            Err(refusal) => return refusal,
        };
        let Caller { thread, call, key, workspace, output_bytes_max, attendant } = caller;
        let call = Call { thread, call, key, arguments, workspace, output_bytes_max, time_max, attendant };
        // A tool that panicked keeps nothing of the call, and its next call is a call like any other.
        let work = AssertUnwindSafe(self.tool.call(call)).catch_unwind();
        match tokio::time::timeout(time_max.saturating_add(STOPPING), work).await {
            Ok(Ok(output)) => output,
            Ok(Err(panic)) => {
                tracing::error!(tool = %name, %thread, panic = panic_message(panic.as_ref()), "a tool panicked");
                Output::error(format!("`{name}` broke down. That is a defect of the tool, not of the arguments."))
            }
            Err(_) => Output::error(format!("`{name}` did not end within {time_max:?} and was stopped.")),
        }
    }
}

/// For the log only: nobody knows what is in it.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}
