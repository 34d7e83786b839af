//! The driver: it sends, it kills, it remembers what was acknowledged.

use super::brain;
use crate::checker::{self, Over, Witnessed};
use crate::letters::Letters;
use crate::node::{Answer, Command, End};
use crate::process::{command, lines};
use anyhow::Context as _;
use entourage_model::ThreadId;
use entourage_store::Store as _;
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::{FakeModel, Recording, Request};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// How long the last node may take to bring everything to rest.
const REST: Duration = Duration::from_secs(150);
/// Of so many roots one is disturbed: its work is stopped, cancelled and terminated.
const DISTURBED: usize = 4;

#[derive(Clone, Debug)]
pub struct Settings {
    /// The program to be killed.
    pub node: PathBuf,
    pub rounds: usize,
    pub roots: usize,
}

/// What happened, in numbers, and what must not have.
#[derive(Debug, Serialize)]
pub struct Killed {
    pub rounds: usize,
    pub acknowledged: usize,
    pub sent_again: usize,
    /// Ends of work that were acknowledged.
    pub ended: usize,
    pub threads: usize,
    pub events: usize,
    pub effects: usize,
    pub outcomes_unknown: usize,
    pub seconds: f64,
    pub violations: Vec<String>,
}

struct Node {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

struct Driver {
    settings: Settings,
    folder: tempfile::TempDir,
    model: FakeModel,
    roots: Vec<ThreadId>,
    letters: Letters,
    /// What was wanted to end, and not acknowledged: it is wanted again.
    ends: BTreeMap<usize, (ThreadId, End)>,
    over: Vec<Over>,
    disturbed: BTreeSet<ThreadId>,
    wanted: usize,
    ended: usize,
    sent_again: usize,
    sent: usize,
}

/// Plays all rounds and checks what is left.
pub async fn run(settings: Settings) -> anyhow::Result<Killed> {
    let began = Instant::now();
    let folder = tempfile::tempdir()?;
    let model = FakeModel::start_with(|request: &Request| brain::reply(request), Recording::Off).await;
    let mut driver = Driver {
        settings,
        folder,
        model,
        roots: Vec::new(),
        letters: Letters::default(),
        ends: BTreeMap::new(),
        over: Vec::new(),
        disturbed: BTreeSet::new(),
        wanted: 0,
        ended: 0,
        sent_again: 0,
        sent: 0,
    };
    driver.make_roots().await?;
    for _ in 0..driver.settings.rounds {
        driver.round().await?;
    }
    driver.rest().await?;
    driver.judge(began).await
}

impl Driver {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    fn start(&self) -> anyhow::Result<Node> {
        let mut process = command(&self.settings.node)
            .arg("--data")
            .arg(self.data())
            .args(["--model-url", self.model.url()])
            .arg("--ledger")
            .arg(self.ledger())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} does not start", self.settings.node.display()))?;
        let input = process.stdin.take().context("no standard input")?;
        let output = process.stdout.take().context("no standard output")?;
        Ok(Node { process, input, output: BufReader::new(output).lines() })
    }

    async fn make_roots(&mut self) -> anyhow::Result<()> {
        let mut node = self.start()?;
        for number in 0..self.settings.roots {
            node.tell(&Command::Create { number }).await?;
        }
        while self.roots.len() < self.settings.roots {
            if let Answer::Created { thread, .. } = node.hear().await?.context("the node ended")? {
                self.roots.push(thread);
            }
        }
        node.kill().await
    }

    /// One life of a node: it gets messages as fast as it takes them, until it is killed.
    async fn round(&mut self) -> anyhow::Result<()> {
        let mut node = self.start()?;
        let life = Duration::from_millis(fastrand::u64(5..400));
        let over = tokio::time::sleep(life);
        tokio::pin!(over);
        self.sent_again += self.letters.open().len();
        self.repeat(&mut node).await?;
        let mut pace = tokio::time::interval(Duration::from_millis(8));
        loop {
            tokio::select! {
                () = &mut over => break,
                answer = node.hear() => self.note(answer?.context("the node ended by itself")?)?,
                _ = pace.tick() => match fastrand::usize(..8) {
                    0 => self.end_one(&mut node).await?,
                    _ => self.send_one(&mut node).await?,
                },
            }
        }
        node.kill().await?;
        // What it had said before it died counts.
        while let Some(answer) = node.hear().await? {
            self.note(answer)?;
        }
        Ok(())
    }

    /// Says again what was not acknowledged, and has roots made in the place of those that are terminated.
    async fn repeat(&self, node: &mut Node) -> anyhow::Result<()> {
        for (thread, text) in self.letters.open() {
            node.tell(&Command::Send { thread, text }).await?;
        }
        for (&number, &(thread, how)) in &self.ends {
            node.tell(&Command::End { number, thread, how }).await?;
        }
        for (number, thread) in self.roots.iter().enumerate() {
            if self.over.iter().any(|over| over.thread == *thread) {
                node.tell(&Command::Create { number }).await?;
            }
        }
        Ok(())
    }

