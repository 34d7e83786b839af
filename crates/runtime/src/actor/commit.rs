//! Making a decision durable, and doing what it asks for: in that order.

use super::{Actor, Gone, HOLD, HOLD_WATCHED};
use crate::hub::Notice;
use crate::perform;
use entourage_engine::{Decision, Effect, Input};
use entourage_model::{EffectClass, Event, ThreadStatus, Write};
use entourage_store::{Commit, CommitError, Committed};
use futures::pin_mut;
use futures::stream::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Actor {
    /// Makes a decision durable together with the one that was held before it, or holds both a little longer.
    ///
    /// Returns how many threads still fit into the tree when the decision wanted more; then nothing was changed.
    pub(super) async fn settle(
        &mut self,
        held: Option<(Decision, Instant)>,
        mut decision: Decision,
    ) -> Result<Option<u32>, Gone> {
        let status = self.state.status();
        // What may be repeated need not wait for the disk.
        let rest = self.perform(std::mem::take(&mut decision.effects), Safety::Repeatable);
        let urgent = self.tried || !rest.is_empty() || is_urgent(&decision, status);
        let (decision, until) = match held {
            Some((mut held, until)) => {
                held.append(decision);
                (held, until)
            }
            None => (decision, Instant::now() + self.hold()),
        };
        if decision.is_empty() && status == ThreadStatus::Running && !self.tried {
            return Ok(None);
        }
        if !urgent && Instant::now() < until {
            self.held = Some((decision, until));
            return Ok(None);
        }
        let committed = match self.commit(decision, status).await {
            Ok(committed) => committed,
            Err(CommitError::TreeFull { left }) => return Ok(Some(left)),
            Err(error) => return Err(error.into()),
        };
        self.inner.take_up(committed.claims, &committed.notified);
        if committed.parked {
            self.inner.hub.announce(self.root, self.lease.thread, status);
            return Err(Gone::Parked);
        }
        self.perform(rest, Safety::Any);
        if status != ThreadStatus::Running {
            // A line arrived while the thread was about to park.
            let mail = self.read_queue().await?;
            self.landed.push_back(mail);
        }
        Ok(None)
    }

    /// Commits while the flights go on.
    pub(super) async fn commit(&mut self, decision: Decision, status: ThreadStatus) -> Result<Committed, CommitError> {
        let usage = decision.usage();
        let watched = self.inner.hub.is_watched();
        let shown: Option<Arc<Vec<Event>>> = watched.then(|| Arc::new(decision.events.clone()));
        let commit = Commit {
            seq: self.seq,
            usage,
            events: decision.events,
            writes: decision.writes,
            consumed: decision.consumed,
            burial: (!decision.buried.is_empty()).then(|| "the thread broke over it".to_owned()),
            buried: decision.buried,
            status,
            seen: self.seen,
            wake_at: self.state.wake_at(),
            claim: self.inner.has_room(),
            children_total: self.inner.limits.children_total,
        };
        let store = Arc::clone(&self.inner.store);
        let commit = store.commit(self.lease, commit);
        pin_mut!(commit);
        let committed = loop {
            tokio::select! {
                biased;
                committed = &mut commit => break committed?,
                Some(landed) = self.flights.next(), if !self.flights.is_empty() => {
                    let input: Input = self.landed(landed);
                    self.landed.push_back(input);
                }
            }
        };
        let first = self.seq + 1;
        self.seq = self.state.seq;
        self.tried = false;
        if let Some(events) = shown.filter(|events| !events.is_empty()) {
            self.inner.hub.tell(self.root, Notice::Committed { thread: self.lease.thread, first, events });
        }
        Ok(committed)
    }

    /// Begins the effects that are safe enough and gives the others back.
    fn perform(&mut self, effects: Vec<Effect>, safety: Safety) -> Vec<Effect> {
        let mut rest = Vec::new();
        for effect in effects {
            let repeatable = self.is_repeatable(&effect);
            if safety == Safety::Repeatable && !repeatable {
                rest.push(effect);
                continue;
            }
            match effect {
                Effect::Abort => {
                    self.flights.clear();
                    self.unrepeatable = 0;
                }
                Effect::CallModel(request) => self.flights.push(perform::model(&self.inner, self.place(), *request)),
                Effect::CallTool { call, key } => {
                    self.unrepeatable += usize::from(!repeatable);
                    self.flights.push(perform::tool(&self.inner, self.place(), (call, key), repeatable));
                }
            }
        }
        rest
    }

    fn hold(&self) -> Duration {
        if self.inner.hub.is_watched() { HOLD_WATCHED } else { HOLD }
    }

    fn place(&self) -> perform::Place {
        perform::Place { root: self.root, thread: self.lease.thread }
    }

    fn is_repeatable(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Abort | Effect::CallModel(_) => true,
            Effect::CallTool { call, .. } => {
                self.inner.specs.get(&call.name).is_none_or(|spec| spec.class == EffectClass::Pure)
            }
        }
    }
}

/// Whether somebody waits for the decision. If not, losing it costs no more than doing something repeatable again.
fn is_urgent(decision: &Decision, status: ThreadStatus) -> bool {
    let at_rest = !matches!(status, ThreadStatus::Running | ThreadStatus::Waiting);
    let told = decision.writes.iter().any(|write| match write {
        Write::Spawn(_) | Write::Deliver { .. } | Write::NewRun(_) | Write::EndRun { .. } => true,
        Write::StartRun { .. } | Write::DeliveredRun { .. } => false,
    });
    at_rest || told || !decision.buried.is_empty()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Safety {
    /// Only what may happen twice.
    Repeatable,
    /// The decision is durable: anything may begin.
    Any,
}
