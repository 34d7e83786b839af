//! One provider key's gate: how many requests are in flight, and the moment before which none may start.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The most that a wait for everybody is spread out, so that not all come back at once.
const SPREAD_MAX: Duration = Duration::from_secs(5);

/// How many requests begin at once before the gate opens wider. A fast model serves any number of callers over few
/// connections; a slow one gets more of them, twice as many each time.
const WIDTH_FIRST: usize = 64;
/// How many root threads may widen a full gate for themselves: what people talk to does not wait for its own children.
const ROOTS_MAX: usize = 64;
/// A model that takes longer than this to answer is slow.
const PATIENCE: Duration = Duration::from_millis(50);

/// Shared by every call to one provider with one key.
pub(super) struct Limiter {
    slots: Semaphore,
    width: Mutex<Width>,
    width_max: usize,
    /// How many wait for a slot.
    waiting: AtomicUsize,
    /// Held by the one who keeps watch, until it is let in.
    watch: tokio::sync::Mutex<()>,
    /// Moved only forward, by whoever was told to wait.
    closed_until: Mutex<Option<Instant>>,
}

/// How many may be in flight now, and how that goes while others wait.
struct Width {
    slots: usize,
    /// How many of them roots have made for themselves; they go with their requests.
    of_roots: usize,
    /// When it was last looked at, and how many requests have ended since.
    since: Instant,
    done: usize,
}

/// One who waits for a slot, until it is dropped.
struct Waiting<'a>(&'a Limiter);

impl<'a> Waiting<'a> {
    fn new(limiter: &'a Limiter) -> Self {
        if limiter.waiting.fetch_add(1, Ordering::AcqRel) == 0 {
            // What went through while there was room for everybody says nothing.
            limiter.width().look_again();
        }
        Self(limiter)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Width {
    fn look_again(&mut self) {
        (self.since, self.done) = (Instant::now(), 0);
    }

    /// Whether a request takes longer than one has patience for: those inside a full gate are as many as went through in
    /// the time that each of them took.
    fn is_slow(&self) -> bool {
        self.since.elapsed().as_secs_f64() * self.slots as f64 > PATIENCE.as_secs_f64() * self.done as f64
    }
}

/// Leave to make one request; dropping it lets the next one in.
pub(super) struct Slot<'a> {
    /// None for a root that has made the slot itself.
    permit: Option<SemaphorePermit<'a>>,
    limiter: &'a Limiter,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut width = self.limiter.width();
        width.done += 1;
        if self.permit.is_none() {
            width.of_roots -= 1;
            width.slots -= 1;
        }
        self.limiter.look(&mut width);
    }
}

impl Limiter {
    /// Without a maximum any number may be in flight.
    pub(super) fn new(concurrency_max: Option<usize>) -> Self {
        let width_max = concurrency_max.unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        let slots = WIDTH_FIRST.min(width_max);
        Self {
            slots: Semaphore::new(slots),
            width: Mutex::new(Width { slots, of_roots: 0, since: Instant::now(), done: 0 }),
            width_max,
            waiting: AtomicUsize::new(0),
            watch: tokio::sync::Mutex::new(()),
            closed_until: Mutex::new(None),
        }
    }

