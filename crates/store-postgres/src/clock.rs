//! What the database's clock says, told without asking it each time.

use entourage_model::Timestamp;
use entourage_store::Clock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// An estimate that lags behind by the time an answer takes, and never runs backwards.
#[derive(Debug)]
pub(crate) struct DatabaseClock {
    /// Asked instead, if there is one.
    given: Option<Clock>,
    started: Instant,
    /// What the database's clock said when this one began, as far as is known.
    origin: AtomicI64,
    latest: AtomicI64,
}

impl DatabaseClock {
    pub(crate) fn new(given: Option<Clock>) -> Self {
        let (started, origin, latest) = (Instant::now(), AtomicI64::new(0), AtomicI64::new(i64::MIN));
        Self { given, started, origin, latest }
    }

    /// The database's clock said this a moment ago.
    pub(crate) fn set(&self, micros: i64) {
        self.origin.store(micros - self.elapsed(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        if let Some(clock) = &self.given {
            return clock.now();
        }
        let now = self.origin.load(Ordering::Relaxed) + self.elapsed();
        Timestamp(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX)
    }
}
