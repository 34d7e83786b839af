//! Deciding about model calls: when a side acts, and what its answer means.

use super::end::cancelled;
use super::{Desk, Effect};
use crate::context;
use crate::limit;
use crate::state::{CallState, ThreadState};
use entourage_model::{
    Act, Binding, Dialect, Ending, Event, HandoffEntry, Item, Kind, Message, ModelAnswer, Outcome, Posted, Role,
    SideConfig, Stop, ToolCall, ToolStatus, Usage, Write,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// So many results in a row that are the same error end the turn: a model that has not learnt from them will not.
const SAME_ERRORS_MAX: usize = 8;

/// What an answer, with all its calls done, leads to.
enum Verdict<'a> {
    GoOn,
    HandOff(ToolCall, &'a HandoffEntry),
    TurnOver(Stop),
    SessionOver(Ending),
}

/// To AgentScope every order is a task with a result of its own: one that comes while another is worked on waits, and what
/// came behind it.
fn waits_its_turn(state: &ThreadState, item: &Item) -> bool {
    let is_order = matches!(item, Item::Message(posted) if posted.run.is_some());
    let is_busy = state.session.as_ref().is_some_and(|session| !session.asks.is_empty());
    is_order && is_busy && state.started.dialect == Some(Dialect::AgentScope)
}

impl<'a> Desk<'a> {
    /// Begins a session with the messages that wait.
    pub(super) fn start_session(&mut self) {
        let deadline = self.now.after(Duration::from_secs(self.world.limits.run_seconds));
        let acting = self.state.first_side();
        (self.resumed, self.note) = (false, None);
        self.emit(Event::SessionStarted { deadline, acting, ask: None });
        // Before any limit is looked at: a session that ends at once has still dealt with what waited.
        self.take_messages();
        let parent = self.state.started.parent;
        let mut asks = self.state.session.iter().flat_map(|session| &session.asks);
        if !asks.any(|ask| ask.reply_to.as_ref().map(|to| to.thread) == parent) {
            self.show_parent("running");
        }
        self.think();
    }

    /// Goes on with the acting side, once none of its calls is open.
    pub(super) fn advance(&mut self) {
        if self.is_driven() {
            return self.rest_driven();
        }
        if limit::is_closed(self.world, self.state) {
            let limit = limit::reached(self.world, self.state).unwrap_or_default();
            return self.reach_limit(limit);
        }
        match self.judge() {
            Verdict::GoOn => self.think(),
            Verdict::TurnOver(Stop::Response) if self.asks_again() => {}
            Verdict::TurnOver(stop) => self.end_turn(stop),
            Verdict::SessionOver(ending) => self.end_session(ending),
            Verdict::HandOff(call, entry) => self.hand_off(&call, entry),
        }
    }

    /// Whether all calls have ended and the acting side is to be asked again.
    pub(super) fn goes_on(&self) -> bool {
        self.state.session.as_ref().is_some_and(|session| session.open == 0) && matches!(self.judge(), Verdict::GoOn)
    }

    /// Takes in what waits and asks the acting side's model, unless a limit is reached.
    pub(super) fn think(&mut self) {
        if self.is_driven() {
            return self.rest_driven();
        }
        let limit = limit::reached(self.world, self.state);
        if let Some(limit) = limit.filter(|_| !limit::is_closing(self.world, self.state)) {
            return self.reach_limit(limit);
        }
        // What waits while another server works is a task of its own.
        if !(self.resumed && self.is_remote()) {
            self.take_messages();
        }
        if let Some(limit) = self.broken_record() {
            return self.reach_limit(limit);
        }
        if self.activate() {
            return;
        }
        if self.state.session.as_ref().is_some_and(|session| !session.is_asked) {
            return self.rest_unasked();
        }
        match context::request(self.world, self.state) {
            Some(mut request) => {
                request.remote.iter_mut().for_each(|task| task.resumed = self.resumed);
                self.out.effects.push(Effect::CallModel(Box::new(request)));
            }
            None => {
                let text = format!("agent `{}` has no model on this side", self.state.agent);
                self.end_session(Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit: None });
            }
        }
    }

    /// Whether another server works in the place of a model.
    fn is_remote(&self) -> bool {
        self.world.agent(self.state).is_some_and(|agent| agent.remote.is_some())
    }

    pub(super) fn take_messages(&mut self) {
        while let Some(letter) = self.mail.pop_front_if(|letter| !waits_its_turn(self.state, &letter.item)) {
            self.out.consumed.push(letter.number);
            if let Item::Message(posted) = letter.item {
                self.take(posted);
            }
        }
    }

    pub(super) fn take(&mut self, mut posted: Posted) {
        if let Some(run) = &posted.run {
            self.out.writes.push(Write::StartRun { run: run.clone() });
        }
        if let Some(run) = &posted.delivers {
            self.out.writes.push(Write::DeliveredRun { run: run.clone() });
        }
        posted.message = self.coming(posted.message);
        let message = Arc::clone(&posted.message);
        self.emit(Event::Posted(Box::new(posted)));
        self.created(message);
    }

    /// The model has answered, or will not.
    pub(super) fn answered(&mut self, answer: Result<ModelAnswer, String>, acts: Vec<Act>) {
        // Nothing is asked while a call is open, so this is the answer to a question that was taken back.
        if self.state.session.as_ref().is_none_or(|session| session.open > 0 || session.interrupted) {
            return;
        }
        let closing = self.take_acts(acts);
        self.closing.join(closing);
        match answer {
            Err(text) => {
                self.end_session(Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit: None });
            }
            Ok(answer) if answer.cancelled => self.end_session(cancelled(&answer.text)),
            Ok(mut answer) => {
                self.note = answer.note.take();
                if limit::is_closing(self.world, self.state) {
                    // It was offered none.
                    answer.calls.clear();
                }
                let usage = Usage { steps: 1, ..answer.usage };
                let (calls, blocked) = self.screened(with_own_ids(answer.calls));
                let message = self.answer_message(ModelAnswer { calls, ..answer });
                let message = self.coming(Arc::new(message));
                self.emit(Event::Answered { message: Arc::clone(&message), usage });
                self.created(message);
                // A call that will never be made is answered when the session ends.
                if !self.closing.ends() {
                    self.dispatch_calls(&blocked);
                }
                self.settled = true;
            }
        }
    }

    fn answer_message(&mut self, answer: ModelAnswer) -> Message {
        let mut message = self.message(Role::Assistant, answer.text);
        message.side = self.state.session.as_ref().map(|session| session.acting);
        message.tool_calls = answer.calls;
        let side = message.side.and_then(|side| self.world.side(self.state, side));
        if let Some(text) = side.and_then(|side| stop_tool_text(side, &message.tool_calls)) {
            message.content = text;
        }
        message
    }

    fn judge(&self) -> Verdict<'a> {
        let Some(session) = self.state.session.as_ref().filter(|session| !session.activating) else {
            return Verdict::GoOn;
        };
        let (Some(answer), Some(side), Some(agent)) =
            (&session.answer, self.world.side(self.state, session.acting), self.world.agent(self.state))
        else {
            return Verdict::GoOn;
        };
        // A task of another server has ended with its answer, even if that has no words.
        if agent.remote.is_some() {
            return Verdict::TurnOver(Stop::Response);
        }
        let bindings = [(&side.session_fail, Outcome::Failed), (&side.session_stop, Outcome::Done)];
        for (binding, outcome) in bindings.into_iter().filter_map(|(binding, o)| Some((binding.as_ref()?, o))) {
            if let Some(ending) = self.bound_ending(binding, outcome) {
                return Verdict::SessionOver(ending);
            }
        }
        // A binding's tool that failed must be called again: it does not hand over either.
        let failed_binding = session.calls.iter().any(|call| is_terminal_binding(side, &call.call));
        if failed_binding {
            return Verdict::GoOn;
        }
        if let Some((call, entry)) = self.handoff() {
            return Verdict::HandOff(call, entry);
        }
        if side.stop_tool.as_ref().is_some_and(|tool| session.calls.iter().any(|call| call.call.name == *tool)) {
            return Verdict::TurnOver(Stop::StopTool);
        }
        if side.stop_on_response && answer.tool_calls.is_empty() && !answer.content.trim().is_empty() {
            return Verdict::TurnOver(Stop::Response);
        }
        if !side.stop_on_response && side.stop_tool.is_none() && agent.kind == Kind::DualAi {
            return Verdict::TurnOver(Stop::EveryStep);
        }
        Verdict::GoOn
    }

    /// The ending that a successful call of the binding's tool stands for.
    pub(super) fn bound_ending(&self, binding: &Binding, outcome: Outcome) -> Option<Ending> {
        let session = self.state.session.as_ref()?;
        let call = session
            .calls
            .iter()
            .find(|call| call.call.name == binding.tool && call.state == CallState::Ended(Outcome::Done))?;
        let mapped = binding.message_property.as_deref().and_then(|property| argument_text(&call.call, property));
        let text = mapped.unwrap_or_else(|| self.result_text(&call.call));
        let attachments = self.result(&call.call).map(|message| message.attachments.clone()).unwrap_or_default();
        Some(Ending { outcome, text, attachments, limit: None })
    }

    pub(super) fn result_text(&self, call: &ToolCall) -> String {
        self.result(call).map(|message| message.content.clone()).unwrap_or_default()
    }

    pub(super) fn result(&self, call: &ToolCall) -> Option<&Message> {
        let results = self.state.transcript.iter().rev();
        results.map(|message| &**message).find(|message| message.tool_call_id.as_ref() == Some(&call.id))
    }

    /// The limit that is reached when tools answer with nothing but one and the same error.
    fn broken_record(&self) -> Option<String> {
        let session = self.state.session.as_ref()?;
        let said = self.state.transcript.get(session.first..)?.iter().rev();
        let results = said.filter(|message| message.role == Role::Tool && message.side == Some(session.acting));
        let mut errors = results
            .take(SAME_ERRORS_MAX)
            .take_while(|message| message.tool_status == Some(ToolStatus::Error))
            .map(|message| message.content.split_whitespace());
        let first = errors.next()?;
        let same = errors.filter(|words| words.clone().eq(first.clone())).count() + 1;
        (same == SAME_ERRORS_MAX)
            .then(|| format!("repeated_tool_error: the same error came back {SAME_ERRORS_MAX} times in a row"))
    }
}

pub(super) fn is_terminal_binding(side: &SideConfig, call: &ToolCall) -> bool {
    [&side.session_fail, &side.session_stop].into_iter().flatten().any(|binding| binding.tool == call.name)
}

fn stop_tool_text(side: &SideConfig, calls: &[ToolCall]) -> Option<String> {
    let (tool, property) = (side.stop_tool.as_ref()?, side.stop_tool_response_property.as_ref()?);
    argument_text(calls.iter().find(|call| call.name == *tool)?, property)
}

/// An argument as text: a string as it is, anything else as JSON.
pub(super) fn argument_text(call: &ToolCall, property: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let argument = arguments.get(property)?;
    match argument {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(argument.to_string()),
    }
}

/// Models repeat ids now and then; within one answer each call needs its own.
fn with_own_ids(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut seen = BTreeSet::new();
    for (place, call) in calls.iter_mut().enumerate() {
        while !seen.insert(call.id.clone()) {
            call.id = format!("{}#{place}", call.id).into();
        }
    }
    calls
}
