//! One provider key's gate: how many requests are in flight, and the moment before which none may start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The most that a wait for everybody is spread out, so that not all come back at once.
const SPREAD_MAX: Duration = Duration::from_secs(5);

/// Shared by every call to one provider with one key.
pub(super) struct Limiter {
    slots: Option<Semaphore>,
    /// Moved only forward, by whoever was told to wait.
    closed_until: Mutex<Option<Instant>>,
}

/// Leave to make one request; dropping it lets the next one in.
pub(super) struct Slot<'a> {
    _permit: Option<SemaphorePermit<'a>>,
}

impl Limiter {
    /// Without a maximum any number may be in flight.
    pub(super) fn new(concurrency_max: Option<usize>) -> Self {
        let slots = concurrency_max.map(|max| Semaphore::new(max.clamp(1, Semaphore::MAX_PERMITS)));
        Self { slots, closed_until: Mutex::new(None) }
    }

    /// Waits for the gate to be open and a slot to be free. Slots are given in the order of asking.
    pub(super) async fn enter(&self) -> Slot<'_> {
        loop {
            if let Some(wait) = self.closed_for() {
                let spread = (wait / 2).min(SPREAD_MAX);
                tokio::time::sleep(wait + spread.mul_f64(fastrand::f64())).await;
            }
            let permit = match &self.slots {
                // The semaphore is never closed, so there is always a permit.
                Some(slots) => slots.acquire().await.ok(),
                None => None,
            };
            if self.closed_for().is_none() {
                return Slot { _permit: permit };
            }
        }
    }

    /// Lets nobody in for this long. A shorter wait than one already asked for changes nothing.
    pub(super) fn close_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut closed_until = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        if closed_until.is_none_or(|earlier| earlier < until) {
            *closed_until = Some(until);
        }
    }

    fn closed_for(&self) -> Option<Duration> {
        let closed_until = *self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        closed_until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test(start_paused = true)]
    async fn one_who_was_told_to_wait_holds_back_everybody() {
        let limiter = Limiter::new(None);
        limiter.close_for(Duration::from_secs(10));
        limiter.close_for(Duration::from_secs(1));
        let start = Instant::now();
        futures::future::join_all((0..100).map(|_| limiter.enter())).await;
        let waited = start.elapsed();
        assert!(waited >= Duration::from_secs(10) && waited <= Duration::from_secs(16), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_waited_come_back_one_by_one() {
        let limiter = Limiter::new(None);
        limiter.close_for(Duration::from_secs(10));
        let start = Instant::now();
        let enter = async || {
            limiter.enter().await;
            start.elapsed().as_millis()
        };
        let mut moments = futures::future::join_all((0..100).map(|_| enter())).await;
        moments.sort_unstable();
        moments.dedup();
        assert!(moments.len() > 50, "{moments:?}");
    }

    #[tokio::test]
    async fn a_dropped_slot_lets_the_next_one_in() {
        let limiter = Limiter::new(Some(1));
        let slot = limiter.enter().await;
        assert!(limiter.enter().now_or_never().is_none());
        drop(slot);
        assert!(limiter.enter().now_or_never().is_some());
    }

    #[tokio::test]
    async fn without_a_maximum_nobody_waits() {
        let limiter = Limiter::new(None);
        let slots = futures::future::join_all((0..1000).map(|_| limiter.enter())).now_or_never();
        assert_eq!(slots.map(|slots| slots.len()), Some(1000));
    }
}
