//! Deciding about calls that somebody outside makes in the place of a model.

use super::Desk;
use entourage_model::{Ending, Event, Outcome, Role, ToolCall};
use std::sync::Arc;
use std::time::Duration;

impl Desk<'_> {
    /// Whether somebody outside makes the calls of this thread, and no model is ever asked.
    pub(super) fn is_driven(&self) -> bool {
        self.world.is_driven(self.state)
    }

    /// The call is begun at once, beside those that are open: one session holds all that overlap. A repeated id is a no-op.
    pub(super) fn called(&mut self, call: &ToolCall) {
        if !self.is_driven() || self.state.terminated.is_some() {
            return;
        }
        let deadline = self.now.after(Duration::from_secs(self.world.limits.run_seconds));
        let mut already = Vec::new();
        match &self.state.session {
            Some(session) if session.places.contains_key(&call.id) => return,
            Some(_) => {
                already = self.due();
                // The newest call has as much time as the first one had.
                self.emit(Event::SessionResumed { deadline });
                self.emit(Event::CallQueued { call: call.clone() });
            }
            None => {
                let acting = self.state.first_side();
                self.emit(Event::SessionStarted { deadline, acting, ask: None });
                let mut message = self.message(Role::Assistant, "");
                message.side = Some(acting);
                message.tool_calls = vec![call.clone()];
                self.emit(Event::Activated { message: Arc::new(message) });
            }
        }
        self.dispatch(call);
        self.start_tools(&already);
    }

    /// Every call is answered. What was said to the thread is kept, and answered with nothing.
    pub(super) fn rest_driven(&mut self) {
        self.take_messages();
        let ending = Ending { outcome: Outcome::Done, text: String::new(), attachments: Vec::new(), limit: None };
        self.end_session(ending);
    }
}
