//! What one more child costs a parent that has many: making it, writing to it, and listing all of them.

use anyhow::Context as _;
use entourage_model::{Dialect, Ids, Limits, ThreadId, Timestamp, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Order, Outgoing, Parts, Runtime, SealedVault};
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::cast::{self, mark};
use entourage_testkit::floor::Measured;
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// What one thing costs, of so many of them, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
}

/// A parent with so many children.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub children: usize,
    pub create: Cost,
    pub message: Cost,
    pub list: Cost,
    /// Of the parent's last request to its model.
    pub request_bytes: usize,
}

/// What the models say: the parent does what it is told and answers with the size of the request that it read.
pub fn reply(request: &Request) -> Reply {
    if !request.system().contains(&mark("boss")) {
        return Reply::text("done");
    }
    if !request.tool_results().is_empty() {
        return Reply::text(request.bytes().len().to_string());
    }
    match request.last_text().split_once(' ') {
        Some(("make", name)) => {
            Reply::call("subagent_create", json!({ "agent": "worker", "message": "go", "name": name }))
        }
        Some((_, reference)) => {
            Reply::call("subagent_message", json!({ "referenceId": reference, "message": "again" }))
        }
        None => Reply::text("nothing to do"),
    }
}

/// A parent at work, and how many runs it was asked for.
#[derive(Debug)]
pub struct Parent {
    runtime: Runtime,
    thread: ThreadId,
    asked: u64,
}

impl Parent {
    /// The parent's prompt shows only the current exchange, so that of its requests only the list of children grows.
    pub async fn start(url: &str, folder: &Path) -> anyhow::Result<Self> {
        let models = ModelSettings { openai: ProviderSettings::at(url.to_owned()), ..ModelSettings::default() };
        let parts = Parts {
            store: Arc::new(SqliteStore::open(&folder.join("data"))?),
            models: Models::new(models),
            tools: Toolbox::builtin(),
            workspace: Arc::new(Workspace::open(folder)?),
            limits: Limits { children_total: 1_000_000, ..Limits::default() },
            variables: Variables::default(),
            remotes: entourage_outside::remote::Remotes::plain(),
            vault: SealedVault::of_this_process(),
            slots: 100,
            data: None,
            task_files: None,
        };
        let runtime = Runtime::start(parts).await?;
        runtime.resume(None);
        let mut boss = cast::solo("boss", vec![cast::resumable("worker")]);
        boss.side_a.prompt.include_chat = false;
        let root = NewRoot {
            team: cast::team([boss, cast::solo("worker", Vec::new())]),
            agent: "boss".into(),
            message: None,
            user_id: None,
            tags: Vec::new(),
            files: Vec::new(),
            variables: BTreeMap::new(),
        };
        let thread = runtime.create(root).await?.thread;
        Ok(Self { runtime, thread, asked: 0 })
    }

    /// Makes children until there are so many, then measures `times` of each.
    pub async fn measure(&mut self, children: usize, times: usize) -> anyhow::Result<Row> {
        while self.references().await?.len() < children {
            for _ in self.references().await?.len()..children {
                self.ask("make one").await?;
            }
        }
        let references = self.references().await?;
        let from = Instant::now();
        let before = cpu()?;
        for _ in 0..times {
            self.ask("make one").await?;
        }
        let create = cost(from, before, times)?;
        let (from, before) = (Instant::now(), cpu()?);
        let mut request_bytes = 0;
        for place in 0..times {
            let reference = references[place * references.len() / times];
            request_bytes = self.ask(&format!("tell {reference}")).await?;
        }
        let message = cost(from, before, times)?;
        let (from, before) = (Instant::now(), cpu()?);
        for _ in 0..times {
            let listed = self.list().await?;
            anyhow::ensure!(listed.len() > children, "not all children are listed");
        }
        Ok(Row { children, create, message, list: cost(from, before, times)?, request_bytes })
    }

    pub async fn stop(&self) {
        self.runtime.shutdown().await;
    }

    /// Asks the parent for something; how many bytes its last request had.
    async fn ask(&mut self, text: &str) -> anyhow::Result<usize> {
        self.asked += 1;
        let run = Ids::new(Timestamp(0), self.asked).run(Dialect::Standard);
        let order = Order { run: run.clone(), denied: Vec::new(), key: None };
        self.runtime.ask(self.thread, Outgoing::user(text), order).await?;
        let row = self.runtime.wait_for_run(&run, PATIENCE).await?;
        let result = row.result.with_context(|| format!("it came to nothing: {:?}", row.error))?;
        result.parse().with_context(|| format!("the parent says `{result}`"))
    }

    async fn references(&self) -> anyhow::Result<Vec<ThreadId>> {
        let state = self.runtime.state(self.thread).await?.context("the parent is gone")?;
        Ok(state.registry().map(|entry| entry.reference).collect())
    }

    /// The children as `GET /threads/{id}` shows them.
    async fn list(&self) -> anyhow::Result<Vec<serde_json::Value>> {
        let state = self.runtime.state(self.thread).await?.context("the parent is gone")?;
        Ok(state.registry().map(serde_json::to_value).collect::<Result<_, _>>()?)
    }
}

/// Processor time of this process so far, in milliseconds.
fn cpu() -> anyhow::Result<f64> {
    Ok(Measured::take(1, Duration::ZERO, 1)?.cpu_ms)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn cost(from: Instant, before: f64, times: usize) -> anyhow::Result<Cost> {
    let wall = from.elapsed().as_secs_f64() * 1000.0 / times as f64;
    Ok(Cost { wall, cpu: (cpu()? - before) / times as f64 })
}
