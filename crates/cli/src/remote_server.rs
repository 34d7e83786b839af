//! The server that holds this project's threads, asked over its API.

mod call;
mod document;

use crate::failure::Failure;
use crate::private_file;
use crate::project::Project;
use crate::server_file;
use crate::source::Source;
use crate::token_file;
use crate::transcript::{Audience, Numbered};
use async_trait::async_trait;
use call::{Answer, Desk, Events, escaped};
use document::{RunDocument, ThreadDocument};
use entourage_model::{Ending, RunId, ThreadId, ThreadStatus, Timestamp};
use entourage_serve::Identity;
use entourage_store::{Clock, RunFilter, RunRow, ThreadFilter, ThreadRow};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The most that the API gives at once.
const PAGE: usize = 1000;
/// How long one request waits for a thread; then it is asked again.
const WAIT_SECONDS: u64 = 30;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How long whoever listens there may take to show who it is.
const PROOF_TIME: Duration = Duration::from_secs(10);

/// Every request has a connection of its own, so that there is nothing to close.
#[derive(Debug)]
pub(crate) struct RemoteServer {
    desk: Desk,
    clock: Clock,
}

/// Where the server is that `server.json` names, if it is that one: a port may be somebody else's by now, who would be
/// glad of our token. So it has to prove itself before it is told anything.
pub(crate) async fn address(project: &Project) -> Option<SocketAddr> {
    let named = server_file::read(project)?;
    let nonce = private_file::randomness().and_then(Identity::generate).ok()?;
    let (stranger, path) = (Desk::new(named.address, None), format!("/healthz?nonce={}", nonce.reveal()));
    let answer = tokio::time::timeout(PROOF_TIME, stranger.get(&path)).await.ok()?.ok()?;
    let answer: Value = answer.document().ok()?;
    let is_it = named.identity.is_proven(nonce.reveal(), answer.get("proof")?.as_str()?);
    is_it.then_some(named.address)
}

impl RemoteServer {
    /// The server that `server.json` names, if it is there and takes our token.
    pub(crate) async fn find(project: &Project) -> Option<Self> {
        let desk = Desk::new(address(project).await?, Some(token_file::own(project)?));
        let answer = desk.get("/threads?limit=1").await.ok()?;
        answer.is_good().then(|| Self { desk, clock: Clock::system() })
    }

    /// As `GET /threads/{id}` shows it, with its children as it knows them.
    pub(crate) async fn shown(&self, thread: ThreadId) -> Result<Value, Failure> {
        self.desk.get(&format!("/threads/{thread}")).await?.document()
    }

    /// Queues a message; the answer says under which id.
    pub(crate) async fn send(&self, thread: ThreadId, content: &str) -> Result<Value, Failure> {
        self.desk.post(&format!("/threads/{thread}/messages"), &json!({ "content": content })).await?.document()
    }

    /// Ends the current turn. A thread that is terminated has none.
    pub(crate) async fn stop(&self, thread: ThreadId) -> Result<(), Failure> {
        let answer = self.desk.post(&format!("/threads/{thread}/stop"), &Value::Null).await?;
        if answer.code() == Some("terminated") { Ok(()) } else { answer.document().map(|_: Value| ()) }
    }

    pub(crate) async fn terminate(&self, thread: ThreadId) -> Result<(), Failure> {
        self.desk.post(&format!("/threads/{thread}/terminate"), &Value::Null).await?.document().map(|_: Value| ())
    }

    pub(crate) async fn cancel(&self, run: &RunId) -> Result<(), Failure> {
        let path = format!("/runs/{}/cancel", escaped(&run.to_string()));
        self.desk.post(&path, &Value::Null).await?.document().map(|_: Value| ())
    }

    /// The thread once it rests, or as it is when the time is over.
    pub(crate) async fn settled(&self, thread: ThreadId, time: Duration) -> Result<ThreadRow, Failure> {
        let path = format!("/threads/{thread}/wait?timeout_seconds={}", time.as_secs());
        self.desk.get(&path).await?.document::<ThreadDocument>().map(ThreadRow::from)
    }

    /// Waits until nothing in the tree is at work.
    pub(crate) async fn until_quiet(&self, root: ThreadId) -> Result<(), Failure> {
        loop {
            let filter = ThreadFilter { root: Some(root), ..ThreadFilter::default() };
            let rows = self.threads(&filter, usize::MAX).await?;
            let Some(busy) = rows.iter().find(|row| is_at_work(row.status)) else { return Ok(()) };
            self.settled(busy.id, Duration::from_secs(WAIT_SECONDS)).await?;
        }
    }

