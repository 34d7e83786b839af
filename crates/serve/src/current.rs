//! The team of the moment, read once for everybody who asked before the reading began.
//!
//! Declarations may change at any time, so that whoever asks is given what was read after the asking. Many who ask at once
//! share one reading.

use entourage_model::{Name, Team};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Gives the team that new root threads are started from. Declarations may have changed since the last call.
pub trait Teams: Debug + Send + Sync + 'static {
    fn current(&self) -> Arc<Team>;

    /// Why an agent that is declared is not in the team, for people. Absent: nobody declares it, or nobody knows.
    fn lack(&self, _agent: &Name) -> Option<String> {
        None
    }
}

#[derive(Debug)]
pub(crate) struct Current {
    teams: Arc<dyn Teams>,
    /// How many have asked.
    asked: AtomicU64,
    latest: Mutex<Option<Read>>,
}

#[derive(Debug)]
struct Read {
    /// How many had asked when the reading began.
    asked: u64,
    team: Arc<Team>,
}

impl Current {
    pub(crate) fn new(teams: Arc<dyn Teams>) -> Self {
        Self { teams, asked: AtomicU64::new(0), latest: Mutex::default() }
    }

    /// Reading declarations blocks; nobody else waits for it.
    pub(crate) async fn team(&self) -> Arc<Team> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut latest = self.latest.lock().await;
        if let Some(read) = latest.as_ref().filter(|read| read.asked >= number) {
            return Arc::clone(&read.team);
        }
        let (teams, asked) = (Arc::clone(&self.teams), self.asked.load(Ordering::SeqCst));
        let team = match tokio::task::spawn_blocking(move || teams.current()).await {
            Ok(team) => team,
            Err(broken) => std::panic::resume_unwind(broken.into_panic()),
        };
        // The same team in the same place is known to be kept already.
        let team = latest.take().map(|read| read.team).filter(|known| *known == team).unwrap_or(team);
        *latest = Some(Read { asked, team: Arc::clone(&team) });
        team
    }

    /// The same about an agent that is not in it.
    pub(crate) async fn lack(&self, agent: Name) -> Option<String> {
        let teams = Arc::clone(&self.teams);
        match tokio::task::spawn_blocking(move || teams.lack(&agent)).await {
            Ok(lack) => lack,
            Err(broken) => std::panic::resume_unwind(broken.into_panic()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Every reading waits until it may go on.
    #[derive(Debug)]
    struct Gated(std::sync::Mutex<mpsc::Receiver<()>>, AtomicU64);

    impl Teams for Gated {
        fn current(&self) -> Arc<Team> {
            self.0.lock().unwrap().recv().unwrap();
            self.1.fetch_add(1, Ordering::SeqCst);
            Arc::default()
        }
    }

    #[tokio::test]
    async fn whoever_asks_gets_what_was_read_afterwards_and_many_share_it() {
        let (go, gate) = mpsc::channel();
        let gated = Arc::new(Gated(std::sync::Mutex::new(gate), AtomicU64::new(0)));
        let current = Current::new(Arc::clone(&gated) as Arc<dyn Teams>);
        let (mut first, mut late) = (Box::pin(current.team()), Vec::new());
        assert!(futures::poll!(&mut first).is_pending(), "the first reading has begun");
        for _ in 0..10 {
            let mut asking = Box::pin(current.team());
            assert!(futures::poll!(&mut asking).is_pending());
            late.push(asking);
        }
        go.send(()).unwrap();
        let first = first.await;
        go.send(()).unwrap();
        let late = futures::future::join_all(late).await;
        assert_eq!(gated.1.load(Ordering::SeqCst), 2, "those who came during the first share the second");
        assert!(late.iter().all(|team| Arc::ptr_eq(team, &first)), "what has not changed is the same");
    }
}
