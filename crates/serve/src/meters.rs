//! What the server counts, and `/metrics`: the counts as Prometheus reads them.

use crate::fault::Fault;
use crate::service::Service;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// More are refused: a connection that only listens must not keep out those that ask.
const STREAMS_MAX: u64 = 3072;

#[derive(Clone, Debug, Default)]
pub(crate) struct Meters(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    connections: AtomicU64,
    streams: AtomicU64,
    threads_created: AtomicU64,
    messages_queued: AtomicU64,
}

/// One more of something, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Counts>,
    which: fn(&Counts) -> &AtomicU64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.counts).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Meters {
    pub(crate) fn answered(&self, status: StatusCode) {
        if let Some(count) = self.0.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn thread_created(&self) {
        self.0.threads_created.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn message_queued(&self) {
        self.0.messages_queued.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connection(&self) -> Counted {
        self.count(|counts| &counts.connections)
    }

    pub(crate) fn stream(&self) -> Result<Counted, Fault> {
        let counted = self.count(|counts| &counts.streams);
        if self.0.streams.load(Ordering::Relaxed) > STREAMS_MAX {
            let message = format!("{STREAMS_MAX} streams are open already");
            return Err(Fault::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", message));
        }
        Ok(counted)
    }

    fn count(&self, which: fn(&Counts) -> &AtomicU64) -> Counted {
        which(&self.0).fetch_add(1, Ordering::Relaxed);
        Counted { counts: Arc::clone(&self.0), which }
    }
}

/// The counts since the server was started.
#[utoipa::path(get, path = "/metrics", tag = "server", responses(
    (status = 200, description = "The counts, as Prometheus reads them", body = String, content_type = "text/plain"),
))]
pub(crate) async fn metrics(State(service): State<Service>) -> ([(HeaderName, &'static str); 1], String) {
    let counts = &service.meters.0;
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |count: &AtomicU64| vec![(String::new(), count.load(Ordering::Relaxed))];
    let answers = counts.answers.iter().enumerate().skip(2);
    let answers: Vec<_> =
        answers.map(|(digit, count)| (format!("{{class=\"{digit}xx\"}}"), count.load(Ordering::Relaxed))).collect();
    let held = u64::try_from(service.runtime.threads_in_memory()).unwrap_or(u64::MAX);
    family("entourage_http_answers_total", "counter", "Answers by the class of their status.", &answers);
    family("entourage_http_connections", "gauge", "Open connections.", &one(&counts.connections));
    family("entourage_event_streams", "gauge", "Open event streams.", &one(&counts.streams));
    family("entourage_threads_created_total", "counter", "Root threads asked for.", &one(&counts.threads_created));
    family("entourage_messages_queued_total", "counter", "Messages taken.", &one(&counts.messages_queued));
    family("entourage_threads_held", "gauge", "Threads at work in this process.", &[(String::new(), held)]);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
