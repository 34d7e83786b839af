//! Measures the store: commits in a second with many threads at work, what one costs, and how long opening takes.
//!
//! `cargo run --release -p entourage-store-sqlite --example commits [FOLDER]`; the folder should lie on a real disk.
#![expect(clippy::print_stdout, reason = "a measurement speaks to whoever asked for it")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads its own process's counters")]

use entourage_model::{
    Event, Ids, Item, Message, NewThread, Posted, Role, ThreadId, ThreadStatus, Timestamp, Usage, Write,
};
use entourage_store::contract::sample;
use entourage_store::{Claim, Commit, NewLine, Store};
use entourage_store_sqlite::SqliteStore;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SPAN: Duration = Duration::from_secs(3);

#[tokio::main(worker_threads = 2)]
async fn main() {
    let given = std::env::args().nth(1);
    let folder = given.map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a folder to measure in");
    measure_opening(&folder.path().join("fresh")).await;
    for tasks in [1, 8, 64, 256] {
        measure_commits(&folder.path().join(format!("commits-{tasks}")), tasks).await;
    }
    measure_spawns(&folder.path().join("spawns")).await;
    measure_parked(&folder.path().join("parked")).await;
}

async fn measure_opening(folder: &Path) {
    for name in ["a fresh store", "the same again"] {
        let before = Instant::now();
        let store = SqliteStore::open(folder).expect("it can be opened");
        let opened = before.elapsed();
        let node = Ids::new(store.now(), 1).node();
        store.register(node).await.expect("it can be registered");
        let registered = before.elapsed() - opened;
        println!("opening {name}: {opened:.1?}, its first commit {registered:.1?}");
        store.close().await;
    }
}

/// Each task works as a thread does: two events of about 700 bytes a commit, and every sixteenth time a line from
/// outside, which the next commit consumes.
async fn measure_commits(folder: &Path, tasks: u64) {
    let store = Arc::new(SqliteStore::open(folder).expect("it can be opened"));
    let (cpu, clock, transactions) = (cpu(), Instant::now(), store.transactions());
    let work = |seed| tokio::spawn(work(Arc::clone(&store), seed, clock + SPAN));
    let done = futures::future::join_all((1..=tasks).map(work)).await;
    let commits: u64 = done.into_iter().map(|commits| commits.expect("nobody panics")).sum();
    let each = |spent: Duration| spent.as_secs_f64() * 1e6 / commits as f64;
    println!(
        "{tasks} tasks: {:.0} commits/s, {:.1} to a transaction; CPU each {:.1} µs, {:.1} of them in the writer",
        commits as f64 / clock.elapsed().as_secs_f64(),
        commits as f64 / (store.transactions() - transactions) as f64,
        each(self::cpu() - cpu),
        each(writer_cpu()),
    );
    store.close().await;
}

async fn work(store: Arc<SqliteStore>, seed: u64, until: Instant) -> u64 {
    let node = Ids::new(store.now(), seed).node();
    store.register(node).await.expect("it can be registered");
    let claim = store.create(new_thread(seed, None), Some(node)).await.expect("it can be made").expect("it was asked");
    let mut commits = 0;
    let mut waiting = vec![1];
    while Instant::now() < until {
        let commit = Commit {
            seq: claim.seq + commits * 2,
            events: vec![answered(seed, 500), answered(seed + 1, 500)],
            consumed: std::mem::take(&mut waiting),
            ..blank(&claim)
        };
        store.commit(claim.lease, commit).await.expect("the lease is good");
        commits += 1;
        if commits.is_multiple_of(16) {
            let item = Item::Message(Posted::plain(message(seed, 200)));
            let line = NewLine { item, key: None, run: None, messages_max: 1000 };
            let queued = store.enqueue(claim.lease.thread, line, None).await.expect("there is room");
            waiting.push(queued.number);
        }
    }
    commits
}

/// One root that spawns ten children at a time, taken up at once.
async fn measure_spawns(folder: &Path) {
    let store = SqliteStore::open(folder).expect("it can be opened");
    let node = Ids::new(store.now(), 1).node();
    store.register(node).await.expect("it can be registered");
    let root = store.create(new_thread(1, None), Some(node)).await.expect("it can be made").expect("it was asked");
    let (cpu, clock) = (cpu(), Instant::now());
    let mut children = 0;
    while clock.elapsed() < SPAN {
        let spawn = |number| Write::Spawn(Box::new(new_thread(children + number + 2, Some(root.lease.thread))));
        let writes = (0..10).map(spawn).collect();
        let commit = Commit { writes, claim: true, children_total: u32::MAX, ..blank(&root) };
        let done = store.commit(root.lease, commit).await.expect("the lease is good");
        children += done.claims.len() as u64;
    }
    println!(
        "spawning ten at a time: {:.0} children/s, {:.1} µs CPU each",
        children as f64 / clock.elapsed().as_secs_f64(),
        (self::cpu() - cpu).as_secs_f64() * 1e6 / children as f64,
    );
    store.close().await;
}

async fn measure_parked(folder: &Path) {
    const PARKED: u64 = 100_000;
    let store = Arc::new(SqliteStore::open(folder).expect("it can be opened"));
    let node = Ids::new(store.now(), 1).node();
    store.register(node).await.expect("it can be registered");
    for start in (0..PARKED).step_by(500) {
        let park = async |seed| {
            let made = store.create(new_thread(seed, None), Some(node)).await.expect("it can be made");
            let claim = made.expect("it was asked");
            let commit = Commit { status: ThreadStatus::Idle, ..blank(&claim) };
            store.commit(claim.lease, commit).await.expect("the lease is good");
        };
        futures::future::join_all((start..start + 500).map(park)).await;
    }
    store.close().await;
    drop(store);
    let before = Instant::now();
    let store = SqliteStore::open(folder).expect("it can be opened");
    println!("opening with {PARKED} parked threads: {:.1?}", before.elapsed());
    store.close().await;
}

fn new_thread(seed: u64, parent: Option<ThreadId>) -> NewThread {
    let mut ids = Ids::new(Timestamp(i64::try_from(seed).expect("a small number") * 1000), seed);
    let id = ids.thread();
    let items = vec![Item::Message(Posted::plain(message(seed, 200)))];
    NewThread { items, ..sample::new_thread(id, parent, parent.unwrap_or(id)) }
}

fn message(seed: u64, bytes: usize) -> Message {
    Message::new(Ids::new(Timestamp(0), seed).message(), Role::Assistant, "x".repeat(bytes), Timestamp(0))
}

fn answered(seed: u64, bytes: usize) -> Event {
    Event::Answered { message: Arc::new(message(seed, bytes)), usage: Usage::default() }
}

fn blank(claim: &Claim) -> Commit {
    let usage = Usage { input_tokens: 100, output_tokens: 10, steps: 1 };
    Commit { seen: u64::MAX, usage, ..sample::blank(claim) }
}

/// What this process has used so far, user and system. Linux only.
fn cpu() -> Duration {
    ticks("/proc/self/stat")
}

/// The same of the threads that write; of an open store there is one.
fn writer_cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux").map(|entry| entry.expect("Linux").path());
    let is_writer =
        |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("store-writer"));
    threads.filter(is_writer).map(|path| ticks(path.join("stat"))).sum()
}

fn ticks(stat: impl AsRef<Path>) -> Duration {
    let stat = std::fs::read_to_string(stat).expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("it has a name").split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}
