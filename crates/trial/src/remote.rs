//! Two servers, one of which runs an agent for the other: either is killed in the middle, again and again.
//!
//! Whatever was asked for ends once on both sides, and its result arrives once.

use crate::served::{Served, Site};
use anyhow::Context as _;
use entourage_testkit::{FakeModel, Recording, Reply, Request};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long everything may take to come to rest after the last kill.
const REST: Duration = Duration::from_secs(120);
/// Within this time of a round's beginning a server is killed.
const KILL_MS_MAX: u64 = 500;
/// How many pieces of work a round gives to the other server: one is waited for, the rest is done in the background.
const JOBS: usize = 3;
const HEADER: &str = "REMOTE_TOKEN";

#[derive(Clone, Debug)]
pub struct Settings {
    /// The program to be killed.
    pub program: PathBuf,
    pub rounds: usize,
}

/// What happened, in numbers, and what must not have.
#[derive(Debug, Serialize)]
pub struct Tried {
    pub rounds: usize,
    pub near_killed: usize,
    pub far_killed: usize,
    pub jobs: usize,
    /// Model calls on the far side; more than jobs where a kill made it ask again.
    pub asked: usize,
    pub seconds: f64,
    pub violations: Vec<String>,
}

struct Pair {
    near: Site,
    far: Site,
    near_server: Served,
    far_server: Served,
    model: FakeModel,
    roots: Vec<String>,
}

pub async fn run(settings: Settings) -> anyhow::Result<Tried> {
    let began = Instant::now();
    let folder = tempfile::tempdir()?;
    let mut pair = Pair::start(&settings.program, folder.path()).await?;
    let (mut near_killed, mut far_killed) = (0, 0);
    for round in 0..settings.rounds {
        pair.begin(round).await?;
        tokio::time::sleep(Duration::from_millis(fastrand::u64(..KILL_MS_MAX))).await;
        if fastrand::bool() {
            pair = pair.kill_near().await?;
            near_killed += 1;
        } else {
            pair = pair.kill_far().await?;
            far_killed += 1;
        }
    }
    pair.rest().await?;
    let violations = pair.judge(settings.rounds).await?;
    let asked = pair.model.requests().iter().filter(|request| is_far(request)).count();
    let jobs = settings.rounds * JOBS;
    let seconds = began.elapsed().as_secs_f64();
    Ok(Tried { rounds: settings.rounds, near_killed, far_killed, jobs, asked, seconds, violations })
}

fn is_far(request: &Request) -> bool {
    request.system().contains("[[far]]")
}

/// The near root gives every job away and then says what came back; the far agent takes a moment.
fn brain(request: &Request) -> Reply {
    if is_far(request) {
        let task = request.last_text();
        return Reply::text(format!("result of {task}")).after(Duration::from_millis(fastrand::u64(20..400)));
    }
    match request.texts("user").first().and_then(|text| text.strip_prefix("go ").map(str::to_owned)) {
        Some(round) if request.assistant_turns() == 0 => {
            Reply::calls((0..JOBS).map(|number| ("agent_spawn", spawn(&round, number))))
        }
        _ => Reply::text("noted"),
    }
}

fn job(round: impl std::fmt::Display, number: usize) -> String {
    format!("job-{round}-{number}.")
}

fn spawn(round: &str, number: usize) -> Value {
    let time = if number == 0 { 60 } else { 0 };
    json!({ "agent_id": "far", "task": job(round, number), "timeout_seconds": time })
}

