//! A process to be killed: a runtime that takes commands on standard input, one JSON document a line.
//!
//! It answers a command only when what the answer says is durable.

use anyhow::Context as _;
use async_trait::async_trait;
use entourage_model::{EffectClass, Limits, Team, ThreadId, ToolSpec, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::{Call, Output, Tool, Toolbox};
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime, RuntimeError};
use entourage_store::{Page, RunFilter, Store};
use entourage_store_postgres::PostgresStore;
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::breaking_store::BreakingStore;
use entourage_testkit::cast;
use entourage_testkit::dying_store::Points;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::signal::unix::{SignalKind, signal};

/// How long a node waits for its store before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);
/// What a zombie takes for its life.
const FOR_EVER: Duration = Duration::from_secs(3600);

#[derive(Debug, Serialize, Deserialize)]
pub enum Command {
    /// Makes a root thread of agent `boss`.
    Create {
        number: usize,
    },
    Send {
        thread: ThreadId,
        text: String,
    },
    /// Wants the work of a root, or a part of it, to end.
    End {
        number: usize,
        thread: ThreadId,
        how: End,
    },
    /// Asks for an answer once nothing is at work any more.
    Rest {
        roots: Vec<ThreadId>,
    },
}

/// How work is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Of the root's turn: what works in the background goes on.
    Stop,
    /// Of one child's run, whichever is under way.
    Cancel,
    /// Of the root and everything below it.
    Terminate,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    Created {
        number: usize,
        thread: ThreadId,
    },
    Sent {
        text: String,
    },
    /// Nothing of this thread, or of what is below it, begins any more.
    Ended {
        number: usize,
        over: Option<ThreadId>,
    },
    AtRest,
}

/// Where a node works.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub model_url: String,
    /// Every effect of the tool `note` appends its key here.
    pub ledger: PathBuf,
    /// A database that it shares with others; else it has a SQLite store in the data folder for itself.
    pub shared: Option<Shared>,
}

#[derive(Clone, Debug)]
pub struct Shared {
    pub url: String,
    /// How long a node lives from one heartbeat to the next.
    pub life: Duration,
    /// Every commit that was refused because somebody else holds the thread appends a line here.
    pub refused: PathBuf,
    /// It never says that it lives: others take its threads while it works on.
    pub zombie: bool,
}

/// Serves commands until standard input ends.
pub async fn serve(settings: Settings) -> anyhow::Result<()> {
    let store = open(&settings).await?;
    let mut tools = Toolbox::builtin();
    tools.insert(Arc::new(Note::new(settings.ledger, Points::until(None))));
    let models = ModelSettings { openai: ProviderSettings::at(settings.model_url), ..ModelSettings::default() };
    let parts = Parts {
        store,
        models: Models::new(models),
        tools,
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(&settings.data)?),
        limits: Limits { children_live: 1000, children_total: 100_000, ..Limits::default() },
        variables: Variables::default(),
        remotes: entourage_outside::remote::Remotes::plain(),
        vault: entourage_runtime::SealedVault::of_this_process(),
        slots: 10_000,
        data: None,
        task_files: None,
    };
    let runtime = Runtime::start(parts).await?;
    runtime.resume(None);
    let team = team();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut asked_to_end = signal(SignalKind::terminate())?;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            _ = asked_to_end.recv() => None,
        };
        let Some(line) = line else { break };
        let command: Command = serde_json::from_str(&line)?;
        let (runtime, team) = (runtime.clone(), Arc::clone(&team));
        tokio::spawn(async move {
            match answer(&runtime, team, command).await {
                Ok(answer) => say(&answer),
                // The driver sees that no answer came; it asks again.
                Err(error) => tracing::warn!(%error, "a command failed"),
            }
        });
    }
    runtime.shutdown().await;
    Ok(())
}

