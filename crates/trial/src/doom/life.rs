//! One life of the process that is to die: it asks for a piece of work, as whoever asks again after a crash does, and
//! waits until everything rests.

use super::Scenario;
use crate::node::Note;
use anyhow::Context as _;
use entourage_model::{Digest, Limits, RequestId, ThreadId, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{Given, NewRoot, Outgoing, Parts, RootKey, Runtime, SealedVault};
use entourage_store::{RunFilter, ThreadFilter, all_runs, all_threads};
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::dying_store::{DyingStore, Points};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const REST: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Settings {
    pub scenario: Scenario,
    /// Holds the store, the ledger of effects, and what whoever asks remembers.
    pub folder: PathBuf,
    pub model_url: String,
    /// At which point the process ends; without one it lives.
    pub die_at: Option<usize>,
}

/// Brings the work to its end. Returns how many points it passed.
pub async fn live(settings: &Settings) -> anyhow::Result<usize> {
    let points = Points::until(settings.die_at);
    let store = SqliteStore::open(&settings.folder.join("data")).context("the store does not open")?;
    let store = Arc::new(DyingStore::new(Arc::new(store), Arc::clone(&points)));
    let mut tools = Toolbox::builtin();
    tools.insert(Arc::new(Note::new(settings.folder.join("ledger"), Arc::clone(&points))));
    let openai = ProviderSettings::at(settings.model_url.clone());
    let parts = Parts {
        store,
        models: Models::new(ModelSettings { openai, ..ModelSettings::default() }),
        tools,
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(&settings.folder.join("workspace"))?),
        limits: Limits::default(),
        variables: Variables::default(),
        remotes: entourage_outside::remote::Remotes::plain(),
        // What one life has sealed the next one must be able to read.
        vault: SealedVault::new([7; SealedVault::KEY_BYTES]),
        slots: 100,
        data: None,
        task_files: None,
    };
    let runtime = Runtime::start(parts).await?;
    runtime.resume(None);
    let thread = ask(&runtime, settings.scenario).await?;
    tokio::time::timeout(REST, end(&runtime, settings.scenario, thread)).await.context("there is nothing to end")??;
    rest(&runtime, thread).await?;
    if settings.scenario == Scenario::Variables {
        give(&runtime, thread, &settings.folder.join("request")).await?;
        rest(&runtime, thread).await?;
    }
    runtime.shutdown().await;
    Ok(points.passed())
}

async fn rest(runtime: &Runtime, root: ThreadId) -> anyhow::Result<()> {
    anyhow::ensure!(runtime.wait_for_tree(root, REST).await?, "the tree never comes to rest");
    Ok(())
}

/// Ends work in the middle, where that is to be: once there is a child. Repeating it changes nothing.
async fn end(runtime: &Runtime, scenario: Scenario, root: ThreadId) -> anyhow::Result<()> {
    if !matches!(scenario, Scenario::Cancelled | Scenario::Terminated) {
        return Ok(());
    }
    let mut watcher = runtime.watch(root);
    let children = ThreadFilter { parent: Some(root), ..ThreadFilter::default() };
    while all_threads(&**runtime.store(), &children).await?.is_empty() {
        watcher.next().await;
    }
    if scenario == Scenario::Terminated {
        return Ok(runtime.terminate(root).await?);
    }
    let own = RunFilter { thread: Some(root), ..RunFilter::default() };
    for run in all_runs(&**runtime.store(), &own).await? {
        runtime.cancel(&run.id).await?;
    }
    Ok(())
}

/// Repeating it changes nothing: everything has a key.
async fn ask(runtime: &Runtime, scenario: Scenario) -> anyhow::Result<ThreadId> {
    let has_files = scenario == Scenario::Attachments;
    let root = NewRoot {
        team: scenario.team(),
        agent: "boss".into(),
        message: (!has_files).then(|| Outgoing::user("go")),
        user_id: None,
        tags: Vec::new(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    };
    let key = RootKey { name: "the only one".to_owned(), request: Digest::of(b"the only one") };
    let thread = runtime.create_once(root, key).await?.thread;
    if has_files {
        runtime.put_file(thread, "/in/a.txt".to_owned(), "text/plain".to_owned(), b"content").await?;
        runtime.send(thread, Outgoing::user("go"), Some("go".to_owned())).await?;
    }
    Ok(thread)
}

/// Whoever gives the variable remembers for which request, and asks again until it is told that the child has started.
#[expect(clippy::disallowed_methods, reason = "the memory of somebody outside")]
async fn give(runtime: &Runtime, thread: ThreadId, memory: &Path) -> anyhow::Result<()> {
    let request: RequestId = match std::fs::read_to_string(memory) {
        Ok(text) => text.parse().map_err(|_| anyhow::anyhow!("`{text}` is no request"))?,
        Err(_) => {
            let state = runtime.state(thread).await?.context("the thread is gone")?;
            let id = *state.requests.keys().next().context("nobody asked for a variable")?;
            std::fs::write(memory, id.to_string())?;
            id
        }
    };
    let given = BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())]);
    let started = runtime.give(thread, request, given, Some("given".to_owned())).await?;
    anyhow::ensure!(matches!(started, Given::Started(_)), "whoever gave the variable was told {started:?}");
    Ok(())
}
