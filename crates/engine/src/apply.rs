//! Folding one event into a state. The only place where a state changes.

mod child;
mod delegated;
mod rest;
mod transcript;

use crate::doings::Doings;
use crate::state::{Call, CallState, Session, ThreadState};
use entourage_model::{
    Ask, CallId, Dialect, Event, Fact, Message, Name, Outcome, Posted, SessionEnd, Side, TaskItem, ThreadId, Timestamp,
    ToolCall, Usage, VariablesRequest, Wait,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Takes the event in. Every event that a journal can hold is accepted in any state, so that a fold never fails.
pub fn apply(state: &mut ThreadState, event: &Event) {
    state.seq += 1;
    match event {
        // A journal has one of these, and it made the state.
        Event::Started(_) => {}
        Event::SessionStarted { deadline, acting, ask } => start_session(state, *deadline, (*acting, ask.as_deref())),
        Event::Posted(posted) => accept(state, posted),
        Event::Answered { message, usage } => answer(state, message, *usage),
        Event::CallStarted { call } => set_call(state, call, CallState::Started),
        Event::CallEnded { message, outcome, facts } => end_call(state, message, *outcome, facts),
        Event::CallJoined { call, children } => rest::join(state, call, children),
        Event::ChildStarted(link) => child::start(state, link),
        Event::ChildAsked { child, run, wait, at } => child::ask(state, *child, run, (wait, at.unwrap_or_default())),
        Event::ChildAwaited { child, run, wait } => child::wait_for_run(state, *child, run, wait),
        Event::ChildReleased { child, run, call } => child::release(state, *child, run, call.as_ref()),
        Event::RunDismissed { run, .. } => delegated::dismiss(state, run),
        Event::RunRead { run } => delegated::change(state, run, |delegated| delegated.read = true),
        Event::ChildEnded { child, run, outcome } => child::end(state, *child, run, *outcome),
        Event::ChildCancelled { child } => child::change(state, *child, |child| child.muted = true),
        Event::ChildInterrupted { child, run } => rest::interrupt(state, *child, run),
        Event::ChildResumed { child, run, wait } => rest::resume(state, *child, run, wait),
        Event::ChildTerminated { child } => child::terminate(state, *child),
        Event::ChildReported { child, status } => child::change(state, *child, |child| child.status.clone_from(status)),
        Event::Activated { message } => activate(state, message),
        Event::HandedOff { agent } => hand_off(state, agent),
        Event::VariablesRequested(request) => open_request(state, request),
        Event::RequestClosed { request, .. } => _ = state.requests.remove(request),
        Event::RunCancelled { run } => in_session(state, |session| session.asks.retain(|ask| ask.run != *run)),
        Event::TurnEnded { next, .. } => hand_over(state, *next),
        Event::SessionInterrupted => in_session(state, |session| session.interrupted = true),
        Event::SessionResumed { deadline } => in_session(state, |session| session.resume(*deadline)),
        Event::SessionEnded(end) => end_session(state, end),
        Event::Terminated { at } => terminate(state, *at),
        Event::TaskSaved(item) => save_task(state, item),
        Event::VariablesSet { variables } => state.variables.extend(variables.clone()),
        Event::ValueSet { key, value: Value::Null } => _ = state.values.remove(key),
        Event::ValueSet { key, value } => _ = state.values.insert(key.clone(), value.clone()),
        Event::Injected { message } => add_line(state, message),
        Event::MessageReplaced { message } => transcript::replace(state, message),
        Event::MessageDeleted { id } => transcript::delete(state, *id),
        Event::CallQueued { call } => queue_call(state, call),
        Event::PromptAnswered { usage, .. } => state.usage += *usage,
        Event::CreationHeard => state.creation_heard = true,
        // Files have rows of their own; what was emitted, and what a hook failed at, is for others.
        Event::FilePut(_) | Event::FileRemoved { .. } | Event::Emitted { .. } | Event::HookFailed { .. } => {}
    }
}

fn in_session(state: &mut ThreadState, change: impl FnOnce(&mut Session)) {
    if let Some(session) = &mut state.session {
        change(session);
    }
}

fn start_session(state: &mut ThreadState, deadline: Timestamp, first: (Side, Option<&Ask>)) {
    state.doings = Doings::default();
    // What immediate children brought before belongs to the first question.
    let begins = state.prelude.take().unwrap_or(state.transcript.len());
    state.session = Some(Session::new(begins, deadline, first));
    state.sessions += 1;
}

fn end_session(state: &mut ThreadState, end: &SessionEnd) {
    let session = state.session.take();
    state.prelude = session.filter(|session| !session.is_asked).map(|session| session.first);
    state.rest = end.rest;
}

fn open_request(state: &mut ThreadState, request: &VariablesRequest) {
    in_session(state, |session| _ = session.requests.insert(request.id));
    state.requests.insert(request.id, request.clone());
}

fn terminate(state: &mut ThreadState, at: Timestamp) {
    state.session = None;
    state.requests.clear();
    state.terminated = Some(at);
    // They are told in the same batch, and nobody tells a terminated thread what became of them.
    for child in state.children.keys().copied().collect::<Vec<_>>() {
        child::terminate(state, child);
    }
}

/// The transcript's new line. Its number is that of the event, which was counted already.
fn add_line(state: &mut ThreadState, message: &Arc<Message>) {
    state.transcript.push(Arc::clone(message));
    state.numbers.push(state.seq);
}

impl Session {
    fn new(first: usize, deadline: Timestamp, (acting, ask): (Side, Option<&Ask>)) -> Self {
        Self {
            first,
            turn_first: first,
            deadline,
            asks: ask.cloned().into_iter().collect(),
            is_asked: ask.is_some(),
            acting,
            turns: 0,
            steps: [0; 2],
            handed_off_at: [0; 2],
            answer: None,
            calls: Vec::new(),
            places: BTreeMap::new(),
            open: 0,
            unstarted: 0,
            waiting: 0,
            untils: BTreeMap::new(),
            joins: BTreeMap::new(),
            interrupted: false,
            activating: false,
            last_text: None,
            requests: BTreeSet::new(),
        }
    }
}

impl Session {
    /// These calls are the ones to be answered now.
    fn set_answer(&mut self, message: &Arc<Message>) {
        let calls = &message.tool_calls;
        self.calls = calls.iter().map(|call| Call { call: call.clone(), state: CallState::Asked }).collect();
        self.places = calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        (self.open, self.unstarted, self.waiting) = (calls.len(), calls.len(), 0);
        self.untils.clear();
        self.joins.clear();
        self.answer = Some(Arc::clone(message));
    }

    fn resume(&mut self, deadline: Timestamp) {
        (self.interrupted, self.deadline) = (false, deadline);
    }

    fn forget_answer(&mut self) {
        self.answer = None;
        self.activating = false;
        self.calls.clear();
        self.places.clear();
        self.untils.clear();
        self.joins.clear();
        (self.open, self.unstarted, self.waiting) = (0, 0, 0);
    }
}

fn accept(state: &mut ThreadState, posted: &Posted) {
    delegated::bring(state, posted);
    add_line(state, &posted.message);
    let Some(session) = &mut state.session else { return };
    session.is_asked = true;
    if let Some(run) = &posted.run {
        session.asks.push(Ask { run: run.clone(), reply_to: posted.reply_to.clone() });
    }
}

fn answer(state: &mut ThreadState, message: &Arc<Message>, usage: Usage) {
    state.usage += usage;
    add_line(state, message);
    let Some(session) = &mut state.session else { return };
    session.steps[session.acting as usize] += 1;
    session.set_answer(message);
    session.activating = false;
    if !message.content.trim().is_empty() {
        session.last_text = Some(Arc::clone(message));
    }
}

/// The calls join those of a side that has said nothing itself.
fn activate(state: &mut ThreadState, message: &Arc<Message>) {
    if !message.tool_calls.is_empty() {
        add_line(state, message);
    }
    let Some(session) = &mut state.session else { return };
    state.activated[session.acting as usize] = true;
    session.set_answer(message);
    session.activating = true;
}

/// What was said stays; who acts, and with whom as immediate children, is new.
fn hand_off(state: &mut ThreadState, agent: &Name) {
    state.agent = agent.clone();
    state.activated = [false; 2];
    if let Some(session) = &mut state.session {
        session.acting = Side::A;
        session.handed_off_at = session.steps;
        session.forget_answer();
    }
}

/// Moves an open call; an ended one stays as it is.
fn set_call(state: &mut ThreadState, id: &CallId, to: CallState) {
    let Some(session) = &mut state.session else { return };
    let Some(place) = session.open_call(id) else { return };
    match session.calls[place].state {
        CallState::Asked => session.unstarted -= 1,
        CallState::Waiting(_) | CallState::Joining => session.waiting -= 1,
        CallState::Started | CallState::Reading(_) | CallState::Ended(_) => {}
    }
    match to {
        CallState::Asked => session.unstarted += 1,
        CallState::Waiting(_) | CallState::Joining => session.waiting += 1,
        CallState::Ended(_) => session.open -= 1,
        CallState::Started | CallState::Reading(_) => {}
    }
    session.untils.remove(id);
    session.joins.remove(id);
    session.calls[place].state = to;
}

fn end_call(state: &mut ThreadState, message: &Arc<Message>, outcome: Outcome, facts: &[Fact]) {
    if state.started.dialect == Some(Dialect::Dex) {
        state.doings.add(message, outcome, facts);
    }
    add_line(state, message);
    if let Some(id) = &message.tool_call_id {
        set_call(state, id, CallState::Ended(outcome));
    }
}

/// The call joins those of the answer, also where the answer is shown: no model accepts a result without its call.
fn queue_call(state: &mut ThreadState, call: &ToolCall) {
    let Some(session) = &mut state.session else { return };
    let Some(answer) = &mut session.answer else { return };
    if session.places.contains_key(&call.id) {
        return;
    }
    session.places.insert(call.id.clone(), session.calls.len());
    session.calls.push(Call { call: call.clone(), state: CallState::Asked });
    session.open += 1;
    session.unstarted += 1;
    Arc::make_mut(answer).tool_calls.push(call.clone());
    let answer = Arc::clone(answer);
    transcript::replace(state, &answer);
}

fn wait_for(state: &mut ThreadState, child: ThreadId, wait: &Wait) {
    let Some(call) = wait.call() else { return };
    set_call(state, call, CallState::Waiting(child));
    if let (Wait::Timed { until, .. }, Some(session)) = (wait, &mut state.session) {
        session.untils.insert(call.clone(), *until);
    }
}

/// In the place of the entry of that id, else behind the others.
fn save_task(state: &mut ThreadState, item: &TaskItem) {
    match state.tasks.iter_mut().find(|known| known.id == item.id) {
        Some(known) => known.clone_from(item),
        None => state.tasks.push(item.clone()),
    }
}

fn hand_over(state: &mut ThreadState, next: Side) {
    let turn_first = state.transcript.len();
    let Some(session) = &mut state.session else { return };
    session.turns += 1;
    session.turn_first = turn_first;
    session.acting = next;
    session.forget_answer();
}
