//! Threads that scripts run on, and that may have to be left behind.
//!
//! An engine looks at the clock between its steps, but a few built-in functions are a single step that takes hours. A
//! thread cannot be stopped from outside. Whoever waits for one goes on without it, and as long as it runs it is
//! counted: beyond `LEFT_BEHIND_MAX` of them nothing new is started.

use crate::fault::{Fault, FaultKind};
use crate::limits::{GRACE, LEFT_BEHIND_MAX};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// A thread, as seen by whoever waits for what it does. Dropping this tells it that nobody does any more.
#[derive(Debug)]
pub(crate) struct Worker {
    bond: Arc<Bond>,
    pound: &'static Pound,
}

/// What the two sides know of each other.
#[derive(Debug, Default)]
pub(crate) struct Bond {
    abandoned: AtomicBool,
    ended: AtomicBool,
}

/// The threads that were left behind, with the moment at which that happened.
#[derive(Debug)]
struct Pound(Mutex<Vec<(Instant, Arc<Bond>)>>);

static POUND: Pound = Pound(Mutex::new(Vec::new()));

impl Worker {
    /// Starts a thread with a stack of that many bytes. `entry` is named in the fault if none can be had.
    pub(crate) fn start(
        entry: &str,
        stack_bytes: usize,
        work: impl FnOnce(&Arc<Bond>) + Send + 'static,
    ) -> Result<Self, Fault> {
        Self::start_beside(&POUND, entry, stack_bytes, work)
    }

    fn start_beside(
        pound: &'static Pound,
        entry: &str,
        stack_bytes: usize,
        work: impl FnOnce(&Arc<Bond>) + Send + 'static,
    ) -> Result<Self, Fault> {
        if pound.count(Instant::now()) >= LEFT_BEHIND_MAX {
            let what = format!("not run: {LEFT_BEHIND_MAX} scripts that should have ended long ago still run");
            return Err(Fault::new(FaultKind::Time, entry, what));
        }
        let bond = Arc::new(Bond::default());
        let ending = Ending(Arc::clone(&bond));
        let thread = thread::Builder::new().name("script".to_owned()).stack_size(stack_bytes);
        match thread.spawn(move || work(&ending.0)) {
            Ok(_) => Ok(Self { bond, pound }),
            Err(error) => Err(Fault::new(FaultKind::Memory, entry, format!("no thread to run it: {error}"))),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.bond.abandoned.store(true, Ordering::Relaxed);
        if !self.bond.ended.load(Ordering::Acquire) {
            self.pound.take_in(Instant::now(), Arc::clone(&self.bond));
        }
    }
}

impl Bond {
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

/// Marks the end of a thread, a panic included.
struct Ending(Arc<Bond>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

impl Pound {
    fn take_in(&self, now: Instant, bond: Arc<Bond>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, bond)| !bond.ended.load(Ordering::Acquire));
        kept.push((now, bond));
    }

    /// How many have had the time to end and did not. Most are here for a moment only: their call was dropped.
    fn count(&self, now: Instant) -> usize {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, bond)| !bond.ended.load(Ordering::Acquire));
        kept.iter().filter(|(since, _)| now.saturating_duration_since(*since) >= GRACE).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn threads_left_behind_are_counted_until_they_end() {
        static POUND: Pound = Pound(Mutex::new(Vec::new()));
        let begun = Instant::now();
        let mut ends = Vec::new();
        for _ in 0..LEFT_BEHIND_MAX {
            let (end, ended) = mpsc::channel::<()>();
            let worker = Worker::start_beside(&POUND, "a.ts", 1 << 16, move |_| assert!(ended.recv().is_err()));
            drop(worker.unwrap());
            ends.push(end);
        }
        assert_eq!(POUND.count(begun), 0, "they have just been dropped");
        // As if they had been left a while ago.
        POUND.0.lock().unwrap().iter_mut().for_each(|(since, _)| *since -= GRACE);
        let refused = Worker::start_beside(&POUND, "a.ts", 1 << 16, |_| {}).unwrap_err();
        assert_eq!((refused.kind, refused.file.as_str()), (FaultKind::Time, "a.ts"));
        ends.pop();
        while POUND.count(Instant::now()) == LEFT_BEHIND_MAX {
            thread::yield_now();
        }
        Worker::start_beside(&POUND, "a.ts", 1 << 16, |_| {}).unwrap();
    }

    #[test]
    fn a_thread_learns_that_nobody_waits() {
        let (tell, told) = mpsc::channel();
        let worker = Worker::start("a.ts", 1 << 16, move |bond| {
            while !bond.is_abandoned() {
                thread::yield_now();
            }
            tell.send(()).unwrap();
        });
        drop(worker.unwrap());
        told.recv_timeout(GRACE * 20).unwrap();
    }
}
