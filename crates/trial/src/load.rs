//! A server under load: many open event streams and a steady rate of requests, measured from the outside.

use crate::served::{Served, Site, good};
use anyhow::Context as _;
use bytes::Bytes;
use entourage_testkit::{FakeModel, Recording, Reply, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// How many connections the requests share.
const CONNECTIONS: usize = 64;
/// How many threads the streams and requests are about.
const THREADS: usize = 200;

#[derive(Clone, Debug)]
pub struct Settings {
    pub program: PathBuf,
    pub streams: usize,
    /// A second.
    pub rate: u32,
    pub seconds: u64,
    /// Of the thread that has the most.
    pub children: usize,
}

/// What was measured.
#[derive(Debug)]
pub struct Loaded {
    /// Of `GET /threads/{id}`, from the moment when the request was due.
    pub shown: Times,
    /// The same for the thread with the most children.
    pub shown_parent: Times,
    /// Of everything else.
    pub rest: Times,
    pub failed: usize,
    pub events: u64,
    pub streams_open: usize,
    pub idle_kib: u64,
    pub streams_kib: u64,
    pub peak_kib: u64,
}

/// Sorted.
#[derive(Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Of so many of a thousand, the slowest.
    pub fn permille(&self, share: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((self.0.len() * share / 1000).min(last)).copied().unwrap_or_default()
    }
}

/// One request of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Show,
    ShowParent,
    Messages,
    Say,
    Create,
}

/// Of twenty requests: mostly looks, a few that make the threads work.
const MIX: [Kind; 20] = {
    let mut mix = [Kind::Show; 20];
    mix[3] = Kind::Messages;
    mix[7] = Kind::ShowParent;
    mix[9] = Kind::Messages;
    mix[11] = Kind::Say;
    mix[13] = Kind::ShowParent;
    mix[17] = Kind::Create;
    mix
};

#[derive(Debug, Default)]
struct Tally {
    shown: Vec<Duration>,
    shown_parent: Vec<Duration>,
    rest: Vec<Duration>,
    failed: Vec<String>,
}

#[derive(Debug)]
struct Target {
    server: Served,
    threads: Vec<String>,
    parent: String,
}

pub async fn run(settings: Settings) -> anyhow::Result<Loaded> {
    let folder = tempfile::tempdir()?;
    let children = settings.children;
    let model = FakeModel::start_with(move |request: &Request| brain(request, children), Recording::Off).await;
    let site = Site {
        program: settings.program.clone(),
        folder: folder.path().join("project"),
        model_url: model.url().to_owned(),
        variables: Vec::new(),
    };
    site.lay("subagents/digger.md", "---\ndescription: Digs.\n---\n[[digger]]\n")?;
    site.lay("entourage.toml", "[limits]\nchildren_live = 1000\nchildren_total = 2000\n")?;
    let target = Arc::new(lay_out(site.serve(None).await?).await?);
    let idle_kib = target.server.resident_kib()?;
    let events = Arc::new(AtomicU64::new(0));
    let mut streams = open_streams(&target, &settings, &events).await?;
    let streams_kib = target.server.resident_kib()?;
    let (tally, peak_kib) = play(&target, &settings).await?;
    let mut ended = 0;
    while streams.try_join_next().is_some() {
        ended += 1;
    }
    if let Some(first) = tally.failed.first() {
        tracing::warn!("a request failed: {first}");
    }
    Ok(Loaded {
        shown: sorted(tally.shown),
        shown_parent: sorted(tally.shown_parent),
        rest: sorted(tally.rest),
        failed: tally.failed.len(),
        events: events.load(Ordering::Relaxed),
        streams_open: settings.streams - ended,
        idle_kib,
        streams_kib,
        peak_kib,
    })
}

fn sorted(mut times: Vec<Duration>) -> Times {
    times.sort_unstable();
    Times(times)
}

fn brain(request: &Request, children: usize) -> Reply {
    if request.last_text() == "fan out" {
        let spawn = |number: usize| json!({ "agent_id": "digger", "task": format!("dig {number}") });
        return Reply::calls((0..children).map(|number| ("agent_spawn", spawn(number))));
    }
    Reply::text("done")
}

/// Threads to look at, and one with children.
async fn lay_out(server: Served) -> anyhow::Result<Target> {
    let parent = create(&server, "fan out").await?;
    let mut threads = Vec::new();
    for number in 0..THREADS {
        threads.push(create(&server, &format!("hello {number}")).await?);
    }
    for thread in threads.iter().chain([&parent]) {
        let settled = server.get(&format!("/threads/{thread}/wait?timeout_seconds=120")).await?;
        anyhow::ensure!(settled["status"] == "idle", "a thread does not rest: {settled}");
    }
    Ok(Target { server, threads, parent })
}

