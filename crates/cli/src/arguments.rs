//! What may be typed: the global options and the commands. Each command's own arguments are in its file.

use crate::commands::{
    agents, build, cancel, check, completions, demo, diff, export, extract, import, init, inspect, login, materialize,
    mcp, pull, push, result, resume, run, runs, send, serve, show, sign, stop, store, tail, terminate, threads, trust,
    verify,
};
use crate::environment;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tracing_subscriber::filter::LevelFilter;

const EXAMPLES: &str = "\
Examples:
  entourage demo                                   see a team at work, without a key
  entourage run 'Summarise the README'             ask the built-in lead
  entourage run reviewer 'Look at src/main.rs'     ask one of your agents
  entourage resume                                 go on after a crash or Ctrl-C
  entourage show 7f3a                              one thread and everything below it

Exit codes: 0 done, 1 usage or declarations, 2 files, 3 network, 4 a package's dependencies, 5 not without a loss
(`--exact`), 6 an artifact is not what it says, 7 the agent failed, 8 cancelled, 9 the store refused.
Every error code is explained in docs/errors.md.";

/// Durable AI subagents: declare them in the format that you have, run them, lose nothing.
#[derive(Debug, Parser)]
#[command(name = "entourage", version, after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The global options, which may stand before or after the command. What is given twice counts as it was given last.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Options {
    /// The project's folder [default: the current one]
    #[arg(long, global = true, value_name = "DIR", overrides_with = "project")]
    pub(crate) project: Option<PathBuf>,
    /// Where threads are kept [default: `.entourage` in the project]
    #[arg(long, global = true, value_name = "DIR", overrides_with = "data")]
    pub(crate) data: Option<PathBuf>,
    /// The store itself, as in `sqlite:DIR` or `postgres://…` [default: SQLite in the data folder]
    #[arg(long, global = true, value_name = "URL", overrides_with = "store")]
    pub(crate) store: Option<String>,
    /// Print one JSON document on stdout
    #[arg(long, global = true, overrides_with = "json")]
    pub(crate) json: bool,
    /// How much is told on stderr [default: warn]
    #[arg(long, global = true, value_name = "LEVEL", overrides_with = "log")]
    pub(crate) log: Option<LogLevel>,
    /// Ask this model in place of every other, as in `ollama:qwen3` or `script:FILE`
    #[arg(long, global = true, value_name = "PROVIDER:MODEL", overrides_with = "model")]
    pub(crate) model: Option<String>,
    /// Speak plain HTTP to registries that are not on this machine
    #[arg(long, global = true)]
    pub(crate) plain_http: bool,
    /// Trust the project for this call: it may start MCP commands, switch the sandbox off, point providers elsewhere and read a user's variables
    #[arg(long, global = true)]
    pub(crate) trust: bool,
}

impl Options {
    /// Fills what no flag gave from the variables of the same names.
    pub(crate) fn or_variables(self) -> Self {
        let variable = |name: &str| environment::variable(&format!("{}{name}", crate::settings::PREFIX));
        let log = || LogLevel::from_str(&variable("LOG")?, true).ok();
        Self {
            project: self.project.or_else(|| variable("PROJECT").map(PathBuf::from)),
            data: self.data.or_else(|| variable("DATA").map(PathBuf::from)),
            store: self.store.or_else(|| variable("STORE")),
            log: self.log.or_else(log),
            ..self
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    #[default]
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    pub(crate) fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent to its end
    Run(run::Arguments),
    /// Go on with what a crash or Ctrl-C left unfinished
    Resume(resume::Arguments),
    /// Serve the API of this project's threads
    Serve(serve::Arguments),
    /// Offer this project's agents to an MCP client, on standard input and output
    Mcp(mcp::Arguments),
    /// Watch a small team at work, offline
    Demo(demo::Arguments),
    /// Start a project with a few files to change
    Init(init::Arguments),
    /// List the agents that this project declares
    Agents(agents::Arguments),
    /// Look for faults in declarations and settings
    Check(check::Arguments),
    /// Bring in agents that were written for another harness
    Import(import::Arguments),
    /// Write this project's agents for another harness
    Export(export::Arguments),
    /// Pack this project as an artifact
    Build(build::Arguments),
    /// Show what an artifact says of itself and holds
    Inspect(inspect::Arguments),
    /// Check every digest of an artifact
    Verify(verify::Arguments),
    /// Unpack an artifact into a folder
    Extract(extract::Arguments),
    /// Compare two artifacts
    Diff(diff::Arguments),
    /// Send the latest build to a registry
    Push(push::Arguments),
    /// Sign an artifact with a key of yours
    Sign(sign::Arguments),
    /// Fetch an artifact from a registry
    Pull(pull::Arguments),
    /// Write an artifact as the files of another harness
    Materialize(materialize::Arguments),
    /// Store a credential for a registry
    Login(login::Arguments),
    /// List threads, newest first
    Threads(threads::Arguments),
    /// Show a thread, the tree below it and its last messages
    Show(show::Arguments),
    /// Print the messages of a thread
    Tail(tail::Arguments),
    /// Write to a thread and let it work
    Send(send::Arguments),
    /// End the current turn of a thread
    Stop(stop::Arguments),
    /// End a thread and everything below it, for good
    Terminate(terminate::Arguments),
    /// List runs, newest first
    Runs(runs::Arguments),
    /// Print the result of a run
    Result(result::Arguments),
    /// Cancel a run
    Cancel(cancel::Arguments),
    /// Allow a project what only a trusted one may do
    Trust(trust::Arguments),
    /// Look after the store
    #[command(subcommand)]
    Store(store::Command),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{Command, CommandFactory as _};

    #[test]
    fn the_help_of_every_command_has_an_example() {
        fn without_example(command: &Command) -> Vec<&str> {
            if command.has_subcommands() {
                return command.get_subcommands().flat_map(without_example).collect();
            }
            let has_one = command.get_after_help().is_some_and(|help| help.to_string().contains("\n  entourage "));
            if has_one { vec![] } else { vec![command.get_name()] }
        }
        let command = Arguments::command();
        assert!(command.get_subcommands().count() > 20);
        assert_eq!(without_example(&command), [""; 0]);
    }
}