    /// Waits for the gate to be open and a slot to be free. Slots are given in the order of asking; a root makes one for
    /// itself, as long as the maximum allows it.
    pub(super) async fn enter(&self, is_root: bool) -> Slot<'_> {
        loop {
            if let Some(wait) = self.closed_for() {
                let spread = (wait / 2).min(SPREAD_MAX);
                tokio::time::sleep(wait + spread.mul_f64(fastrand::f64())).await;
            }
            let slot = Slot { permit: self.acquire(is_root).await, limiter: self };
            if self.closed_for().is_none() {
                return slot;
            }
        }
    }

    async fn acquire(&self, is_root: bool) -> Option<SemaphorePermit<'_>> {
        if let Ok(permit) = self.slots.try_acquire() {
            return Some(permit);
        }
        if is_root && self.widen_for_root() {
            return None;
        }
        let _waiting = Waiting::new(self);
        tokio::select! {
            biased;
            permit = self.slots.acquire() => Some(permit.expect("nobody closes the gate")),
            never = self.keep_watch() => match never {},
        }
    }

    fn widen_for_root(&self) -> bool {
        let mut width = self.width();
        let is_room = width.of_roots < ROOTS_MAX && width.slots < self.width_max;
        if is_room {
            width.of_roots += 1;
            width.slots += 1;
        }
        is_room
    }

    /// Looks at a gate through which nobody goes. One of those who wait does it for all.
    async fn keep_watch(&self) -> Infallible {
        let _alone = self.watch.lock().await;
        loop {
            tokio::time::sleep(PATIENCE).await;
            self.look(&mut self.width());
        }
    }

    /// Doubles the gate's width if others wait and the model is slow.
    fn look(&self, width: &mut Width) {
        if width.since.elapsed() < PATIENCE {
            return;
        }
        let more = width.slots.min(self.width_max - width.slots);
        if more > 0 && width.is_slow() && self.waiting.load(Ordering::Acquire) > 0 {
            self.slots.add_permits(more);
            width.slots += more;
        }
        width.look_again();
    }

    fn width(&self) -> MutexGuard<'_, Width> {
        self.width.lock().unwrap_or_else(PoisonError::into_inner)
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
        futures::future::join_all((0..100).map(|_| limiter.enter(false))).await;
        let waited = start.elapsed();
        assert!(waited >= Duration::from_secs(10) && waited <= Duration::from_secs(16), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_waited_come_back_one_by_one() {
        let limiter = Limiter::new(None);
        limiter.close_for(Duration::from_secs(10));
        let start = Instant::now();
        let enter = async || {
            let _slot = limiter.enter(false).await;
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
        let slot = limiter.enter(false).await;
        assert!(limiter.enter(false).now_or_never().is_none());
        drop(slot);
        assert!(limiter.enter(false).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_maximum_the_gate_opens_wider_until_all_are_in() {
        let limiter = Limiter::new(None);
        let start = Instant::now();
        let first = futures::future::join_all((0..WIDTH_FIRST).map(|_| limiter.enter(false))).now_or_never();
        assert_eq!(first.as_ref().map(Vec::len), Some(WIDTH_FIRST));
        let slots = futures::future::join_all((0..1000).map(|_| limiter.enter(false))).await;
        assert_eq!(slots.len(), 1000);
        assert!(start.elapsed() < 8 * PATIENCE, "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_model_gets_no_more_connections_however_many_wait() {
        let limiter = Limiter::new(None);
        let ask = async || {
            let _slot = limiter.enter(false).await;
            tokio::time::sleep(PATIENCE / 5).await;
        };
        futures::future::join_all((0..2000).map(|_| ask())).await;
        assert_eq!(limiter.width().slots, WIDTH_FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_model_gets_more_also_while_others_end_all_the_time() {
        let limiter = Limiter::new(None);
        let ask = async |number: u64| {
            let _slot = limiter.enter(false).await;
            tokio::time::sleep(Duration::from_millis(10 + 7 * number % 2_000)).await;
        };
        let start = Instant::now();
        futures::future::join_all((0..1_000).map(ask)).await;
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_maximum_is_never_passed() {
        let limiter = Limiter::new(Some(100));
        let enter = |_| tokio::time::timeout(Duration::from_secs(5), limiter.enter(false));
        let entered = futures::future::join_all((0..200).map(enter)).await;
        assert_eq!(entered.iter().filter(|entered| entered.is_ok()).count(), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_root_does_not_wait_for_its_children() {
        let limiter = Limiter::new(None);
        let _first = futures::future::join_all((0..WIDTH_FIRST).map(|_| limiter.enter(false))).await;
        assert!(limiter.enter(false).now_or_never().is_none());
        let roots = futures::future::join_all((0..ROOTS_MAX).map(|_| limiter.enter(true))).now_or_never();
        assert!(roots.is_some(), "roots widen the gate");
        assert!(limiter.enter(true).now_or_never().is_none(), "so many");
    }

    #[tokio::test(start_paused = true)]
    async fn roots_and_children_together_keep_to_the_maximum() {
        for maximum in [1, 100, 1_000] {
            let limiter = Limiter::new(Some(maximum));
            let enter =
                |number: usize| tokio::time::timeout(Duration::from_secs(5), limiter.enter(number.is_multiple_of(2)));
            let entered = futures::future::join_all((0..2 * maximum).map(enter)).await;
            let inside = entered.iter().filter(|entered| entered.is_ok()).count();
            assert_eq!(inside, maximum);
        }
    }
}
