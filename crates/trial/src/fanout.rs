//! Our side of the fan-out benchmark: one parent, N children of two model steps and one tool call, durable.

use anyhow::Context as _;
use entourage_model::{Limits, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime};
use entourage_store::Store;
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::cast;
use entourage_testkit::floor::Measured;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Settings {
    pub url: String,
    pub children: usize,
    /// Where the store is; a folder of its own for each run.
    pub data: PathBuf,
    /// Holds `note.txt`, which every child reads.
    pub workspace: PathBuf,
}

/// Runs the parent to its end and measures this process.
pub async fn run(settings: &Settings) -> anyhow::Result<Measured> {
    let began = Instant::now();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&settings.data)?);
    let children = u32::try_from(settings.children)?;
    let models = ModelSettings { openai: ProviderSettings::at(settings.url.clone()), ..ModelSettings::default() };
    let parts = Parts {
        store: Arc::clone(&store),
        models: Models::new(models),
        tools: Toolbox::builtin(),
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(&settings.workspace)?),
        limits: Limits { children_live: children, children_total: children, ..Limits::default() },
        variables: Variables::default(),
        remotes: entourage_outside::remote::Remotes::plain(),
        vault: entourage_runtime::SealedVault::of_this_process(),
        slots: 1000,
        data: None,
        task_files: None,
    };
    let runtime = Runtime::start(parts).await?;
    runtime.resume(None);
    let mut parent = cast::solo("parent", vec![cast::blocking("worker")]);
    parent.side_a.prompt.instructions = format!("[[parent:{children}]]").into();
    let root = NewRoot {
        team: cast::team([parent, cast::solo("worker", vec![cast::tool("read_file")])]),
        agent: "parent".into(),
        message: Some(Outgoing::user("go")),
        user_id: None,
        tags: Vec::new(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    };
    let created = runtime.create(root).await?;
    let run = created.run.context("a message makes a run")?;
    let row = runtime.wait_for_run(&run, Duration::from_secs(600)).await?;
    anyhow::ensure!(row.result.as_deref() == Some("all done"), "the parent ended with {row:?}");
    let wall = began.elapsed();
    runtime.shutdown().await;
    store.close().await;
    Measured::take(settings.children, wall, 2 * settings.children + 2)
}