    /// The run once it has ended, or as it is when the time is over.
    pub(crate) async fn ended(&self, run: &RunId, time: Duration) -> Result<Option<RunRow>, Failure> {
        let until_ended = async {
            loop {
                match self.run(run).await? {
                    Some(row) if !row.status.is_terminal() => tokio::time::sleep(LOOK_AGAIN).await,
                    row => return Ok(row),
                }
            }
        };
        match tokio::time::timeout(time, until_ended).await {
            Ok(row) => row,
            Err(_) => self.run(run).await,
        }
    }

    /// What happens on the thread behind this event, until it is terminated or the server drains.
    pub(crate) async fn events(&self, thread: ThreadId, after: u64) -> Result<Events, Failure> {
        self.desk.events(&format!("/threads/{thread}/events?after={after}")).await
    }

    /// Everything that has happened on a thread so far. Nothing for one that is not there.
    async fn past(&self, thread: ThreadId) -> Result<Vec<(u64, Value)>, Failure> {
        let mut events = self.desk.events(&format!("/threads/{thread}/events?follow=false")).await?;
        let mut past = Vec::new();
        while let Some(event) = events.next().await {
            past.extend(event.number.map(|number| (number, event.document)));
        }
        Ok(past)
    }

    /// Rows of a listing, page by page, until there are `limit` or no more.
    async fn rows<D: DeserializeOwned>(&self, path: &str, name: &str, limit: usize) -> Result<Vec<D>, Failure> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        while rows.len() < limit {
            let wanted = (limit - rows.len()).min(PAGE);
            let mut page: Value = self.desk.get(&format!("{path}limit={wanted}{cursor}")).await?.document()?;
            rows.extend(call::read::<Vec<D>>(page[name].take())?);
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={}", escaped(next));
        }
        Ok(rows)
    }
}

#[async_trait]
impl Source for RemoteServer {
    async fn thread(&self, id: ThreadId) -> Result<Option<ThreadRow>, Failure> {
        let document: Option<ThreadDocument> = self.desk.get(&format!("/threads/{id}")).await?.found()?;
        Ok(document.map(ThreadRow::from))
    }

    async fn threads(&self, filter: &ThreadFilter, limit: usize) -> Result<Vec<ThreadRow>, Failure> {
        let path = document::threads_path(filter);
        let documents: Vec<ThreadDocument> = self.rows(&path, "threads", limit).await?;
        Ok(documents.into_iter().map(ThreadRow::from).collect())
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRow>, Failure> {
        let path = format!("/runs/{}?keep_unread=true", escaped(&id.to_string()));
        let document: Option<RunDocument> = self.desk.get(&path).await?.found()?;
        Ok(document.map(RunRow::from))
    }

    async fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Failure> {
        let documents: Vec<RunDocument> = self.rows(&document::runs_path(filter), "runs", limit).await?;
        Ok(documents.into_iter().map(RunRow::from).collect())
    }

    async fn messages(&self, thread: ThreadId, audience: Audience) -> Result<Vec<Numbered>, Failure> {
        let silent = audience == Audience::Everybody;
        let (mut messages, mut after) = (Vec::new(), 0);
        loop {
            let path = format!("/threads/{thread}/messages?include_silent={silent}&limit={PAGE}&after={after}");
            let Some(page): Option<Value> = self.desk.get(&path).await?.found()? else { return Ok(messages) };
            for message in page["messages"].as_array().into_iter().flatten() {
                messages.push(document::message(message)?);
            }
            let Some(next) = page["next"].as_u64() else { return Ok(messages) };
            after = next;
        }
    }

    async fn starting_order(&self, parent: ThreadId) -> Result<HashMap<ThreadId, u64>, Failure> {
        let past = self.past(parent).await?.into_iter().filter(|(_, event)| event["type"] == "child_started");
        past.map(|(number, mut event)| Ok((call::read(event["child"].take())?, number))).collect()
    }

    async fn last_end(&self, thread: ThreadId) -> Result<Option<Ending>, Failure> {
        let past = self.past(thread).await?;
        let last = past.into_iter().rev().find(|(_, event)| event["type"] == "session_ended");
        last.map(|(_, event)| call::read(event)).transpose()
    }

    async fn mark_delivered(&self, run: &RunId) -> Result<(), Failure> {
        let answer: Answer = self.desk.get(&format!("/runs/{}", escaped(&run.to_string()))).await?;
        answer.found().map(|_: Option<Value>| ())
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn close(&self) {}
}

/// A message of a stream, if the event is one.
pub(crate) fn said(event: &Value) -> Result<Option<Numbered>, Failure> {
    if event["type"] == "message" { document::message(&event["message"]).map(Some) } else { Ok(None) }
}

fn is_at_work(status: ThreadStatus) -> bool {
    match status {
        ThreadStatus::Ready | ThreadStatus::Running | ThreadStatus::Waiting => true,
        ThreadStatus::Idle | ThreadStatus::Done | ThreadStatus::Failed | ThreadStatus::Terminated => false,
    }
}
