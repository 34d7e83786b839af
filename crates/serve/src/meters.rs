//! What the server counts, and `/metrics`: the counts as Prometheus reads them.

use crate::fault::Fault;
use crate::service::Service;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// More are refused: a connection that only listens must not keep out those that ask.
const STREAMS_MAX: u64 = 3072;

/// What is told of how long answers took: how many took at most so many milliseconds.
const BUCKETS: [u64; 8] = [1, 5, 20, 100, 500, 2_000, 10_000, 60_000];

#[derive(Clone, Debug, Default)]
pub(crate) struct Meters(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    /// The same by how long they took to begin, each in the first bucket that it fits into, the last for the rest.
    times: [AtomicU64; BUCKETS.len() + 1],
    microseconds: AtomicU64,
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
    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        if let Some(count) = self.0.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let bucket = BUCKETS.iter().position(|most| took <= Duration::from_millis(*most)).unwrap_or(BUCKETS.len());
        self.0.times[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.microseconds.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
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
    let version = vec![(format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")), 1)];
    let held = u64::try_from(service.runtime.threads_in_memory()).unwrap_or(u64::MAX);
    family("entourage_http_answers_total", "counter", "Answers by the class of their status.", &answers);
    family("entourage_build_info", "gauge", "The version of the program.", &version);
    family("entourage_http_connections", "gauge", "Open connections.", &one(&counts.connections));
    family("entourage_event_streams", "gauge", "Open event streams.", &one(&counts.streams));
    family("entourage_threads_created_total", "counter", "Root threads asked for.", &one(&counts.threads_created));
    family("entourage_messages_queued_total", "counter", "Messages taken.", &one(&counts.messages_queued));
    family("entourage_threads_held", "gauge", "Threads at work in this process.", &[(String::new(), held)]);
    tell_times(counts, &mut text);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// A histogram: every bucket holds those before it.
fn tell_times(counts: &Counts, text: &mut String) {
    const NAME: &str = "entourage_http_answer_seconds";
    _ = writeln!(text, "# HELP {NAME} How long answers took to begin.\n# TYPE {NAME} histogram");
    let mut total = 0;
    for (count, most) in counts.times.iter().zip(BUCKETS.iter().map(Some).chain([None])) {
        total += count.load(Ordering::Relaxed);
        let most = most.map_or("+Inf".to_owned(), |most| Duration::from_millis(*most).as_secs_f64().to_string());
        _ = writeln!(text, "{NAME}_bucket{{le=\"{most}\"}} {total}");
    }
    let sum = Duration::from_micros(counts.microseconds.load(Ordering::Relaxed)).as_secs_f64();
    _ = writeln!(text, "{NAME}_sum {sum}\n{NAME}_count {total}");
}
