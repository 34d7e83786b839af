//! A process to be killed: a runtime on SQLite that takes commands on standard input, one JSON document a line.
//!
//! It answers a command only when what the answer says is durable.

use anyhow::Context as _;
use async_trait::async_trait;
use entourage_model::{EffectClass, Limits, Team, ThreadId, ToolSpec, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::{Call, Output, Tool, Toolbox};
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime};
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::cast;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

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
    /// Asks for an answer once nothing is at work any more.
    Rest {
        roots: Vec<ThreadId>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    Created { number: usize, thread: ThreadId },
    Sent { text: String },
    AtRest,
}

/// Where a node works.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub model_url: String,
    /// Every effect of the tool `note` appends its key here.
    pub ledger: PathBuf,
}

/// Serves commands until standard input ends.
pub async fn serve(settings: Settings) -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::open(&settings.data).context("the store does not open")?);
    let mut tools = Toolbox::builtin();
    tools.insert(Arc::new(Note::new(settings.ledger)));
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
    while let Some(line) = lines.next_line().await? {
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
        Command::Rest { roots } => {
            for root in roots {
                anyhow::ensure!(runtime.wait_for_tree(root, Duration::from_secs(120)).await?, "{root} never rests");
            }
            Ok(Answer::AtRest)
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
struct Note {
    spec: Arc<ToolSpec>,
    ledger: PathBuf,
}

impl Note {
    fn new(ledger: PathBuf) -> Self {
        let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let spec = ToolSpec {
            name: "note".into(),
            description: "Writes a note.".to_owned(),
            parameters: Arc::new(parameters),
            class: EffectClass::AtMostOnce,
        };
        Self { spec: Arc::new(spec), ledger }
    }
}

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        match append(&self.ledger, &call.key) {
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