async fn create(server: &Served, message: &str) -> anyhow::Result<String> {
    let made = server.ask("POST", "/threads", &json!({ "agent": "lead", "message": message })).await?;
    Ok(made["thread_id"].as_str().context("a thread has an id")?.to_owned())
}

/// Each stream is read by a task of its own, which ends with it.
async fn open_streams(
    target: &Arc<Target>,
    settings: &Settings,
    events: &Arc<AtomicU64>,
) -> anyhow::Result<JoinSet<()>> {
    let mut streams = JoinSet::new();
    for number in 0..settings.streams {
        let thread = &target.threads[number % target.threads.len()];
        let mut sender = target.server.connect().await?;
        let request = target.server.request("GET", &format!("/threads/{thread}/events"), &Value::Null)?;
        let response = sender.send_request(request).await?;
        anyhow::ensure!(response.status().is_success(), "a stream was answered with {}", response.status());
        let events = Arc::clone(events);
        streams.spawn(async move {
            let (mut body, _sender) = (response.into_body(), sender);
            while let Some(Ok(frame)) = body.frame().await {
                let found =
                    frame.data_ref().map_or(0, |data| data.windows(4).filter(|bytes| bytes == b"\nid:").count());
                events.fetch_add(found as u64 + 1, Ordering::Relaxed);
            }
        });
    }
    Ok(streams)
}

/// Sends requests at a steady rate, whether or not earlier ones were answered, and returns what they took.
async fn play(target: &Arc<Target>, settings: &Settings) -> anyhow::Result<(Tally, u64)> {
    let (due, taken) = mpsc::unbounded_channel::<(Instant, usize)>();
    let (taken, mut workers) = (Arc::new(Mutex::new(taken)), JoinSet::new());
    for _ in 0..CONNECTIONS {
        let (taken, target) = (Arc::clone(&taken), Arc::clone(target));
        workers.spawn(async move {
            let mut tally = Tally::default();
            let mut sender = None;
            loop {
                let next = taken.lock().await.recv().await;
                let Some((due, number)) = next else { return tally };
                let kind = MIX[number % MIX.len()];
                match ask(&target, &mut sender, kind, number).await {
                    Ok(()) => tally.add(kind, due.elapsed()),
                    Err(fault) => tally.failed.push(format!("{kind:?}: {fault:#}")),
                }
            }
        });
    }
    let mut beat = tokio::time::interval(Duration::from_secs(1) / settings.rate);
    beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut peak_kib, total) = (0, u64::from(settings.rate) * settings.seconds);
    for number in 0..usize::try_from(total)? {
        let at = beat.tick().await;
        due.send((at, number))?;
        if number % 100 == 0 {
            peak_kib = peak_kib.max(target.server.resident_kib()?);
        }
    }
    drop(due);
    let mut tally = Tally::default();
    while let Some(worker) = workers.join_next().await {
        let Tally { shown, shown_parent, rest, failed } = worker?;
        tally.shown.extend(shown);
        tally.shown_parent.extend(shown_parent);
        tally.rest.extend(rest);
        tally.failed.extend(failed);
    }
    Ok((tally, peak_kib))
}

impl Tally {
    fn add(&mut self, kind: Kind, took: Duration) {
        match kind {
            Kind::Show => self.shown.push(took),
            Kind::ShowParent => self.shown_parent.push(took),
            Kind::Messages | Kind::Say | Kind::Create => self.rest.push(took),
        }
    }
}

async fn ask(
    target: &Target,
    sender: &mut Option<SendRequest<Full<Bytes>>>,
    kind: Kind,
    number: usize,
) -> anyhow::Result<()> {
    let thread = &target.threads[number * 7 % target.threads.len()];
    let (method, path, body) = match kind {
        Kind::Show => ("GET", format!("/threads/{thread}"), Value::Null),
        Kind::ShowParent => ("GET", format!("/threads/{}", target.parent), Value::Null),
        Kind::Messages => ("GET", format!("/threads/{thread}/messages"), Value::Null),
        Kind::Say => ("POST", format!("/threads/{thread}/messages"), json!({ "content": "more" })),
        Kind::Create => ("POST", "/threads".to_owned(), json!({ "agent": "lead", "message": "hello" })),
    };
    let mut open = match sender.take() {
        Some(open) if !open.is_closed() => open,
        _ => target.server.connect().await?,
    };
    open.ready().await?;
    let response = open.send_request(target.server.request(method, &path, &body)?).await?;
    good(response).await?;
    *sender = Some(open);
    Ok(())
}
