//! Plays one history over two stores at once, and complains at the first difference.

use super::operation::{Commit, Enqueue, Operation, Write};
use super::view;
use crate::contract::Subject;
use crate::contract::sample::BUNDLE;
use crate::contract::world::{ending, new_thread};
use crate::row::{self, Claim, FileRow, NewLine, RootKey, RootMade};
use crate::store::{Store, StoreError};
use entourage_model::{
    Dialect, Digest, Ending, Event, Ids, Item, Message, NewRun, NewThread, NodeId, Posted, Role, RunId, Severity,
    ThreadId, ThreadStatus, Timestamp, Usage,
};
use std::fmt::Debug;
use std::time::Duration;

const SLEEP: Duration = Duration::from_secs(5);
const CONTENTS: [&[u8]; 2] = [b"one", b"two"];

pub(super) struct Player<'s> {
    subjects: [&'s dyn Subject; 2],
    ids: Ids,
    drawn: u64,
    nodes: Vec<NodeId>,
    /// Every thread that ever was, with its root.
    threads: Vec<(ThreadId, ThreadId)>,
    /// Every claim that was ever made, good or stale.
    claims: Vec<Claim>,
    runs: Vec<RunId>,
}

impl<'s> Player<'s> {
    pub(super) async fn new(subjects: [&'s dyn Subject; 2]) -> Result<Self, String> {
        let mut player = Self {
            subjects,
            ids: Ids::new(Timestamp(1_700_000_000_000_000), 3),
            drawn: 0,
            nodes: Vec::new(),
            threads: Vec::new(),
            claims: Vec::new(),
            runs: Vec::new(),
        };
        for content in CONTENTS {
            player.both(async |store| store.put_blob(Digest::of(content), content).await.map_err(told)).await?;
        }
        player.register().await?;
        player.create(1, true, true).await?;
        Ok(player)
    }

    pub(super) async fn play(&mut self, operation: Operation) -> Result<(), String> {
        match operation {
            Operation::Create { items, run, claim } => self.create(items, run, claim).await?,
            Operation::CreateOnce { key, request, run, claim } => self.create_once((key, request), run, claim).await?,
            Operation::Enqueue(enqueue) => self.enqueue(enqueue).await?,
            Operation::Claim { node, tree } => self.claim(node, tree).await?,
            Operation::Commit(commit) => self.commit(*commit).await?,
            Operation::Release { lease } => {
                let Some(lease) = pick(&self.claims, lease).map(|claim| claim.lease) else { return Ok(()) };
                self.both(async |store| store.release(lease).await.map_err(told)).await?;
            }
            Operation::Register => self.register().await?,
            Operation::Heartbeat { node } => {
                let Some(node) = pick(&self.nodes, node).copied() else { return Ok(()) };
                let ask = async |store: &dyn Store| store.heartbeat(node).await.map_err(|dead| view::word(&dead));
                self.both(async |store| Ok(ask(store).await.err())).await?;
            }
            Operation::Sweep => {
                self.both(async |store| store.sweep().await.map_err(told)).await?;
            }
            Operation::Advance { seconds } => {
                for subject in self.subjects {
                    subject.advance(Duration::from_secs(seconds)).await;
                }
            }
            Operation::Delete { thread } => self.delete(thread).await?,
            Operation::RequestCancel { run } => {
                let Some(run) = pick(&self.runs, run) else { return Ok(()) };
                let asked = async |store: &dyn Store| store.request_cancel(run).await.map_err(told);
                self.both(async |store| Ok(asked(store).await?.map(view::run))).await?;
            }
            Operation::MarkDelivered { run } => {
                let Some(run) = pick(&self.runs, run) else { return Ok(()) };
                self.both(async |store| store.mark_delivered(run).await.map_err(told)).await?;
            }
            Operation::PutFile { thread, path, content } => self.put_file(thread, path, content).await?,
            Operation::DeleteFile { thread, path } => {
                let Some(&(thread, _)) = pick(&self.threads, thread) else { return Ok(()) };
                let path = path.to_string();
                self.both(async |store| store.delete_file(thread, &path).await.map_err(told)).await?;
            }
        }
        self.look().await
    }

    /// Whatever happened, neither store finds itself damaged. Warnings are about what its users did.
    pub(super) async fn finish(self) -> Result<(), String> {
        for subject in self.subjects {
            subject.store().put_blob(Digest::of(BUNDLE), BUNDLE).await.map_err(told)?;
            let reports = subject.store().check().await.map_err(told)?;
            if let Some(report) = reports.iter().find(|report| report.severity == Severity::Error) {
                return Err(report.to_string());
            }
        }
        Ok(())
    }

    /// Asks both stores and returns the answer that they must agree on.
    async fn both<T: PartialEq + Debug>(
        &self,
        ask: impl AsyncFn(&dyn Store) -> Result<T, String>,
    ) -> Result<T, String> {
        let [model, other] = self.subjects;
        let (expected, found) = (ask(model.store()).await?, ask(other.store()).await?);
        if expected == found { Ok(found) } else { Err(format!("expected {expected:?}\n   found {found:?}")) }
    }

    async fn look(&self) -> Result<(), String> {
        let [model, other] = self.subjects;
        let expected = view::everything(model.store()).await.map_err(told)?;
        let found = view::everything(other.store()).await.map_err(told)?;
        if expected == found {
            return Ok(());
        }
        let lines = |these: &[String], others: &[String], sign: &str| {
            let differing = these.iter().filter(|line| !others.contains(line));
            differing.map(|line| format!("{sign} {line}\n")).collect::<String>()
        };
        Err(lines(&expected, &found, "expected") + &lines(&found, &expected, "   found"))
    }

    async fn register(&mut self) -> Result<(), String> {
        let node = self.ids.node();
        self.nodes.push(node);
        self.both(async |store| store.register(node).await.map_err(told)).await
    }

    async fn create(&mut self, items: usize, run: bool, claim: bool) -> Result<(), String> {
        let thread = self.new_thread(None, items, run);
        let claimer = claim.then(|| self.node());
        let claimed = self.both(async |store| store.create(thread.clone(), claimer).await.map_err(told)).await?;
        self.claims.extend(claimed);
        Ok(())
    }

    async fn create_once(&mut self, (key, request): (u8, u8), run: bool, claim: bool) -> Result<(), String> {
        let thread = self.new_thread(None, 0, run);
        let claimer = claim.then(|| self.node());
        let key = RootKey { name: key.to_string(), request: Digest::of(&[request]) };
        let ask = async |store: &dyn Store| store.create_once(thread.clone(), key.clone(), claimer).await.map_err(told);
        match self.both(ask).await? {
            RootMade::New(claimed) => self.claims.extend(claimed),
            RootMade::Repeated { .. } | RootMade::Conflict => {}
        }
        Ok(())
    }

    async fn enqueue(&mut self, enqueue: Enqueue) -> Result<(), String> {
        let Some(&(thread, _)) = pick(&self.threads, enqueue.thread) else { return Ok(()) };
        let message = self.message(&enqueue.text.to_string());
        let line = NewLine {
            item: if enqueue.stop { Item::Stop } else { message },
            key: enqueue.key.map(|key| key.to_string()),
            run: enqueue.run.then(|| self.new_run(thread)),
            messages_max: enqueue.messages_max,
        };
        let claimer = enqueue.claim.then(|| self.node());
        let ask = async |store: &dyn Store| Ok(view::enqueued(store.enqueue(thread, line.clone(), claimer).await));
        let queued = self.both(ask).await?;
        self.claims.extend(queued.ok().and_then(|queued| queued.claim));
        Ok(())
    }

    async fn claim(&mut self, node: usize, tree: Option<usize>) -> Result<(), String> {
        let Some(node) = pick(&self.nodes, node).copied() else { return Ok(()) };
        let root = tree.and_then(|thread| pick(&self.threads, thread)).map(|thread| thread.1);
        let ask = async |store: &dyn Store| {
            Ok(store.claim(node, usize::MAX, root).await.map(view::claims).map_err(|dead| view::word(&dead)))
        };
        let claimed = self.both(ask).await?;
        self.claims.extend(claimed.unwrap_or_default());
        Ok(())
    }

    async fn commit(&mut self, commit: Commit) -> Result<(), String> {
        let Some(claim) = pick(&self.claims, commit.lease).cloned() else { return Ok(()) };
        let known = async |store: &dyn Store| store.thread(claim.lease.thread).await.map_err(told);
        let seq = self.both(async |store| Ok(known(store).await?.map_or(0, |row| row.seq))).await?;
        let seen = if commit.sees_all { u64::MAX } else { claim.lines.last().map_or(0, |line| line.number) };
        let mut events: Vec<Event> = (0..commit.events).map(|_| view::event(self.draw())).collect();
        if commit.status == ThreadStatus::Terminated {
            events.push(Event::Terminated { at: Timestamp(1) });
        }
        let writes = commit.writes.iter().filter_map(|write| self.write(write, &claim)).collect();
        let asked = row::Commit {
            seq: seq + u64::from(commit.wrong_seq),
            events,
            writes,
            consumed: commit.consumed,
            buried: commit.buried,
            burial: Some("no reason".to_owned()),
            status: commit.status,
            seen,
            wake_at: None,
            usage: Usage { input_tokens: commit.tokens, output_tokens: 1, steps: 1 },
            claim: commit.claim,
            children_total: commit.children_total,
        };
        let ask = async |store: &dyn Store| {
            let wake_at = commit.wakes.then(|| store.now().after(SLEEP));
            Ok(view::committed(store.commit(claim.lease, row::Commit { wake_at, ..asked.clone() }).await))
        };
        let done = self.both(ask).await?;
        self.claims.extend(done.into_iter().flat_map(|done| done.claims));
        Ok(())
    }

    fn write(&mut self, write: &Write, claim: &Claim) -> Option<entourage_model::Write> {
        let run = |run: &usize| pick(&self.runs, *run).cloned();
        Some(match write {
            Write::Spawn { items, run } => {
                entourage_model::Write::Spawn(Box::new(self.new_thread(Some(claim), *items, *run)))
            }
            Write::Deliver { thread } => {
                let to = pick(&self.threads, *thread)?.0;
                entourage_model::Write::Deliver { to, item: Box::new(self.message("delivered")) }
            }
            Write::NewRun { thread } => {
                let thread = pick(&self.threads, *thread)?.0;
                entourage_model::Write::NewRun(self.new_run(thread))
            }
            Write::StartRun { run: started } => entourage_model::Write::StartRun { run: run(started)? },
            Write::EndRun { run: ended, outcome, limit } => {
                let limit = limit.then(|| "steps".to_owned());
                entourage_model::Write::EndRun {
                    run: run(ended)?,
                    ending: Ending { limit, ..ending(*outcome, "text") },
                }
            }
            Write::DeliveredRun { run: delivered } => entourage_model::Write::DeliveredRun { run: run(delivered)? },
            Write::PutFile { thread, path, content } => {
                let thread = pick(&self.threads, *thread)?.0;
                entourage_model::Write::PutFile { thread, file: file(*path, *content) }
            }
            Write::RemoveFile { thread, path } => {
                let thread = pick(&self.threads, *thread)?.0;
                entourage_model::Write::RemoveFile { thread, path: path.to_string() }
            }
        })
    }

    async fn delete(&self, thread: usize) -> Result<(), String> {
        let Some(&(thread, _)) = pick(&self.threads, thread) else { return Ok(()) };
        let ask = async |store: &dyn Store| {
            let mut gone = store.delete(thread).await.map_err(told)?;
            gone.sort_unstable();
            Ok(gone)
        };
        self.both(ask).await.map(drop)
    }

    async fn put_file(&self, thread: usize, path: u8, content: u8) -> Result<(), String> {
        let Some(&(thread, _)) = pick(&self.threads, thread) else { return Ok(()) };
        let file = file(path, content);
        let ask = async |store: &dyn Store| {
            Ok(store.put_file(thread, file.clone()).await.map_err(|refusal| view::word(&refusal)))
        };
        self.both(ask).await.map(drop)
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn node(&mut self) -> NodeId {
        let last = self.draw() as usize;
        self.nodes[last % self.nodes.len()]
    }

    fn message(&mut self, text: &str) -> Item {
        Item::Message(Posted::plain(Message::new(self.ids.message(), Role::User, text, Timestamp(1))))
    }

    fn new_thread(&mut self, parent: Option<&Claim>, items: usize, run: bool) -> NewThread {
        let moment = Timestamp(1_700_000_000_000_000).after(Duration::from_millis(self.draw()));
        let id = Ids::new(moment, self.drawn).thread();
        let root = parent.map_or(id, |parent| parent.root);
        self.threads.push((id, root));
        let run = run.then(|| self.new_run(id));
        let items = (0..items).map(|_| self.message("first")).collect();
        let at_work = !self.drawn.is_multiple_of(4);
        NewThread { items, run, at_work, ..new_thread(id, parent.map(|parent| parent.lease.thread), root) }
    }

    fn new_run(&mut self, thread: ThreadId) -> NewRun {
        let id = self.ids.run(Dialect::Standard);
        self.runs.push(id.clone());
        let begun = self.runs.len().is_multiple_of(3);
        NewRun { id, thread, parent: None, agent: "worker".into(), request: "work".to_owned(), begun }
    }
}

/// A file with one of the known contents, or with one that no store has.
fn file(path: u8, content: u8) -> FileRow {
    let bytes = CONTENTS.get(usize::from(content)).copied().unwrap_or(b"nowhere");
    FileRow {
        path: path.to_string(),
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        mime_type: "text/plain".to_owned(),
        created_at: Timestamp(1),
    }
}

/// Newer ones are likelier to still mean something, so that counting starts at the end.
fn pick<T>(known: &[T], number: usize) -> Option<&T> {
    known.iter().nth_back(number.checked_rem(known.len())?)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` asks for")]
fn told(fault: StoreError) -> String {
    format!("{fault:?}")
}
