//! A commit: JSON is made before it is sent, and claims out of what stayed here and what the database said.

use crate::body::{V, answer, encode, encode_events, hex, run_code, signed, thread_code};
use crate::claim::RawClaim;
use crate::create::NewRow;
use crate::database::token;
use crate::lane::Append;
use crate::text::escape;
use entourage_model::{Ending, Event, FileRow, Item, NewRun, RunId, ThreadId, ThreadStatus, Timestamp, Write};
use entourage_store::{Claim, Commit, CommitError, Committed, Hint, Lease, QueueLine, RunEnd, StoreError, encode_body};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Everything that a plain step does not have.
#[derive(Debug, Default, Serialize)]
struct More {
    claim: bool,
    children_total: u32,
    consumed: Vec<u64>,
    buried: Vec<u64>,
    burial: String,
    spawn: Vec<NewRow>,
    spawned_events: usize,
    deliver: Vec<Line>,
    runs: Vec<RunChange>,
    files: Vec<FileChange>,
    agents: Vec<AgentChange>,
}

#[derive(Debug, Serialize)]
struct Line {
    to: ThreadId,
    message: bool,
    body: String,
}

#[derive(Debug, Default, Serialize)]
struct RunChange {
    r#do: &'static str,
    run: Option<String>,
    new: Option<crate::run::NewRow>,
    status: Option<i16>,
    result: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct FileChange {
    thread: ThreadId,
    path: String,
    /// Without one the file is removed.
    digest: Option<String>,
    size: i64,
    mime_type: String,
    created_at: i64,
}

#[derive(Debug, Serialize)]
struct AgentChange {
    thread: ThreadId,
    agent: String,
}

/// What the caller keeps, to say what became of it.
#[derive(Debug)]
pub(crate) struct Kept {
    lease: Lease,
    /// Of the threads that are made; they are held if that was asked for.
    children: Vec<Claim>,
    claim: bool,
    /// In the order of the answers.
    deliveries: Vec<(ThreadId, Item)>,
    /// Others can take something up.
    ready: bool,
}

pub(crate) fn prepare(lease: Lease, commit: Commit) -> Result<(Append, Kept), StoreError> {
    let parks_ready = commit.status == ThreadStatus::Ready;
    let mut kept =
        Kept { lease, children: Vec::new(), claim: commit.claim, deliveries: Vec::new(), ready: parks_ready };
    let is_plain = commit.writes.is_empty() && commit.consumed.is_empty() && commit.buried.is_empty();
    let terminated_at = commit.events.iter().rev().find_map(terminated_at);
    let events = encode_events(&commit.events)?;
    let mut more = More {
        claim: commit.claim,
        children_total: commit.children_total,
        consumed: commit.consumed,
        buried: commit.buried,
        burial: escape(commit.burial.as_deref().unwrap_or_default()).into_owned(),
        ..More::default()
    };
    for write in commit.writes {
        more.add(lease, write, &mut kept)?;
    }
    more.spawned_events = more.spawn.iter().map(NewRow::event_count).sum();
    let usage = commit.usage;
    let append = Append {
        thread: lease.thread.uuid(),
        node: lease.node.uuid(),
        epoch: signed(lease.epoch),
        seq: signed(commit.seq),
        token: token(),
        event_count: signed((events.len() + more.spawned_events) as u64),
        events,
        version: V,
        status: thread_code(commit.status),
        seen: signed(commit.seen),
        wake_at: commit.wake_at.map(|at| at.0),
        terminated_at: terminated_at.map(|at| at.0),
        usage: vec![signed(usage.input_tokens), signed(usage.output_tokens), signed(usage.steps)],
        targets: more.deliver.iter().map(|line| line.to.uuid()).collect(),
        spawns: !more.spawn.is_empty(),
        more: if is_plain { None } else { Some(encode(&more)?) },
    };
    Ok((append, kept))
}

fn terminated_at(event: &Event) -> Option<Timestamp> {
    if let Event::Terminated { at } = event { Some(*at) } else { None }
}

impl More {
    fn add(&mut self, lease: Lease, write: Write, kept: &mut Kept) -> Result<(), StoreError> {
        match write {
            Write::Spawn(child) => {
                kept.ready |= child.at_work && !kept.claim;
                let (row, claim) = NewRow::new(*child, lease.node)?;
                self.spawn.push(row);
                kept.children.push(claim);
            }
            Write::Deliver { to, item } => {
                self.deliver.push(Line { to, message: item.is_message(), body: encode_body(&*item)? });
                kept.deliveries.push((to, *item));
            }
            Write::NewRun(new) => self.runs.push(RunChange::make(&new)),
            Write::StartRun { run } => self.runs.push(RunChange::of("start", &run)),
            Write::InterruptRun { run } => self.runs.push(RunChange::of("interrupt", &run)),
            Write::EndRun { run, ending } => self.runs.push(RunChange::end(&run, &ending)),
            Write::CancelRun { run } => self.runs.push(RunChange::of("cancel", &run)),
            Write::DeliveredRun { run } => self.runs.push(RunChange::of("delivered", &run)),
            Write::PutFile { thread, file } => self.files.push(FileChange::put(thread, &file)),
            Write::RemoveFile { thread, path } => self.files.push(FileChange::remove(thread, &path)),
            Write::SetAgent { thread, agent } => {
                self.agents.push(AgentChange { thread, agent: escape(agent.as_str()).into_owned() });
            }
        }
        Ok(())
    }
}

impl RunChange {
    fn make(new: &NewRun) -> Self {
        Self { r#do: "make", new: Some(crate::run::NewRow::new(new)), ..Self::default() }
    }

    fn of(change: &'static str, run: &RunId) -> Self {
        Self { r#do: change, run: Some(escape(run.as_str()).into_owned()), ..Self::default() }
    }

    fn end(run: &RunId, ending: &Ending) -> Self {
        let end = RunEnd::from(ending);
        let text = |text: Option<&str>| text.map(escape).map(Cow::into_owned);
        let (result, error) = (text(end.result), text(end.error));
        Self { status: Some(run_code(end.status)), result, error, ..Self::of("end", run) }
    }
}

impl FileChange {
    fn put(thread: ThreadId, file: &FileRow) -> Self {
        Self {
            thread,
            path: escape(&file.path).into_owned(),
            digest: Some(hex(file.digest)),
            size: signed(file.size),
            mime_type: escape(&file.mime_type).into_owned(),
            created_at: file.created_at.0,
        }
    }

    fn remove(thread: ThreadId, path: &str) -> Self {
        let (digest, mime_type) = (None, String::new());
        Self { thread, path: escape(path).into_owned(), digest, size: 0, mime_type, created_at: 0 }
    }
}

/// What the function answers.
#[derive(Debug, Deserialize)]
struct Answer<'a> {
    refused: Option<&'a str>,
    blob: Option<&'a str>,
    thread: Option<ThreadId>,
    left: Option<u32>,
    #[serde(default)]
    position: u64,
    #[serde(default)]
    parked: bool,
    root: Option<ThreadId>,
    #[serde(default)]
    effects: Vec<Effect>,
}

/// What became of one delivery.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Effect {
    /// The line woke its thread, which this node now holds.
    Woke(RawClaim),
    /// The line, of this number, lies in the queue of a thread that this same commit took up.
    Joined(u64),
    /// Somebody is to be told.
    Told(Told),
    /// It was dropped, or lies in the queue of a thread that waits to be taken up anyway.
    Nothing(()),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Told {
    Notified,
    Queued,
    Ready,
}

/// The answer for the caller, and what others are to hear of it.
pub(crate) fn assemble(text: &str, kept: Kept) -> Result<(Committed, Vec<Hint>), CommitError> {
    let told: Answer<'_> = answer(text)?;
    if let Some(reason) = told.refused {
        return Err(refusal(reason, &told));
    }
    let mut done = Committed { position: told.position, parked: told.parked, ..Committed::default() };
    let mut hints = Vec::new();
    if let Some(root) = told.root {
        hints.push(Hint::Changed { root, thread: kept.lease.thread });
    }
    if kept.ready {
        hints.push(Hint::Ready);
    }
    if kept.claim {
        done.claims = kept.children;
    }
    for ((to, item), effect) in kept.deliveries.into_iter().zip(told.effects) {
        match effect {
            Effect::Woke(claim) => done.claims.push(claim.decode(kept.lease.node)?),
            Effect::Joined(number) => {
                if let Some(claim) = done.claims.iter_mut().find(|claim| claim.lease.thread == to) {
                    claim.lines.push(QueueLine { number, item });
                }
            }
            Effect::Told(Told::Notified) if !done.notified.contains(&to) => done.notified.push(to),
            Effect::Told(Told::Queued) => hints.push(Hint::Queued(to)),
            Effect::Told(Told::Ready) => hints.push(Hint::Ready),
            Effect::Told(Told::Notified) | Effect::Nothing(()) => {}
        }
    }
    Ok((done, hints))
}

fn refusal(reason: &str, told: &Answer<'_>) -> CommitError {
    let unavailable = |what: String| CommitError::Store(StoreError::Unavailable(what));
    match (reason, told) {
        ("fenced", _) => CommitError::Fenced,
        ("full", Answer { left: Some(left), .. }) => CommitError::TreeFull { left: *left },
        ("no_blob", Answer { blob: Some(blob), .. }) => unavailable(format!("there is no blob sha256:{blob}")),
        ("exists", Answer { thread: Some(thread), .. }) => unavailable(format!("thread {thread} exists already")),
        (other, _) => unavailable(format!("the commit was refused: {other}")),
    }
}
