//! The clock that a store's times come from.

use entourage_model::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

/// Tells a store the time. Tests give one that they move by hand.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    pub fn new(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The machine's clock. It stands still while the machine's is turned back, so that time never runs backwards.
    pub fn system() -> Self {
        let latest = AtomicI64::new(i64::MIN);
        Self::new(move || {
            let now = system_micros();
            Timestamp(latest.fetch_max(now, Ordering::Relaxed).max(now))
        })
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

#[expect(clippy::disallowed_methods, reason = "the one door for the clock")]
fn system_micros() -> i64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX)
}
