//! `entourage run [AGENT] MESSAGE`: one root thread to its end, in this process.

use crate::attachment::{self, Paper};
use crate::declarations::is_of_packages;
use crate::definition_folder;
use crate::errand::{Errand, PATIENCE};
use crate::failure::Failure;
use crate::given::{self, Given};
use crate::invocation::Invocation;
use crate::models;
use crate::readiness::Readiness;
use crate::servers;
use crate::source::alone;
use crate::storage::Storage;
use crate::verdict::{Verdict, Work};
use clap::Args;
use entourage_declare::Loaded;
use entourage_model::{Name, Report, Severity, ThreadId};
use entourage_runtime::{NewRoot, Outgoing, Runtime, RuntimeError};
use entourage_store::FileRow;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

/// What stands for a message that comes from standard input.
const STDIN: &str = "-";

const EXAMPLES: &str = "\
AGENT may be left out and is `lead` then, or the agent of `agent.ts`. The message `-` is read from standard input.

Examples:
  entourage run 'What does this project do?'
  entourage run reviewer 'Look at src/main.rs' --file notes.md
  entourage run weather 'Will it rain?' --env CITY=Oslo
  git diff | entourage run reviewer -
  entourage run --model ollama:qwen3 'Hello'

The final text goes to stdout. Ctrl-C stops in order, and `entourage resume` goes on.";

#[derive(Debug, Args)]
#[command(override_usage = "entourage run [OPTIONS] [AGENT] <MESSAGE>", after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[arg(value_name = "MESSAGE", required = true, hide = true)]
    words: Vec<String>,
    /// Attach a file; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Give the thread a variable; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE")]
    variables: Vec<Given>,
    /// On whose behalf it runs
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Do not wait for children in the background; `entourage resume` goes on with them
    #[arg(long)]
    detach: bool,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let (agent, message) = split(&arguments.words)?;
    let loaded = invocation.declarations();
    let agent = agent.unwrap_or(loaded.primary.as_str());
    let agent = choose(invocation, &loaded, agent, &arguments.words)?;
    let models = models::settings(invocation)?;
    if let Some(agent) = loaded.team.agent(&agent) {
        Readiness::new(invocation, &models)?.insist(&loaded.team, agent)?;
    }
    warn_of_withheld(invocation, arguments.user.as_ref());
    let papers = attachment::read(&arguments.files)?;
    let message = spoken(message)?;
    insist_on_size(invocation, &message)?;
    let storage = alone(invocation, Storage::open(invocation).await).await?;
    let mut errand = Errand::open(invocation, storage, models).await?;
    let (message, files) = outgoing(&errand, message, papers).await?;
    let variables = given::variables(arguments.variables, &loaded.team);
    let root = NewRoot {
        team: Arc::new(loaded.team),
        agent,
        message: Some(message),
        user_id: arguments.user,
        tags: Vec::new(),
        files,
        variables,
    };
    let runtime = errand.bench.runtime.clone();
    let created = runtime.create(root).await.map_err(|error| errand.bench.refused(&error))?;
    // Whoever waits for a child only for a time has to be woken.
    runtime.resume(Some(created.thread));
    let work = async {
        if let Some(run) = &created.run {
            runtime.wait_for_run(run, PATIENCE).await?;
        }
        if !arguments.detach {
            runtime.wait_for_tree(created.thread, PATIENCE).await?;
        }
        Ok(())
    };
    let live = errand.live(created.thread, invocation.show());
    errand.wait(live, work).await?;
    conclude(invocation, &errand, created.thread, Work::Run(created.run)).await
}

/// A tool that finds a variable missing cannot know why.
fn warn_of_withheld(invocation: &Invocation, user: Option<&String>) {
    let Some(user) = user.filter(|user| invocation.settings.withheld.contains(*user)) else { return };
    let what = format!("your variables of user `{user}` are not given to a project that is not trusted");
    invocation.screen.report(&Report::warning("C007", what).hint("if you trust this project, add `--trust`"));
}

/// The agent, if one was named, and the message among what was typed.
fn split(words: &[String]) -> Result<(Option<&str>, &str), Failure> {
    match words {
        [message] => Ok((None, message)),
        [agent, message] => Ok((Some(agent), message)),
        words => {
            let report =
                Report::error("C001", format!("an agent and a message were expected, and {} words came", words.len()));
            Err(Failure::usage(
                report.hint(format!("put the message in quotes: `entourage run '{}'`", words.join(" "))),
            ))
        }
    }
}

