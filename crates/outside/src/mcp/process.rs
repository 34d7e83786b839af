//! A server that is a command on this machine.

use super::ServerSettings;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// All that a server learns of our environment, beside what its declaration names.
const PASSED_ON: [&str; 3] = ["PATH", "HOME", "LANG"];
/// How long a server may take to end by itself once it has nothing more to read.
const ENDING: Duration = Duration::from_millis(300);
/// How long the last words of a command are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);
const TAIL_BYTES_MAX: usize = 4 << 10;
const TAIL_CHARS_SHOWN: usize = 500;

/// Dropping it ends the command and its whole group.
#[derive(Debug)]
pub(super) struct Process {
    child: tokio::sync::Mutex<Child>,
    pipes: Option<(ChildStdin, ChildStdout)>,
    group: Option<Pid>,
    tail: Tail,
    /// Ends when nobody can write for people any more.
    following: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// The last of what a server wrote for people.
#[derive(Clone, Debug, Default)]
struct Tail(Arc<Mutex<Vec<u8>>>);

impl Process {
    pub(super) fn start(
        command: &str,
        args: &[String],
        variables: Vec<(String, String)>,
        settings: &ServerSettings,
    ) -> io::Result<Self> {
        let passed_on = PASSED_ON.into_iter().filter_map(|name| Some((name.to_owned(), (settings.lookup)(name)?)));
        let variables: Vec<_> = passed_on.chain(variables).collect();
        let mut child = spawn(command, args, variables, settings)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let tail = Tail::default();
        let following = child.stderr.take().map(|stderr| tokio::spawn(tail.clone().follow(stderr)));
        let following = tokio::sync::Mutex::new(following);
        Ok(Self { child: tokio::sync::Mutex::new(child), pipes, group, tail, following })
    }

    pub(super) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.pipes.take()
    }

    /// The reason, with what the command last wrote for people: one that has ended may still have something to say.
    pub(super) async fn explain(&self, why: &str) -> String {
        if let Some(following) = &mut *self.following.lock().await {
            _ = tokio::time::timeout(LAST_WORDS, following).await;
        }
        self.tail.explain(why)
    }

    /// Why it could not be used: that it has ended says more than what that led to.
    pub(super) async fn explain_start(&self, why: &str) -> String {
        let ended = tokio::time::timeout(LAST_WORDS, async { self.child.lock().await.wait().await }).await;
        match ended {
            Ok(Ok(status)) => self.explain(&format!("ended before it answered ({status})")).await,
            _ => self.tail.explain(why),
        }
    }

    /// Its input is closed already: what does not end by that is killed, with everything that it started.
    pub(super) async fn end(&self) {
        let mut child = self.child.lock().await;
        if tokio::time::timeout(ENDING, child.wait()).await.is_err() {
            self.kill(Signal::TERM);
            _ = tokio::time::timeout(ENDING, child.wait()).await;
        }
        self.kill(Signal::KILL);
        _ = child.wait().await;
        if let Some(following) = self.following.lock().await.take() {
            following.abort();
        }
    }

    /// A group that has gone is a no-op.
    fn kill(&self, signal: Signal) {
        if let Some(group) = self.group {
            _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill(Signal::KILL);
    }
}

#[expect(clippy::disallowed_methods, reason = "the one door for servers: a group of its own, which ends with us")]
fn spawn(
    command: &str,
    args: &[String],
    variables: Vec<(String, String)>,
    settings: &ServerSettings,
) -> io::Result<Child> {
    let mut order = Command::new(command);
    order.args(args).env_clear().envs(variables).current_dir(&settings.folder);
    // Whoever presses Ctrl-C means us, and we decide what becomes of it.
    order.process_group(0).kill_on_drop(true);
    order.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

impl Tail {
    async fn follow(self, mut stderr: ChildStderr) {
        let mut piece = vec![0; 1 << 10];
        while let Ok(length) = stderr.read(&mut piece).await
            && length > 0
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&piece[..length]);
            let excess = kept.len().saturating_sub(TAIL_BYTES_MAX);
            kept.drain(..excess);
        }
    }

    /// The reason, with the end of what was written.
    fn explain(&self, why: &str) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let text = text.trim();
        if text.is_empty() {
            return why.to_owned();
        }
        let from = text.char_indices().rev().nth(TAIL_CHARS_SHOWN).map_or(0, |(at, _)| at);
        format!("{why}; it wrote: {}", &text[from..])
    }
}
