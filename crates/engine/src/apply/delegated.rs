//! The runs that children were asked for, as far as dialects list them.

use crate::state::{Delegated, ThreadState};
use entourage_model::{Dialect, Outcome, Posted, RunId, RunStatus, ThreadId, Timestamp, Wait};

/// So many runs are kept: a state lies in memory. Of the others the store knows.
const DELEGATED_MAX: usize = 1000;

/// Keeps a new run. The `standard` dialect lists children, not runs.
pub(super) fn ask(state: &mut ThreadState, child: ThreadId, run: &RunId, (wait, at): (&Wait, Timestamp)) {
    let Some(known) = state.children.get(&child) else { return };
    let link = &known.link;
    if link.dialect == Dialect::Standard {
        return;
    }
    // What a child was asked for before comes first.
    let waits = known.runs.iter().any(|(other, _)| other != run);
    let delegated = Delegated {
        child,
        dialect: link.dialect,
        agent: link.alias.clone().unwrap_or_else(|| link.agent.clone()),
        status: if waits { RunStatus::Pending } else { RunStatus::Running },
        background: *wait == Wait::Background,
        dismissed: false,
        read: false,
        at,
    };
    state.delegated.insert(run.clone(), delegated);
    if state.delegated.len() > DELEGATED_MAX {
        let oldest = state.delegated.iter().find(|(_, delegated)| delegated.status.is_terminal());
        if let Some(oldest) = oldest.map(|(run, _)| run.clone()) {
            state.delegated.remove(&oldest);
        }
    }
}

/// A run that is not kept is a no-op.
pub(super) fn change(state: &mut ThreadState, run: &RunId, change: impl FnOnce(&mut Delegated)) {
    if let Some(delegated) = state.delegated.get_mut(run) {
        change(delegated);
    }
}

pub(super) fn dismiss(state: &mut ThreadState, run: &RunId) {
    change(state, run, |delegated| {
        delegated.dismissed = true;
        // What it really came to is told by its ending.
        delegated.status = RunStatus::Cancelled;
    });
}

/// The ending of a run that a call waits for is given to that call; one that is no news is given to nobody.
pub(super) fn end(state: &mut ThreadState, child: ThreadId, run: &RunId, outcome: Outcome) {
    let known = state.children.get(&child);
    let mut runs = known.into_iter().flat_map(|known| &known.runs);
    let is_waited_for = runs.any(|(known, wait)| known == run && wait.call().is_some());
    let is_muted = known.is_some_and(|known| known.muted);
    change(state, run, |delegated| {
        delegated.status = outcome.run_status();
        delegated.read |= is_waited_for || is_muted || delegated.dismissed;
    });
}

/// The child has ended what came before this run.
pub(super) fn take_turn(state: &mut ThreadState, run: &RunId) {
    change(state, run, |delegated| {
        if delegated.status == RunStatus::Pending {
            delegated.status = RunStatus::Running;
        }
    });
}

/// A message may bring a run's result.
pub(super) fn bring(state: &mut ThreadState, posted: &Posted) {
    if let Some(run) = &posted.delivers {
        change(state, run, |delegated| delegated.read = true);
    }
}
