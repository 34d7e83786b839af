//! `cargo x bench parked`: what many parked threads cost a process that does not touch them.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use clap::Parser;
use entourage_model::{Digest, Event, Ids, Limits, NewThread, Started, Timestamp, Variables};
use entourage_outside::model::{ModelSettings, Models};
use entourage_outside::tool::Toolbox;
use entourage_outside::workspace::Workspace;
use entourage_runtime::{Parts, Runtime};
use entourage_store::Store;
use entourage_store_sqlite::SqliteStore;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measures start-up and memory over an empty store and over one full of parked threads.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 100_000)]
    threads: usize,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let Arguments { threads } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let (empty, full) = (folder.path().join("empty"), folder.path().join("full"));
    fill(&full, threads).await?;
    // Once without counting, so that both are measured with everything loaded.
    start(&empty).await?;
    let without = start(&empty).await?;
    let with = start(&full).await?;
    println!("start-up: {without:.1?} with an empty store, {with:.1?} with {threads} parked threads");
    println!("resident: {} KiB after both", resident_kib()?);
    Ok(())
}

async fn fill(data: &Path, threads: usize) -> anyhow::Result<()> {
    let store = SqliteStore::open(data)?;
    let began = Instant::now();
    let create = |number: usize| store.create(parked(number), None);
    stream::iter(0..threads).map(create).buffer_unordered(512).try_for_each(|_| async { Ok(()) }).await?;
    println!("made {threads} threads in {:.1?}", began.elapsed());
    store.close().await;
    Ok(())
}

async fn start(data: &Path) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let runtime = Runtime::start(parts(Arc::new(SqliteStore::open(data)?))?).await?;
    runtime.resume(None);
    let took = began.elapsed();
    runtime.shutdown().await;
    runtime.store().close().await;
    Ok(took)
}

fn parts(store: Arc<dyn Store>) -> anyhow::Result<Parts> {
    Ok(Parts {
        store,
        models: Models::new(ModelSettings::default()),
        tools: Toolbox::builtin(),
        servers: entourage_outside::mcp::Servers::none(),
        workspace: Arc::new(Workspace::open(Path::new("/"))?),
        limits: Limits::default(),
        variables: Variables::default(),
        remotes: entourage_outside::remote::Remotes::plain(),
        vault: entourage_runtime::SealedVault::of_this_process(),
        slots: 1000,
        data: None,
        task_files: None,
    })
}

fn parked(number: usize) -> NewThread {
    let id = Ids::new(Timestamp(1_700_000_000_000_000), number as u64).thread();
    let bundle = Digest::of(b"a team that nobody asks");
    let started = Started::root(id, "nobody".into(), bundle, Timestamp(0));
    NewThread {
        id,
        parent: None,
        root: id,
        depth: 0,
        agent: "nobody".into(),
        bundle,
        user_id: None,
        tags: Vec::new(),
        events: vec![Event::Started(started)],
        items: Vec::new(),
        run: None,
        at_work: false,
    }
}

#[expect(clippy::disallowed_methods, reason = "the kernel's figures about this very process")]
fn resident_kib() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let figure = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    figure.ok_or_else(|| anyhow::anyhow!("the kernel does not say"))
}
