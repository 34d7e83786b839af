//! Children that come to rest: they end a run, or stop in the middle of it.

use super::child::set_wait;
use super::{set_call, wait_for};
use crate::state::{CallState, ThreadState};
use entourage_model::{CallId, Dialect, RunId, RunStatus, ThreadId, Wait};

/// The call waits until none of these children works on anything.
pub(super) fn join(state: &mut ThreadState, call: &CallId, children: &[ThreadId]) {
    set_call(state, call, CallState::Joining);
    if let Some(session) = &mut state.session {
        session.joins.insert(call.clone(), children.iter().copied().collect());
    }
}

/// What a child of the dex dialect came to is read from the store: whoever waited for it is due.
pub(super) fn come_to_rest(state: &mut ThreadState, child: ThreadId) {
    if state.children.get(&child).is_none_or(|known| known.link.dialect != Dialect::Dex) {
        return;
    }
    let Some(session) = &mut state.session else { return };
    let waits = session.calls.iter().filter(|call| call.state == CallState::Waiting(child));
    let waiting: Vec<CallId> = waits.map(|call| call.call.id.clone()).collect();
    let mut joined = Vec::new();
    for (call, children) in &mut session.joins {
        if children.remove(&child) && children.is_empty() {
            joined.push(call.clone());
        }
    }
    session.joins.retain(|_, children| !children.is_empty());
    waiting.iter().for_each(|call| set_call(state, call, CallState::Reading(child)));
    joined.iter().for_each(|call| set_call(state, call, CallState::Asked));
}

/// The child stopped in the middle of a run: it takes up no room until it is resumed.
pub(super) fn interrupt(state: &mut ThreadState, child: ThreadId, run: &RunId) {
    come_to_rest(state, child);
    let Some(known) = state.children.get_mut(&child).filter(|known| known.is_live() && !known.interrupted) else {
        return;
    };
    known.interrupted = true;
    "interrupted".clone_into(&mut known.status);
    state.children_live -= 1;
    set_wait(state, child, run, &Wait::Background);
    super::delegated::change(state, run, |delegated| delegated.status = RunStatus::Interrupted);
}

pub(super) fn resume(state: &mut ThreadState, child: ThreadId, run: &RunId, wait: &Wait) {
    let Some(known) = state.children.get_mut(&child).filter(|known| known.interrupted) else { return };
    known.interrupted = false;
    "running".clone_into(&mut known.status);
    state.children_live += 1;
    super::delegated::change(state, run, |delegated| delegated.status = RunStatus::Running);
    set_wait(state, child, run, wait);
    wait_for(state, child, wait);
}