/// Closes the work, prints what became of it, and ends with its exit code.
pub(crate) async fn conclude(
    invocation: &Invocation,
    errand: &Errand<'_>,
    thread: ThreadId,
    work: Work,
) -> Result<(), Failure> {
    let bench = &errand.bench;
    let verdict = Verdict::read(bench.storage(), thread, work).await?;
    let verdict = verdict.ok_or_else(|| bench.refused(&RuntimeError::NoThread(thread)))?;
    verdict.deliver(invocation, bench.storage()).await?;
    bench.close().await;
    verdict.outcome(invocation)
}

/// The agent of that name. Broken declarations are told; they matter only if the agent is among them.
fn choose(invocation: &Invocation, loaded: &Loaded, name: &str, words: &[String]) -> Result<Name, Failure> {
    let broken: Vec<_> = loaded.reports.iter().filter(|report| report.severity == Severity::Error).collect();
    let chosen = Name::from(name);
    if loaded.team.agent(&chosen).is_some() {
        let is_odd = |report: &&Report| definition_folder::is_told_at_start(report) || is_of_packages(report);
        let odd = loaded.reports.iter().filter(is_odd);
        broken.into_iter().chain(odd).for_each(|report| invocation.screen.report(report));
        servers::warn(invocation, &loaded.reports);
        return Ok(chosen);
    }
    let mut failure = Failure::usage(unknown_agent(loaded, name, words, broken.len()));
    failure.reports.splice(0..0, broken.into_iter().cloned());
    Err(failure)
}

fn unknown_agent(loaded: &Loaded, name: &str, words: &[String], broken: usize) -> Report {
    let names: Vec<_> = loaded.team.agents.keys().map(Name::as_str).collect();
    let report = Report::error("C010", format!("there is no agent `{name}`"));
    if name.contains(char::is_whitespace) {
        return report.hint("the agent comes first and is one word: `entourage run AGENT 'MESSAGE'`");
    }
    match entourage_model::meant(name, names.iter().copied()) {
        Some(nearest) => report.hint(format!("did you mean `{nearest}`?")),
        None if broken > 0 => report.hint("mend the declarations above; `entourage check` looks at all of them"),
        None => {
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let whole = words.join(" ");
            report.hint(format!("known are {known}; if `{whole}` is the message, put it in quotes"))
        }
    }
}

/// What to say: the argument itself, or all of standard input.
pub(crate) fn spoken(message: &str) -> Result<String, Failure> {
    let mut text = message.to_owned();
    if message == STDIN {
        text.clear();
        std::io::stdin().read_to_string(&mut text).map_err(|fault| {
            Failure::usage(Report::error("C012", format!("the message cannot be read from standard input: {fault}")))
        })?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage(Report::error("C012", "the message is empty").hint("say what is to be done")));
    }
    Ok(text)
}

/// A message that nobody may send is refused before a store is made for it.
fn insist_on_size(invocation: &Invocation, message: &str) -> Result<(), Failure> {
    let (found, max) = (message.len(), invocation.settings.limits.message_bytes);
    let place = invocation.project.data.display().to_string();
    if found > max { Err(Failure::of_runtime(&RuntimeError::MessageTooLarge { found, max }, &place)) } else { Ok(()) }
}

/// The message with its attachments, and the files that these are.
async fn outgoing(
    errand: &Errand<'_>,
    message: String,
    papers: Vec<Paper>,
) -> Result<(Outgoing, Vec<FileRow>), Failure> {
    let mut outgoing = Outgoing::user(message);
    let mut files = Vec::new();
    for paper in papers {
        let (file, attachment) = attachment::keep(errand.bench.storage(), paper).await?;
        files.push(file);
        outgoing.attachments.push(attachment);
    }
    Ok((outgoing, files))
}

/// Waits until nothing in the tree is at work.
pub(crate) async fn until_quiet(runtime: &Runtime, root: ThreadId) -> Result<(), RuntimeError> {
    runtime.wait_for_tree(root, PATIENCE).await.map(drop)
}