    /// Wants something of a disturbed root to end; what is terminated is not written to any more.
    async fn end_one(&mut self, node: &mut Node) -> anyhow::Result<()> {
        let thread = self.roots[fastrand::usize(..(self.roots.len() / DISTURBED).max(1))];
        let how = [End::Stop, End::Cancel, End::Cancel, End::Terminate][fastrand::usize(..4)];
        if self.is_terminated(thread) {
            return Ok(());
        }
        self.wanted += 1;
        let number = self.wanted;
        if how == End::Terminate {
            self.letters.give_up(thread);
        }
        self.disturbed.insert(thread);
        self.ends.insert(number, (thread, how));
        node.tell(&Command::End { number, thread, how }).await
    }

    /// Whether it was ever wanted to end for good.
    fn is_terminated(&self, thread: ThreadId) -> bool {
        let is_wanted = self.ends.values().any(|end| *end == (thread, End::Terminate));
        is_wanted || self.over.iter().any(|over| over.thread == thread)
    }

    async fn send_one(&mut self, node: &mut Node) -> anyhow::Result<()> {
        let root = fastrand::usize(..self.roots.len());
        if self.is_terminated(self.roots[root]) {
            return Ok(());
        }
        let kind = ["say", "job", "bgd"][fastrand::usize(..3)];
        let text = format!("{kind}-{root}-{}", self.sent);
        self.sent += 1;
        self.letters.post(self.roots[root], text.clone());
        node.tell(&Command::Send { thread: self.roots[root], text }).await
    }

    fn note(&mut self, answer: Answer) -> anyhow::Result<()> {
        match answer {
            Answer::Sent { text } => self.letters.acknowledge(&text),
            Answer::Created { number, thread } => {
                if self.is_terminated(self.roots[number]) {
                    self.roots[number] = thread;
                }
            }
            Answer::Ended { number, over } => {
                let effects = lines(&self.ledger())?.len();
                self.over.extend(over.map(|thread| Over { thread, effects }));
                self.ended += usize::from(self.ends.remove(&number).is_some());
            }
            Answer::AtRest => {}
        }
        Ok(())
    }

    /// The last node is left alone until everything is done.
    async fn rest(&mut self) -> anyhow::Result<()> {
        let mut node = self.start()?;
        self.repeat(&mut node).await?;
        let quiet = async {
            while !self.letters.are_acknowledged() || !self.ends.is_empty() {
                self.note(node.hear().await?.context("the node ended by itself")?)?;
            }
            node.tell(&Command::Rest { roots: self.roots.clone() }).await?;
            while !matches!(node.hear().await?.context("the node ended by itself")?, Answer::AtRest) {}
            anyhow::Ok(())
        };
        tokio::time::timeout(REST, quiet).await.context("the trees never come to rest")??;
        drop(node.input);
        node.process.wait().await?;
        Ok(())
    }

    async fn judge(self, began: Instant) -> anyhow::Result<Killed> {
        let store = SqliteStore::open(&self.data())?;
        let dump = checker::dump(&store).await?;
        let effects = lines(&self.ledger())?;
        let acknowledged = self.letters.into_acknowledged();
        let (over, disturbed) = (self.over, self.disturbed);
        let witnessed = Witnessed { acknowledged, effects, over, disturbed, at_rest: true };
        let mut violations = checker::check(&dump, &witnessed);
        violations.extend(store.check().await?.iter().map(ToString::to_string));
        violations.extend(checker::missing_results(&dump, &witnessed));
        let events = dump.journals.values().map(Vec::len).sum();
        Ok(Killed {
            rounds: self.settings.rounds,
            acknowledged: witnessed.acknowledged.len(),
            sent_again: self.sent_again,
            ended: self.ended,
            threads: dump.threads.len(),
            events,
            effects: witnessed.effects.len(),
            outcomes_unknown: checker::unknown_outcomes(&dump),
            seconds: began.elapsed().as_secs_f64(),
            violations,
        })
    }
}

impl Node {
    async fn tell(&mut self, command: &Command) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        // A node that has just been killed takes nothing; what it did not acknowledge is sent again.
        _ = self.input.write_all(&line).await;
        Ok(())
    }

    /// Nothing once the node is gone.
    async fn hear(&mut self) -> anyhow::Result<Option<Answer>> {
        match self.output.next_line().await? {
            // A line that was cut by the kill is no answer.
            Some(line) => match serde_json::from_str(&line) {
                Ok(answer) => Ok(Some(answer)),
                Err(_) => Ok(None),
            },
            None => Ok(None),
        }
    }

    async fn kill(&mut self) -> anyhow::Result<()> {
        self.process.start_kill()?;
        self.process.wait().await?;
        Ok(())
    }
}
