//! `/tasks/{id}/events`: what a task does, replayed and then live, also for one that was not submitted yet.

use super::id::TaskId;
use super::told::{Teller, Told};
use super::{Refused, run_id};
use crate::fault::Fault;
use crate::meters::Counted;
use crate::query::Query;
use crate::service::{Admitted, Service};
use axum::http::HeaderMap;
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use entourage_model::{Event, ThreadId};
use entourage_runtime::{RuntimeError, Watcher};
use futures::Stream;
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::Instant;
use utoipa::IntoParams;

/// How long a client may listen, as clients expect it.
const LISTEN: Duration = Duration::from_secs(3 * 3600);
/// How often a task that nobody has submitted yet is looked for.
const LOOK: Duration = Duration::from_millis(200);
const LOOK_AGAIN: Duration = Duration::from_secs(5);
const PAGE: usize = 256;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The number of the last event that is known; it goes before `Last-Event-ID`.
    #[param(value_type = Option<u64>)]
    from_seq: Option<String>,
}

/// What the task does. Ends with the task; one that has ended is told again and then over.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks",
    params(("id" = String, Path), ("last-event-id" = Option<u64>, Header), Wanted),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        (status = 429, description = "Too many streams are open"),
    ),
)]
pub(crate) async fn events(
    Admitted(service): Admitted,
    TaskId(id): TaskId,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Line, Infallible>>>, Fault> {
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(number);
    let after = wanted.from_seq.as_deref().and_then(number).or(last).unwrap_or(0);
    let counted = service.meters.stream()?;
    let listener = Listener {
        service,
        task: id,
        after,
        until: Instant::now() + LISTEN,
        at: None,
        due: VecDeque::new(),
        _counted: counted,
    };
    let lines = futures::stream::unfold(listener, |mut listener| async move {
        let told = listener.next().await?;
        let line = Line::default().id(told.seq.to_string()).event(told.kind).json_data(told.body).ok()?;
        Some((Ok(line), listener))
    });
    Ok(Sse::new(lines).keep_alive(KeepAlive::default()))
}

struct Listener {
    service: Service,
    task: String,
    after: u64,
    until: Instant,
    at: Option<Reading>,
    due: VecDeque<Told>,
    _counted: Counted,
}

/// Where the task's thread is read.
struct Reading {
    thread: ThreadId,
    seq: u64,
    teller: Teller,
    watcher: Watcher,
}

impl Listener {
    /// The next event; none once the task is over, nobody waits any more, or the server drains.
    async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = self.due.pop_front() {
                return Some(told);
            }
            let Some(reading) = &mut self.at else {
                self.find().await?;
                continue;
            };
            let is_over = reading.teller.is_over;
            if is_over {
                return None;
            }
            let read = self.read().await.ok()?;
            if read > 0 || !self.due.is_empty() {
                continue;
            }
            if self.is_over_unsaid().await.ok()? {
                return None;
            }
            let reading = self.at.as_mut()?;
            if reading.teller.is_over {
                return None;
            }
            tokio::select! {
                _ = reading.watcher.next() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = tokio::time::sleep_until(self.until) => return None,
                () = self.service.runtime.stopping() => return None,
            }
        }
    }

    /// Whether nothing more can come, though no event says so: the task ended before it was begun, or it was deleted.
    async fn is_over_unsaid(&mut self) -> Result<bool, RuntimeError> {
        let Some(row) = self.service.runtime.run(&run_id(&self.service, &self.task)).await? else { return Ok(true) };
        // What ended it may have been written since the journal was read.
        let is_unread = row.status.is_terminal() && self.read().await? > 0;
        let has_begun = self.at.as_ref().is_some_and(|reading| reading.teller.has_begun);
        Ok(row.status.is_terminal() && !is_unread && !has_begun)
    }

    /// Looks for the task until it is submitted. Clients listen before they submit.
    async fn find(&mut self) -> Option<()> {
        let run = run_id(&self.service, &self.task);
        loop {
            if let Some(row) = self.service.runtime.run(&run).await.ok()? {
                let thread = self.service.runtime.thread(row.thread).await.ok()??;
                let teller = Teller::new(self.task.clone(), (run, row.agent.to_string()));
                let watcher = self.service.runtime.watch(thread.root);
                self.at = Some(Reading { thread: row.thread, seq: 0, teller, watcher });
                return Some(());
            }
            if let Some(refused) = self.service.refusals.find(&run) {
                return self.tell_refusal(&refused);
            }
            if Instant::now() >= self.until {
                return None;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.service.runtime.stopping() => return None,
            }
        }
    }

    /// A task that was not taken is told of once, as the failure that it is.
    fn tell_refusal(&mut self, refused: &Refused) -> Option<()> {
        let told = Told::refusal(&self.task, &refused.why, refused.at);
        let is_new = self.after < told.seq;
        self.after = told.seq;
        is_new.then(|| self.due.push_back(told))
    }

    /// How many events of the journal were read.
    async fn read(&mut self) -> Result<usize, RuntimeError> {
        let Some(reading) = &mut self.at else { return Ok(0) };
        let page = self.service.runtime.journal(reading.thread, reading.seq, PAGE).await?;
        if page.iter().any(|stored| matches!(stored.event, Event::SessionEnded(_))) {
            // It is in the same commit.
            let row = self.service.runtime.run(&run_id(&self.service, &self.task)).await?;
            reading.teller.ended_at = row.and_then(|row| row.ended_at);
        }
        for stored in &page {
            reading.seq = stored.seq;
            let told = reading.teller.tell(&stored.event);
            self.due.extend(told.into_iter().filter(|told| told.seq > self.after));
        }
        Ok(page.len())
    }
}