impl Pair {
    async fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let model = FakeModel::start_with(brain, Recording::On).await;
        let site = |name: &str| Site {
            program: program.to_owned(),
            folder: folder.join(name),
            model_url: model.url().to_owned(),
            variables: Vec::new(),
        };
        let (mut near, far) = (site("near"), site("far"));
        far.lay("subagents/far.md", "---\ndescription: Works far away.\n---\n[[far]]\n")?;
        far.lay("entourage.toml", "[limits]\nchildren_total = 10000\n")?;
        let far_server = far.serve(None).await?;
        near.variables.push((HEADER.to_owned(), far_server.token.clone()));
        let url = format!("http://{}", far_server.address);
        near.lay(
            "entourage.toml",
            &format!(
                "[subagents.far]\ndescription = \"Works far away.\"\nurl = \"{url}\"\n\
                 headers = {{ Authorization = \"Bearer ${{{HEADER}}}\" }}\n"
            ),
        )?;
        let near_server = near.serve(None).await?;
        Ok(Self { near, far, near_server, far_server, model, roots: Vec::new() })
    }

    async fn begin(&mut self, round: usize) -> anyhow::Result<()> {
        let body = json!({ "agent": "lead", "message": format!("go {round}") });
        let made = self.near_server.ask("POST", "/threads", &body).await?;
        self.roots.push(made["thread_id"].as_str().context("a thread has an id")?.to_owned());
        Ok(())
    }

    async fn kill_near(mut self) -> anyhow::Result<Self> {
        let address = self.near_server.address;
        self.near_server.kill().await?;
        self.near_server = self.near.serve(Some(address)).await?;
        Ok(self)
    }

    async fn kill_far(mut self) -> anyhow::Result<Self> {
        let address = self.far_server.address;
        self.far_server.kill().await?;
        self.far_server = self.far.serve(Some(address)).await?;
        Ok(self)
    }

    /// Waits until nothing is at work on either side.
    async fn rest(&self) -> anyhow::Result<()> {
        let until = Instant::now() + REST;
        for server in [&self.near_server, &self.far_server] {
            for status in ["running", "ready", "waiting"] {
                loop {
                    let rows = server.get(&format!("/threads?limit=1000&status={status}")).await?;
                    let Some(busy) = rows["threads"][0]["thread_id"].as_str() else { break };
                    anyhow::ensure!(Instant::now() < until, "{busy} never rests: {rows}");
                    server.get(&format!("/threads/{busy}/wait?timeout_seconds=5")).await?;
                }
            }
        }
        Ok(())
    }

    async fn judge(&self, rounds: usize) -> anyhow::Result<Vec<String>> {
        let mut violations = Vec::new();
        for (side, server) in [("near", &self.near_server), ("far", &self.far_server)] {
            let runs = server.get("/runs?limit=1000").await?;
            let runs = runs["runs"].as_array().context("a list of runs")?.clone();
            let expected = if side == "near" { rounds * (JOBS + 1) } else { rounds * JOBS };
            if runs.len() != expected {
                violations.push(format!("{side} has {} runs, not {expected}", runs.len()));
            }
            let unfinished = runs.iter().filter(|run| run["status"] != "done");
            violations.extend(unfinished.map(|run| format!("{side}: a run is not done: {run}")));
        }
        for (round, root) in self.roots.iter().enumerate() {
            violations.extend(self.judge_root(round, root).await?);
        }
        let far = self.far_server.get("/threads?limit=1000").await?;
        for thread in far["threads"].as_array().context("a list of threads")? {
            let id = thread["thread_id"].as_str().context("a thread has an id")?;
            let ends = kinds(&self.far_server, id, "session_ended").await?.len();
            if ends != 1 {
                violations.push(format!("far: {id} has ended {ends} times"));
            }
        }
        Ok(violations)
    }

    /// Every run below the root ended once, and every result is in its transcript once.
    async fn judge_root(&self, round: usize, root: &str) -> anyhow::Result<Vec<String>> {
        let mut violations = Vec::new();
        let mut ended: BTreeMap<String, usize> = BTreeMap::new();
        for event in kinds(&self.near_server, root, "child_ended").await? {
            *ended.entry(event["run_id"].to_string()).or_default() += 1;
        }
        if ended.len() != JOBS || ended.values().any(|times| *times != 1) {
            violations.push(format!("round {round}: children ended as {ended:?}"));
        }
        let rows = self.near_server.get(&format!("/threads/{root}/messages?include_silent=true&limit=1000")).await?;
        let texts: Vec<_> = rows["messages"].as_array().context("a list of messages")?.iter().collect();
        for number in 0..JOBS {
            let result = format!("result of {}", job(round, number));
            let times = texts.iter().filter(|message| {
                message["role"] != "assistant" && message["content"].as_str().unwrap_or_default().contains(&result)
            });
            let times = times.count();
            if times != 1 {
                violations.push(format!("round {round}: `{result}` arrived {times} times"));
            }
        }
        Ok(violations)
    }
}

/// The events of a thread that are of this kind.
async fn kinds(server: &Served, thread: &str, kind: &str) -> anyhow::Result<Vec<Value>> {
    let text = server.text("GET", &format!("/threads/{thread}/events?follow=false"), &Value::Null).await?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    Ok(events.filter(|event| event["type"] == kind).collect())
}
