//! Deciding about what hooks hear of, and what comes of it.

use super::Desk;
use super::model::is_terminal_binding;
use super::tool::Returned;
use crate::hook::{CallResult, Change, Occasion, Pause, listeners};
use entourage_model::{CallId, Event, Item, Message, MessageId, Outcome, Posted, StopSession, ToolCall};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Desk<'_> {
    /// Lets the hooks that wait for the occasion hear of it; what they did becomes part of this decision. If they have
    /// not heard of it yet, the decision is given up here.
    pub(super) fn hear(&mut self, occasion: Occasion) -> Change {
        let is_over = self.deaf || self.out.pause.is_some();
        if is_over || listeners(self.world.team, self.state, occasion.name()).is_empty() {
            return Change::Nothing;
        }
        let Some(echo) = self.world.echoes.get(self.heard) else {
            self.out.pause = Some(Box::new(Pause { occasion, state: self.state.clone() }));
            return Change::Nothing;
        };
        assert!(echo.occasion == occasion, "the same input leads to the same occasions");
        self.heard += 1;
        let closing = self.take_acts(echo.acts.clone());
        self.closing.join(closing);
        echo.change.clone()
    }

    /// Whether anybody could hear of anything: without hooks nothing is copied for them.
    fn has_hooks(&self) -> bool {
        !self.world.team.hooks.is_empty()
    }

    /// The first thing that happens on a thread.
    pub(super) fn hear_of_creation(&mut self) {
        let is_due = self.state.started.hooked && !self.state.creation_heard && self.state.terminated.is_none();
        if is_due && !self.deaf {
            self.hear(Occasion::ThreadCreated);
            self.emit(Event::CreationHeard);
        }
    }

    /// The message as it is to join the transcript.
    pub(super) fn coming(&mut self, message: Arc<Message>) -> Arc<Message> {
        match self.hear(Occasion::MessageComing(Arc::clone(&message))) {
            Change::Message(changed) => changed,
            Change::Nothing | Change::Call(_) | Change::Blocked(_) | Change::Result(_) | Change::Removed => message,
        }
    }

    pub(super) fn created(&mut self, message: Arc<Message>) {
        self.hear(Occasion::MessageCreated(message));
    }

    /// The calls of an answer as they are to be made, and those that are not to be made, with the reason.
    pub(super) fn screened(&mut self, mut calls: Vec<ToolCall>) -> (Vec<ToolCall>, BTreeMap<CallId, String>) {
        let mut blocked = BTreeMap::new();
        if !self.has_hooks() {
            return (calls, blocked);
        }
        for call in &mut calls {
            self.hear(Occasion::CallAsked(call.clone()));
            match self.hear(Occasion::CallComing(call.clone())) {
                Change::Call(changed) => *call = changed,
                Change::Blocked(why) => _ = blocked.insert(call.id.clone(), why),
                Change::Nothing | Change::Message(_) | Change::Result(_) | Change::Removed => {}
            }
        }
        (calls, blocked)
    }

    /// What a call has come to, as it is to be kept, and whether it is to be forgotten behind that.
    pub(super) fn screened_result(&mut self, call: &ToolCall, returned: Returned) -> (Returned, bool) {
        if !self.has_hooks() {
            return (returned, false);
        }
        let Returned { outcome, text, attachments, facts } = returned;
        let mut result = CallResult { outcome, text, attachments };
        let ended = (call.clone(), result.clone());
        let ended = match outcome {
            Outcome::Done => Occasion::CallSucceeded { call: ended.0, result: ended.1 },
            Outcome::Failed | Outcome::Cancelled | Outcome::Unknown => {
                Occasion::CallFailed { call: ended.0, result: ended.1 }
            }
        };
        let mut is_removed = false;
        match self.hear(ended) {
            Change::Result(changed) => result = changed,
            Change::Removed => is_removed = true,
            Change::Nothing | Change::Message(_) | Change::Call(_) | Change::Blocked(_) => {}
        }
        let coming = Occasion::ResultComing { call: call.clone(), result: result.clone() };
        if let Change::Result(changed) = self.hear(coming) {
            result = changed;
        }
        let CallResult { outcome, text, attachments } = result;
        (Returned { outcome, text, attachments, facts }, is_removed)
    }

    /// Takes a call that has ended out of the transcript, with its result.
    pub(super) fn forget_call(&mut self, call: &ToolCall, result: MessageId) {
        let Some(session) = &self.state.session else { return };
        let side = self.world.side(self.state, session.acting);
        // What ends a session is the session's result.
        let is_bound = side.is_some_and(|side| is_terminal_binding(side, call));
        let Some(mut answer) = session.answer.clone().filter(|_| !is_bound) else { return };
        Arc::make_mut(&mut answer).tool_calls.retain(|known| known.id != call.id);
        self.emit(Event::MessageReplaced { message: answer });
        self.emit(Event::MessageDeleted { id: result });
    }

    /// Ends what hooks wanted to be over. Returns whether there was anything.
    pub(super) fn close_heard(&mut self) -> bool {
        let closing = std::mem::take(&mut self.closing);
        if closing.is_nothing() {
            return false;
        }
        for message in closing.own {
            let posted = Posted { message, run: None, reply_to: None, delivers: None };
            self.deliver(self.state.id(), Item::Message(posted));
        }
        if let Some(StopSession { ending, status, quiet }) = closing.stop
            && self.state.session.is_some()
        {
            self.interrupt("The session was stopped.");
            self.end_session_for(ending, quiet);
            status.into_iter().for_each(|status| self.report(status));
        }
        if closing.terminate {
            self.terminate();
        }
        true
    }
}
