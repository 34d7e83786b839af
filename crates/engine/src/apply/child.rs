//! Children as their parent knows them: what they are asked for, and how that ends.

use super::{delegated, rest, wait_for};
use crate::state::{Child, ThreadState, rest_word};
use entourage_model::{CallId, ChildLink, Outcome, RunId, RunStatus, ThreadId, Timestamp, Wait};

impl Child {
    fn new(link: &ChildLink) -> Self {
        Self {
            runs: link.run.iter().map(|run| (run.clone(), link.wait.clone())).collect(),
            status: if link.run.is_some() { "running" } else { "idle" }.to_owned(),
            link: link.clone(),
            muted: false,
            interrupted: false,
            terminated: false,
        }
    }
}

pub(super) fn start(state: &mut ThreadState, link: &ChildLink) {
    state.children.insert(link.thread, Child::new(link));
    if let Some(run) = &link.run {
        state.children_live += 1;
        delegated::ask(state, link.thread, run, (&link.wait, link.at));
        wait_for(state, link.thread, &link.wait);
    }
}

pub(super) fn ask(state: &mut ThreadState, child: ThreadId, run: &RunId, (wait, at): (&Wait, Timestamp)) {
    delegated::ask(state, child, run, (wait, at));
    let Some(known) = state.children.get_mut(&child) else { return };
    if !known.is_live() {
        state.children_live += 1;
    }
    known.runs.push((run.clone(), wait.clone()));
    known.muted = false;
    "running".clone_into(&mut known.status);
    wait_for(state, child, wait);
}

/// One more call waits for the run: in the place of nobody, or beside others.
pub(super) fn wait_for_run(state: &mut ThreadState, child: ThreadId, run: &RunId, wait: &Wait) {
    change(state, child, |known| {
        let Some(place) = known.runs.iter().rposition(|(current, _)| current == run) else { return };
        match &mut known.runs[place].1 {
            nobody @ Wait::Background => nobody.clone_from(wait),
            Wait::Call(_) | Wait::Timed { .. } => known.runs.insert(place + 1, (run.clone(), wait.clone())),
        }
    });
    wait_for(state, child, wait);
}

/// The run goes on without this call, which gets a result of its own; without anybody, if no other waits for it.
pub(super) fn release(state: &mut ThreadState, child: ThreadId, run: &RunId, call: Option<&CallId>) {
    let Some(known) = state.children.get_mut(&child) else { return };
    let waits = known.runs.iter().filter(|(current, _)| current == run).count();
    if waits > 1 {
        known.runs.retain(|(current, wait)| current != run || wait.call() != call);
        return;
    }
    delegated::change(state, run, |delegated| delegated.background = true);
    set_wait(state, child, run, &Wait::Background);
}

/// Another call waits for the run from now on, or nobody does.
pub(super) fn set_wait(state: &mut ThreadState, child: ThreadId, run: &RunId, wait: &Wait) {
    change(state, child, |known| {
        if let Some((_, current)) = known.runs.iter_mut().find(|(current, _)| current == run) {
            current.clone_from(wait);
        }
    });
}

/// A child that is not known is a no-op.
pub(super) fn change(state: &mut ThreadState, child: ThreadId, change: impl FnOnce(&mut Child)) {
    if let Some(known) = state.children.get_mut(&child) {
        change(known);
    }
}

pub(super) fn end(state: &mut ThreadState, child: ThreadId, run: &RunId, outcome: Outcome) {
    delegated::end(state, child, run, outcome);
    rest::come_to_rest(state, child);
    let Some(known) = state.children.get_mut(&child) else { return };
    let before = known.runs.len();
    known.runs.retain(|(current, _)| current != run);
    if let Some(next) = known.runs.first().map(|(next, _)| next.clone()) {
        return delegated::take_turn(state, &next);
    }
    if known.runs.len() == before {
        return;
    }
    state.children_live -= u32::from(!known.interrupted);
    known.interrupted = false;
    rest_word(outcome).clone_into(&mut known.status);
    // A child that cannot be written to again is over: its thread keeps the history.
    if !known.link.resumable {
        state.children.remove(&child);
    }
}

pub(super) fn terminate(state: &mut ThreadState, child: ThreadId) {
    rest::come_to_rest(state, child);
    let Some(known) = state.children.get_mut(&child) else { return };
    if known.is_live() && !known.interrupted {
        state.children_live -= 1;
    }
    known.interrupted = false;
    for (run, _) in std::mem::take(&mut known.runs) {
        if let Some(delegated) = state.delegated.get_mut(&run) {
            delegated.status = RunStatus::Cancelled;
            delegated.read = true;
        }
    }
    known.terminated = true;
    "terminated".clone_into(&mut known.status);
    if !known.link.resumable {
        state.children.remove(&child);
    }
}
