//! `shell`: a command in the sandbox.

mod capture;
mod running;
mod settings;

pub use settings::ShellSettings;

use super::arguments::decode;
use super::{Call, Output, Tool, cut};
use crate::sandbox::{self, Confinement, Ended, Order, Plan};
use async_trait::async_trait;
use capture::Captured;
use entourage_model::{EffectClass, Fact, ToolSpec};
use running::Running;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// A single argument of a process has at most 128 KiB.
const COMMAND_BYTES_MAX: usize = 100_000;

/// How long a command that was stopped may take to be gone.
const STOPPING: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize)]
struct Arguments {
    command: String,
}

/// Runs commands in a box. What they do nobody knows: a call is made at most once.
#[derive(Debug)]
pub struct Shell {
    spec: Arc<ToolSpec>,
    settings: ShellSettings,
    /// Found out by the first command.
    confinement: OnceCell<Result<Confinement, String>>,
}

impl Shell {
    pub fn new(settings: ShellSettings) -> Self {
        let network = if settings.network { "the network can be used" } else { "there is no network" };
        let description = format!(
            "Runs a command with `sh -c` in the workspace and returns its exit code and output. Only the workspace and \
             `$TMPDIR` can be changed, but not git's hooks and configuration there, and {network}. There is no terminal and no input. Everything that the command \
             starts ends with it; there is no background work. A long output is cut in the middle."
        );
        let parameters = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "minLength": 1, "description": "The command, as for `sh -c`" },
            },
            "required": ["command"],
            "additionalProperties": false,
        });
        let spec = ToolSpec {
            name: "shell".into(),
            description,
            parameters: Arc::new(parameters),
            class: EffectClass::AtMostOnce,
        };
        Self { spec: Arc::new(spec), settings, confinement: OnceCell::new() }
    }

    async fn confinement(&self, call: &Call) -> Result<Confinement, Output> {
        let choose = || async {
            let settings = self.settings.clone();
            let workspace = call.workspace.place().to_owned();
            let choosing = spawn_blocking(move || {
                let search_path = settings.variable("PATH");
                sandbox::choose(settings.sandbox, &settings.keeper, search_path, &workspace)
            });
            let chosen = choosing.await.unwrap_or_else(|error| Err(error.to_string()));
            match &chosen {
                Ok(Confinement::None) => tracing::warn!("commands run without a sandbox, because the settings say so"),
                Ok(Confinement::Landlock { namespaces: false }) => {
                    tracing::warn!("the sandbox of commands is weaker than it could be: install bubblewrap");
                }
                Ok(chosen) => tracing::info!(?chosen, "the sandbox of commands"),
                Err(why) => tracing::error!(%why, "no command can be run: there is no sandbox"),
            }
            chosen
        };
        self.confinement.get_or_init(choose).await.clone().map_err(|why| {
            let text =
                format!("No command can be run here, because there is no sandbox: {why}. A person can change that.");
            Output::error(text)
        })
    }

    fn plan(&self, call: &Call, confinement: Confinement) -> Plan {
        let home = self.settings.home();
        let readable = sandbox::readable(self.settings.variable("PATH"), home.as_deref(), self.settings.network);
        Plan {
            confinement,
            workspace: call.workspace.place().to_owned(),
            closed: call.workspace.closed().map(ToOwned::to_owned),
            readable,
            home,
            network: self.settings.network,
            bytes_max: self.settings.bytes_max,
        }
    }
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        let Arguments { command } = match decode(call.arguments.clone()) {
            Ok(arguments) => arguments,
            Err(refusal) => return refusal,
        };
        if command.len() > COMMAND_BYTES_MAX || command.contains('\0') {
            let why = format!("a command has at most {COMMAND_BYTES_MAX} bytes and no NUL; write a file and run that");
            return Output::error(format!("The command was not run: {why}."));
        }
        let confinement = match self.confinement(&call).await {
            Ok(confinement) => confinement,
            Err(refusal) => return refusal,
        };
        let order = Order { plan: self.plan(&call, confinement), command };
        let mut captured = Captured::new(call.attendant.as_deref());
        let ran = Running::start(&self.settings, &order).await;
        let mut running = match ran {
            Ok(running) => running,
            Err(error) => return Output::error(format!("The command was not run: {error}.")),
        };
        let ended = match tokio::time::timeout(call.time_max, running.finish(&mut captured)).await {
            Ok(ended) => Some(ended),
            Err(_) => {
                running.stop();
                // What it wrote until it was gone is read, too; how it ended is known.
                _ = tokio::time::timeout(STOPPING, running.finish(&mut captured)).await;
                None
            }
        };
        drop(running);
        let (output, fact) = told(order.command, ended, &captured, call.time_max);
        Output { facts: fact.into_iter().collect(), ..shortened(output, &call).await }
    }
}

/// What the model reads, and what was done.
fn told(command: String, ended: Option<Ended>, captured: &Captured<'_>, time_max: Duration) -> (Output, Option<Fact>) {
    let ran = |exit_code| Some(Fact::RanCommand { command, exit_code });
    match ended {
        Some(Ended::Exit(code)) => (Output::success(format!("Exit code: {code}\n\n{captured}")), ran(Some(code))),
        Some(Ended::Signal(signal)) => {
            let code = signal.saturating_add(128);
            let text = format!("Exit code: {code} (killed by signal {signal})\n\n{captured}");
            (Output::success(text), ran(Some(code)))
        }
        Some(Ended::Fault(why)) => (Output::error(format!("The command was not run: {why}.\n\n{captured}")), None),
        None => {
            let text = format!(
                "The command did not end within {time_max:?}, the limit `shell_seconds`, and was stopped, with everything \
                 that it had started. Until then:\n\n{captured}"
            );
            (Output::error(text), ran(None))
        }
    }
}

/// An output that is too long keeps its beginning and its end; the whole of it becomes a file of the thread.
async fn shortened(output: Output, call: &Call) -> Output {
    if output.text.len() <= call.output_bytes_max {
        return output;
    }
    let kept = match &call.attendant {
        Some(attendant) => attendant.keep("shell.txt", output.text.clone().into_bytes()).await,
        None => None,
    };
    Output { text: cut::in_the_middle(&output.text, call.output_bytes_max, kept.as_deref()), ..output }
}
