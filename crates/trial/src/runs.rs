//! Many background runs of one parent, which asks again and again how they stand.

use anyhow::Context as _;
use entourage_model::{Agent, Dialect, Event, Limits, RunStatus, ThreadId, Variables};
use entourage_outside::model::{ModelSettings, Models, ProviderSettings};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{NewRoot, Outgoing, Parts, Runtime};
use entourage_store::{Page, RunFilter, Store};
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::{FakeModel, Reply, Request, cast};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Through whose tools: `agentscope` or `dex`.
    pub dialect: Dialect,
    pub runs: usize,
    /// How often the parent asks for the list.
    pub lists: usize,
    /// How long the model takes for each of a child's steps, in the middle.
    pub latency: Duration,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Figures {
    /// From a model's call of the list to its next request, which has the answer, in milliseconds; in order.
    pub list_ms: Vec<f64>,
    /// How many runs were unfinished when the last list was asked for.
    pub unfinished: usize,
    pub wall: Duration,
}

/// When the parent's model asked for a list and had its answer.
#[derive(Debug, Default)]
struct Watch {
    asked: Option<Instant>,
    lists: Vec<f64>,
}

/// How long the parent thinks before it asks for a list, so that its lists are spread over the life of the runs.
const LIST_PAUSE: Duration = Duration::from_millis(50);
const PARENT: &str = "parent";
const WORKER: &str = "worker";

/// Plays it in this folder, and checks that every run ended well and was delivered once.
pub async fn run(settings: &Settings, folder: &Path) -> anyhow::Result<Figures> {
    let began = Instant::now();
    let watch = Arc::new(Mutex::new(Watch::default()));
    // On a thread of its own, as a model is never in the queue of our own tasks.
    let apart = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let model = apart.spawn(FakeModel::start(brain(*settings, Arc::clone(&watch)))).await?;
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.join("data"))?);
    let runtime = Runtime::start(parts(&store, model.url(), settings, folder)?).await?;
    let created = runtime.create(root(settings.dialect)).await?;
    let parent = created.thread;
    let first = created.run.context("a message makes a run")?;
    runtime.wait_for_run(&first, Duration::from_secs(120)).await?;
    let unfinished = runs_of(&*store, parent, Some(RunStatus::Running)).await?;
    anyhow::ensure!(runtime.wait_for_tree(parent, Duration::from_secs(120)).await?, "the tree never came to rest");
    let wall = began.elapsed();
    anyhow::ensure!(runs_of(&*store, parent, Some(RunStatus::Done)).await? == settings.runs, "not all runs are done");
    check_deliveries(&*store, parent, settings.runs).await?;
    runtime.shutdown().await;
    store.close().await;
    apart.shutdown_background();
    let list_ms = watch.lock().unwrap_or_else(PoisonError::into_inner).lists.clone();
    Ok(Figures { list_ms, unfinished, wall })
}

/// The parent starts everything in one step, then asks for the list so often, then rests.
fn brain(settings: Settings, watch: Arc<Mutex<Watch>>) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request: &Request| {
        if !request.system().contains(&cast::mark(PARENT)) {
            let latency = latency(settings.latency, request);
            return match request.assistant_turns() {
                0 => Reply::call("list_files", json!({"path": "."})).after(latency),
                _ => Reply::text("done").after(latency),
            };
        }
        let now = Instant::now();
        let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asked) = watch.asked.take() {
            watch.lists.push(now.saturating_duration_since(asked).as_secs_f64() * 1000.0);
        }
        match request.assistant_turns() {
            0 => Reply::calls((0..settings.runs).map(|job| start(settings.dialect, job))),
            turn if turn <= settings.lists => {
                watch.asked = Some(Instant::now() + LIST_PAUSE);
                let (tool, arguments) = list(settings.dialect);
                Reply::call(tool, arguments).after(LIST_PAUSE)
            }
            _ => Reply::text("noted"),
        }
    }
}

/// Between half as long and half as long again, always the same for one job: no two hundred answers come at once.
fn latency(middle: Duration, request: &Request) -> Duration {
    let asked = request.texts("user").concat();
    let job: u32 = asked.rsplit(' ').next().and_then(|number| number.trim().parse().ok()).unwrap_or_default();
    middle * (50 + job * 37 % 101) / 100
}

fn start(dialect: Dialect, job: usize) -> (&'static str, Value) {
    let task = format!("job {job}");
    match dialect {
        Dialect::Dex => ("subagent", json!({"action": "run", "profile": WORKER, "task": task, "background": true})),
        Dialect::Standard | Dialect::AgentScope => {
            ("agent_spawn", json!({"agent_id": WORKER, "task": task, "timeout_seconds": 0}))
        }
    }
}

fn list(dialect: Dialect) -> (&'static str, Value) {
    match dialect {
        Dialect::Dex => ("subagent", json!({"action": "list"})),
        Dialect::Standard | Dialect::AgentScope => ("task_list", json!({})),
    }
}

fn root(dialect: Dialect) -> NewRoot {
    let parent = Agent { dialects: vec![dialect], ..cast::solo(PARENT, Vec::new()) };
    let mut worker = cast::solo(WORKER, vec![cast::tool("list_files")]);
    if dialect == Dialect::Dex {
        "dex".clone_into(&mut worker.source.format);
    }
    NewRoot {
        team: cast::team([parent, worker]),
        agent: PARENT.into(),
        message: Some(Outgoing::user("go")),
        user_id: None,
        tags: Vec::new(),
        files: Vec::new(),
        variables: BTreeMap::new(),
    }
}

fn parts(store: &Arc<dyn Store>, url: &str, settings: &Settings, folder: &Path) -> anyhow::Result<Parts> {
    let runs = u32::try_from(settings.runs)?;
    Ok(Parts {
        store: Arc::clone(store),
        models: Models::new(ModelSettings { openai: ProviderSettings::at(url), ..ModelSettings::default() }),
        tools: Toolbox::builtin(),
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(folder)?),
        limits: Limits { children_live: runs, children_total: runs, ..Limits::default() },
        variables: Variables::default(),
        remotes: entourage_outside::remote::Remotes::plain(),
        vault: entourage_runtime::SealedVault::of_this_process(),
        slots: 1000,
        data: Some(folder.join("data")),
        task_files: None,
    })
}

async fn runs_of(store: &dyn Store, parent: ThreadId, status: Option<RunStatus>) -> anyhow::Result<usize> {
    let filter = RunFilter { parent: Some(parent), status, ..RunFilter::default() };
    Ok(store.runs(&filter, Page { after: None, limit: 100_000 }).await?.len())
}

/// Each ending is one line of the parent's queue, taken up once.
async fn check_deliveries(store: &dyn Store, parent: ThreadId, runs: usize) -> anyhow::Result<()> {
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for stored in store.journal(parent, 0, 1_000_000).await? {
        if let Event::Posted(posted) = &stored.event
            && let Some(run) = &posted.delivers
        {
            *told.entry(run.to_string()).or_default() += 1;
        }
    }
    let is_once = told.len() == runs && told.values().all(|times| *times == 1);
    anyhow::ensure!(is_once, "{} of {runs} runs were told: {told:?}", told.len());
    Ok(())
}