async fn open(settings: &Settings) -> anyhow::Result<Arc<dyn Store>> {
    let Some(Shared { url, life, refused, zombie }) = settings.shared.clone() else {
        return Ok(Arc::new(SqliteStore::open(&settings.data).context("the store does not open")?));
    };
    let options = || entourage_store_postgres::Options { node_life: life, ..Default::default() };
    let begin = Instant::now();
    let store = loop {
        match PostgresStore::open(&url, options()).await {
            Ok(store) => break store,
            // The server may be on its way up, or somebody cuts connections.
            Err(error) if begin.elapsed() < PATIENCE => {
                tracing::warn!(%error, "the store does not open yet");
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error).context("the store does not open"),
        }
    };
    let witnessed = BreakingStore::new(Arc::new(store)).on_fenced(move || {
        // A line that could not be written is one refusal less that is known of.
        _ = append(&refused, "refused");
    });
    Ok(Arc::new(if zombie { witnessed.with_life(FOR_EVER) } else { witnessed }))
}

async fn answer(runtime: &Runtime, team: Arc<Team>, command: Command) -> anyhow::Result<Answer> {
    match command {
        Command::Create { number } => {
            let root = NewRoot {
                team,
                agent: "boss".into(),
                message: None,
                user_id: None,
                tags: Vec::new(),
                files: Vec::new(),
                variables: BTreeMap::new(),
            };
            Ok(Answer::Created { number, thread: runtime.create(root).await?.thread })
        }
        Command::Send { thread, text } => {
            runtime.send(thread, Outgoing::user(text.clone()), Some(text.clone())).await?;
            Ok(Answer::Sent { text })
        }
        Command::End { number, thread, how } => Ok(Answer::Ended { number, over: end(runtime, thread, how).await? }),
        Command::Rest { roots } => {
            for root in roots {
                anyhow::ensure!(runtime.wait_for_tree(root, Duration::from_secs(120)).await?, "{root} never rests");
            }
            Ok(Answer::AtRest)
        }
    }
}

/// Ends work, and returns whose work has ended for good.
async fn end(runtime: &Runtime, thread: ThreadId, how: End) -> anyhow::Result<Option<ThreadId>> {
    match how {
        End::Stop => match runtime.stop(thread).await {
            Ok(()) | Err(RuntimeError::Terminated) => Ok(None),
            Err(error) => Err(error.into()),
        },
        End::Cancel => {
            let filter = RunFilter { parent: Some(thread), ..RunFilter::default() };
            let newest = runtime.store().runs(&filter, Page { after: None, limit: 50 }).await?;
            let Some(run) = newest.iter().find(|run| !run.status.is_terminal()) else { return Ok(None) };
            runtime.cancel(&run.id).await?;
            let ended = runtime.wait_for_run(&run.id, PATIENCE).await?;
            anyhow::ensure!(ended.status.is_terminal(), "run {} goes on", run.id);
            Ok(Some(run.thread))
        }
        End::Terminate => {
            runtime.terminate(thread).await?;
            anyhow::ensure!(runtime.wait_for_tree(thread, PATIENCE).await?, "{thread} goes on");
            Ok(Some(thread))
        }
    }
}

fn say(answer: &Answer) {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    // A driver that is gone needs no answer.
    let mut out = std::io::stdout().lock();
    _ = out.write_all(&line).and_then(|()| out.flush());
}

/// A boss that may start workers and wait for them, and runners and not wait; both do one thing that must not
/// happen twice.
fn team() -> Arc<Team> {
    cast::team([
        cast::solo("boss", vec![cast::blocking("worker"), cast::background("runner")]),
        cast::solo("worker", vec![cast::tool("note")]),
        cast::solo("runner", vec![cast::tool("note")]),
    ])
}

/// Writes its idempotency key into the ledger: an effect that everybody can count.
#[derive(Debug)]
pub(crate) struct Note {
    spec: Arc<ToolSpec>,
    ledger: PathBuf,
    points: Arc<Points>,
}

impl Note {
    pub(crate) fn new(ledger: PathBuf, points: Arc<Points>) -> Self {
        let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let spec = ToolSpec {
            name: "note".into(),
            description: "Writes a note.".to_owned(),
            parameters: Arc::new(parameters),
            class: EffectClass::AtMostOnce,
        };
        Self { spec: Arc::new(spec), ledger, points }
    }
}

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        self.points.pass();
        let written = append(&self.ledger, &call.key);
        self.points.pass();
        match written {
            Ok(()) => Output::success("noted"),
            Err(fault) => Output::error(fault.to_string()),
        }
    }
}

/// One write of one line: a killed process leaves all of it or nothing.
fn append(ledger: &Path, key: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(ledger)?;
    file.write_all(format!("{key}\n").as_bytes())
}
