//! `/threads/{id}/events`: what happens, as it happens, without a gap.
//!
//! Notices only wake a stream: what it sends it reads from the journal, so that a replay gives the same bytes.

use crate::event::shown;
use crate::fault::Fault;
use crate::meters::Counted;
use crate::path::Path;
use crate::query::{Query, flag, number};
use crate::service::Admitted;
use crate::threads::found;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use entourage_model::{ThreadId, ThreadStatus};
use entourage_runtime::{Notice, Page, Runtime, RuntimeError, ThreadFilter, Watcher};
use futures::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;
use utoipa::IntoParams;

/// How much of a journal is read at once.
const PAGE: usize = 256;
/// Notices may be lost: look again even if nobody said anything.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
const LAST: &str = "last-event-id";

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The number of the last event that is known; `Last-Event-ID` goes before it.
    #[param(value_type = Option<u64>)]
    after: Option<String>,
    /// Also what happens below the thread.
    #[param(value_type = Option<bool>)]
    tree: Option<String>,
    /// `false` ends the stream where the journal ends at the moment.
    #[param(value_type = Option<bool>)]
    follow: Option<String>,
}

/// What happens on a thread, from its beginning or behind a known event. Ends when the thread is terminated or deleted.
#[utoipa::path(get, path = "/threads/{id}/events", tag = "threads",
    params(("id" = String, Path), ("last-event-id" = Option<u64>, Header), Wanted),
    responses(
        (status = 200, description = "Server-sent events; only durable ones have an `id`", body = String,
            content_type = "text/event-stream"),
        (status = 400, description = "That is no number of an event"),
        (status = 404, description = "There is no such thread"),
        (status = 429, description = "Too many streams are open"),
    ),
)]
pub(crate) async fn stream(
    Admitted(service): Admitted,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Line, Infallible>>>, Fault> {
    let row = found(&service, &id).await?;
    let last = headers.get(LAST).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let number = |text: String| number(&text).ok_or_else(|| Fault::bad_request("that is no number of an event"));
    let after = last.filter(|last| !last.is_empty()).or(wanted.after).map(number).transpose()?.unwrap_or(0);
    let tree = flag("tree", wanted.tree.as_deref())?;
    let follow = flag("follow", wanted.follow.as_deref().or(Some("true")))?;
    let reader = Reader {
        watcher: service.runtime.watch(row.root),
        runtime: service.runtime,
        scope: if tree { Scope::Tree(row.root) } else { Scope::Thread },
        top: row.id,
        after,
        below: HashMap::from([(row.id, true)]),
        due: VecDeque::new(),
        is_stale: true,
        is_over: false,
        is_live: follow,
        _counted: service.meters.stream()?,
    };
    let lines = futures::stream::unfold(reader, |mut reader| async move {
        let line = reader.next().await?;
        Some((Ok(line), reader))
    });
    Ok(Sse::new(lines).keep_alive(KeepAlive::default()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Numbered within the thread.
    Thread,
    /// Numbered over the whole tree below this root.
    Tree(ThreadId),
}

struct Reader {
    runtime: Runtime,
    scope: Scope,
    /// The stream is about this one, or about everything from it downward.
    top: ThreadId,
    /// The number of the last event that was read.
    after: u64,
    /// Whether a thread of the tree is the top or lies below it, as far as it was asked.
    below: HashMap<ThreadId, bool>,
    watcher: Watcher,
    due: VecDeque<Line>,
    /// The journal may hold more than was read.
    is_stale: bool,
    is_over: bool,
    /// What happens later is waited for.
    is_live: bool,
    _counted: Counted,
}

impl Reader {
    /// The next line; none once the thread is gone or the server drains.
    async fn next(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.due.pop_front() {
                return Some(line);
            }
            if self.is_over {
                return None;
            }
            if self.is_stale {
                self.read().await.ok()?;
                continue;
            }
            tokio::select! {
                notice = self.watcher.next() => self.heed(&notice).await.ok()?,
                () = tokio::time::sleep(LOOK_AGAIN) => self.is_stale = true,
                () = self.runtime.stopping() => return None,
            }
        }
    }

    async fn heed(&mut self, notice: &Notice) -> Result<(), RuntimeError> {
        let (thread, told) = match notice {
            Notice::Lagged => {
                self.is_stale = true;
                return Ok(());
            }
            Notice::Committed { thread, .. } => (*thread, None),
            Notice::Delta { thread, text } => (*thread, Some(json!({ "type": "delta", "text": &**text }))),
            Notice::Status { thread, status } => (*thread, Some(json!({ "type": "status", "status": status }))),
            Notice::Output { thread, call, stream, text } => {
                let told = json!({ "type": "output", "call": call, "stream": stream.name(), "text": &**text });
                (*thread, Some(told))
            }
            Notice::Retrying { thread, attempt, why } => {
                (*thread, Some(json!({ "type": "retrying", "attempt": attempt, "why": &**why })))
            }
        };
        if !self.covers(thread).await? {
            return Ok(());
        }
        match told {
            Some(mut document) => {
                document["thread_id"] = json!(thread);
                self.due.extend(line(&document));
                self.is_stale |= matches!(notice, Notice::Status { status: ThreadStatus::Terminated, .. });
            }
            None => self.is_stale = true,
        }
        Ok(())
    }

    async fn covers(&mut self, thread: ThreadId) -> Result<bool, RuntimeError> {
        match self.scope {
            Scope::Thread => Ok(thread == self.top),
            Scope::Tree(root) if root == self.top => Ok(true),
            Scope::Tree(_) => self.is_below(thread).await,
        }
    }

    /// Whether the thread is the top or one of its descendants. Who a thread's parent is never changes.
    async fn is_below(&mut self, thread: ThreadId) -> Result<bool, RuntimeError> {
        let (mut asked, mut at) = (Vec::new(), Some(thread));
        let known = loop {
            let Some(here) = at else { break false };
            if let Some(known) = self.below.get(&here) {
                break *known;
            }
            asked.push(here);
            at = self.runtime.thread(here).await?.and_then(|row| row.parent);
        };
        self.below.extend(asked.into_iter().map(|thread| (thread, known)));
        Ok(known)
    }

    async fn read(&mut self) -> Result<(), RuntimeError> {
        // Asked before the journal is read: what ended before is then read to its end.
        let has_ended = self.has_ended().await?;
        let events = match self.scope {
            Scope::Thread => self.runtime.journal(self.top, self.after, PAGE).await?,
            Scope::Tree(root) => self.runtime.tree_journal(root, self.after, PAGE).await?,
        };
        self.is_stale = events.len() == PAGE;
        self.is_over = (has_ended || !self.is_live) && !self.is_stale;
        for stored in &events {
            self.after = match self.scope {
                Scope::Thread => stored.seq,
                Scope::Tree(_) => stored.position,
            };
            if self.covers(stored.thread).await? {
                self.due.extend(line(&shown(stored)).map(|line| line.id(self.after.to_string())));
            }
        }
        Ok(())
    }

    /// Nothing more can happen: the thread is gone or terminated, and nothing that is shown below it is at work.
    async fn has_ended(&mut self) -> Result<bool, RuntimeError> {
        match (self.runtime.thread(self.top).await?, self.scope) {
            (None, _) => Ok(true),
            (Some(row), _) if row.terminated_at.is_none() => Ok(false),
            (Some(_), Scope::Thread) => Ok(true),
            (Some(_), Scope::Tree(root)) => Ok(!self.has_living(root).await?),
        }
    }

    /// Whether anything below is at work. Whoever is to be terminated with the top is: it was told in the same moment.
    async fn has_living(&mut self, root: ThreadId) -> Result<bool, RuntimeError> {
        let filter = ThreadFilter { root: Some(root), unsettled: true, ..ThreadFilter::default() };
        for row in self.runtime.threads(&filter, Page { after: None, limit: usize::MAX }).await? {
            if self.is_below(row.id).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn line(document: &Value) -> Option<Line> {
    Line::default().json_data(document).ok()
}
