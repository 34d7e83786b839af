//! Deciding about tool calls: which may begin, and what their results lead to.

use super::{Desk, Effect};
use crate::dialect::standard::{self, Wish};
use crate::state::CallState;
use entourage_model::{CallId, EffectClass, Event, Item, Name, Outcome, Role, ToolCall, ToolEntry, ToolStatus};

impl<'a> Desk<'a> {
    /// Begins every call of the answer that can begin: children at once, tools in their order.
    pub(super) fn dispatch_calls(&mut self) {
        let Some(session) = &self.state.session else { return };
        let calls: Vec<_> = session.calls.iter().map(|call| call.call.clone()).collect();
        for call in &calls {
            match self.wish(call) {
                Some(Ok(wish)) => self.grant(call, wish),
                Some(Err(refusal)) => self.end_call(call, Outcome::Failed, refusal.text()),
                None if self.is_offered(&call.name) => {}
                None => self.end_call(call, Outcome::Failed, self.unknown_tool(&call.name)),
            }
        }
        self.start_tools();
    }

    fn wish(&self, call: &ToolCall) -> Option<Result<Wish<'a>, standard::Refusal>> {
        let acting = self.state.session.as_ref()?.acting;
        let prompt = &self.world.side(self.state, acting)?.prompt;
        standard::interpret(self.state, prompt, &call.name, &call.arguments)
    }

    fn is_offered(&self, tool: &Name) -> bool {
        let prompt = self.state.session.as_ref().and_then(|s| Some(&self.world.side(self.state, s.acting)?.prompt));
        prompt.is_some_and(|prompt| {
            prompt.tools.iter().any(|entry| matches!(entry, ToolEntry::Tool(name) if name == tool))
                && self.world.tools.contains_key(tool)
        })
    }

    fn unknown_tool(&self, tool: &Name) -> String {
        let prompt = self.state.session.as_ref().and_then(|s| Some(&self.world.side(self.state, s.acting)?.prompt));
        let offered = prompt.map(|prompt| crate::offer::offered(self.world, self.state, prompt)).unwrap_or_default();
        let names: Vec<_> = offered.iter().map(|spec| spec.name.as_str()).collect();
        format!("There is no tool `{tool}` here. Available: {}.", names.join(", "))
    }

    /// Asks tools to run. One that changes things begins when every tool called before it has ended, so that a
    /// model's `write, then read` is done in that order; pure ones run side by side.
    fn start_tools(&mut self) {
        let Some(session) = &self.state.session else { return };
        let step = self.state.usage.steps;
        let mut due = Vec::new();
        let (mut busy, mut changing) = (false, false);
        for (place, call) in session.calls.iter().enumerate() {
            let class = self.world.tools.get(&call.call.name).map(|spec| spec.class);
            let pure = class == Some(EffectClass::Pure);
            match call.state {
                CallState::Asked if changing || (!pure && busy) => changing |= !pure,
                CallState::Asked => {
                    due.push((call.call.clone(), format!("{}/{step}/{place}", self.state.id()), pure));
                    (busy, changing) = (true, changing || !pure);
                }
                CallState::Started => (busy, changing) = (true, true),
                CallState::Waiting(_) | CallState::Ended(_) => {}
            }
        }
        for (call, key, pure) in due {
            if !pure {
                self.emit(Event::CallStarted { call: call.id.clone() });
            }
            self.out.effects.push(Effect::CallTool { call, key });
        }
    }

    /// After a crash: pure and idempotent calls are made again; of the others nobody knows.
    pub(super) fn resume_calls(&mut self) {
        let Some(session) = &self.state.session else { return };
        let step = self.state.usage.steps;
        let calls = session.calls.clone();
        let mut again = Vec::new();
        for (place, call) in calls.into_iter().enumerate() {
            if call.state != CallState::Started {
                continue;
            }
            let class = self.world.tools.get(&call.call.name).map(|spec| spec.class);
            if class == Some(EffectClass::Idempotent) {
                let key = format!("{}/{step}/{place}", self.state.id());
                again.push(Effect::CallTool { call: call.call, key });
            } else {
                self.end_call(&call.call, Outcome::Unknown, unknown_outcome(&call.call.name));
            }
        }
        self.out.effects.extend(again);
        self.start_tools();
    }

    pub(super) fn tool_ended(&mut self, call: &CallId, outcome: Outcome, text: String) {
        let Some(session) = &self.state.session else { return };
        let Some(place) = session.open_call(call) else { return };
        let call = session.calls[place].call.clone();
        self.end_call(&call, outcome, text);
        if outcome == Outcome::Done {
            self.report_status(&call);
        }
        if self.state.session.as_ref().is_some_and(|session| session.unstarted > 0) {
            self.start_tools();
        }
    }

    /// Gives a call its result.
    pub(super) fn end_call(&mut self, call: &ToolCall, outcome: Outcome, text: String) {
        let mut message = self.message(Role::Tool, text);
        message.side = self.state.session.as_ref().map(|session| session.acting);
        message.tool_call_id = Some(call.id.clone());
        message.tool_name = Some(call.name.clone());
        message.tool_status = Some(if outcome == Outcome::Done { ToolStatus::Success } else { ToolStatus::Error });
        self.emit(Event::CallEnded { message: Box::new(message), outcome });
        self.settled |= self.state.session.as_ref().is_some_and(|session| session.open == 0);
    }

    /// Tells the parent what this child is doing, where the tool is bound to that.
    fn report_status(&mut self, call: &ToolCall) {
        let Some(parent) = self.state.started.parent else { return };
        let side = self.state.session.as_ref().and_then(|s| self.world.side(self.state, s.acting));
        let Some(binding) = side.and_then(|side| side.session_status.as_ref()) else { return };
        if binding.tool != call.name {
            return;
        }
        let mapped = binding.message_property.as_deref().and_then(|p| super::model::argument_text(call, p));
        let status = mapped.unwrap_or_else(|| self.result_text(call));
        self.deliver(parent, Item::ChildReported { child: self.state.id(), status });
    }
}

fn unknown_outcome(tool: &Name) -> String {
    format!(
        "The outcome of `{tool}` is unknown: the program was interrupted after the call had begun. It was not \
         repeated. Check what it did before you call it again."
    )
}
