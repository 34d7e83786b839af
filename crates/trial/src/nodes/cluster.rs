//! The processes of a trial: the nodes, and what they say.

use crate::node::{Answer, Command};
use crate::process::command;
use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;

/// How long a node may take to hand its threads over.
const DRAIN: Duration = Duration::from_secs(20);

/// How nodes are started.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) model_url: String,
    pub(super) store: String,
    pub(super) life: Duration,
    /// The first so many nodes never say that they live.
    pub(super) zombies: usize,
}

impl Recipe {
    pub(super) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    pub(super) fn refused(&self) -> PathBuf {
        self.folder.join("refused")
    }
}

/// Nodes on one database. Dropping it kills them.
pub(super) struct Cluster {
    recipe: Recipe,
    nodes: Vec<Node>,
    sender: mpsc::UnboundedSender<Answer>,
    answers: mpsc::UnboundedReceiver<Answer>,
}

struct Node {
    process: Child,
    input: ChildStdin,
    is_paused: bool,
}

impl Cluster {
    pub(super) fn start(recipe: Recipe, count: usize) -> anyhow::Result<Self> {
        let (sender, answers) = mpsc::unbounded_channel();
        let mut cluster = Self { recipe, nodes: Vec::new(), sender, answers };
        for place in 0..count {
            let node = cluster.spawn(place)?;
            cluster.nodes.push(node);
        }
        Ok(cluster)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn spawn(&self, place: usize) -> anyhow::Result<Node> {
        let recipe = &self.recipe;
        let mut command = command(&recipe.program);
        command.arg("--data").arg(recipe.folder.join("data")).arg("--ledger").arg(recipe.ledger());
        command.arg("--refused").arg(recipe.refused()).args(["--model-url", &recipe.model_url]);
        command.args(["--store", &recipe.store, "--life-ms", &recipe.life.as_millis().to_string()]);
        if place < recipe.zombies {
            command.arg("--zombie");
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let input = process.stdin.take().context("no standard input")?;
        let output = process.stdout.take().context("no standard output")?;
        let sender = self.sender.clone();
        // Ends with the node.
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                // A line that was cut by a kill is no answer.
                if let Ok(answer) = serde_json::from_str(&line) {
                    _ = sender.send(answer);
                }
            }
        });
        Ok(Node { process, input, is_paused: false })
    }

    /// Gives a command to any node that listens. Nothing says whether it is heard: whoever gets no answer asks again.
    pub(super) async fn tell(&mut self, command: &Command) -> anyhow::Result<()> {
        let listening: Vec<usize> = (0..self.nodes.len()).filter(|place| !self.nodes[*place].is_paused).collect();
        let Some(&place) = listening.get(fastrand::usize(..listening.len().max(1))) else { return Ok(()) };
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        _ = self.nodes[place].input.write_all(&line).await;
        Ok(())
    }

    /// What any node says next.
    pub(super) async fn hear(&mut self) -> anyhow::Result<Answer> {
        self.answers.recv().await.context("the cluster listens to itself")
    }

    pub(super) async fn kill(&mut self, place: usize) -> anyhow::Result<()> {
        self.nodes[place].process.start_kill()?;
        self.nodes[place].process.wait().await?;
        self.nodes[place] = self.spawn(place)?;
        Ok(())
    }

    pub(super) async fn drain(&mut self, place: usize) -> anyhow::Result<()> {
        self.signal(place, Signal::TERM);
        let ended = tokio::time::timeout(DRAIN, self.nodes[place].process.wait()).await;
        let status = ended.context("a node does not hand its threads over")??;
        anyhow::ensure!(status.success(), "a node that was asked to end did so with {status}");
        self.nodes[place] = self.spawn(place)?;
        Ok(())
    }

    pub(super) fn pause(&mut self, place: usize) {
        self.nodes[place].is_paused = true;
        self.signal(place, Signal::STOP);
    }

    pub(super) fn go_on(&mut self, place: usize) {
        self.signal(place, Signal::CONT);
        self.nodes[place].is_paused = false;
    }

    /// Starts those again that have ended by themselves, as one does that never finds its store.
    pub(super) fn mend(&mut self) -> anyhow::Result<usize> {
        let mut mended = 0;
        for place in 0..self.nodes.len() {
            if self.nodes[place].process.try_wait()?.is_some() {
                self.nodes[place] = self.spawn(place)?;
                mended += 1;
            }
        }
        Ok(mended)
    }

    pub(super) async fn end(mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            node.process.start_kill()?;
            node.process.wait().await?;
        }
        Ok(())
    }

    fn signal(&self, place: usize, signal: Signal) {
        let pid = self.nodes[place].process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // One that has ended already hears nothing.
            _ = kill_process(pid, signal);
        }
    }
}
