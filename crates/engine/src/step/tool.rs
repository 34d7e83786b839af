//! Deciding about tool calls: which may begin, and what their results lead to.

use super::{Desk, Effect};
use crate::attachment;
use crate::dialect::standard::Caller;
use crate::dialect::{self, Refusal, Wish, standard};
use crate::offer::{World, is_denied, toolkit};
use crate::state::CallState;
use entourage_model::{
    Act, Attachment, CallId, EffectClass, Event, Fact, FileRow, MessageId, Name, Outcome, Role, ToolCall, ToolEntry,
    ToolStatus,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a tool came back with.
pub(super) struct Returned {
    pub(super) outcome: Outcome,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
    pub(super) facts: Vec<Fact>,
}

impl<'a> Desk<'a> {
    /// Begins every call of the answer that can begin: children at once, tools in their order.
    ///
    /// Those that are blocked are not made, for the reason given.
    pub(super) fn dispatch_calls(&mut self, blocked: &BTreeMap<CallId, String>) {
        let Some(session) = &self.state.session else { return };
        let calls: Vec<_> = session.calls.iter().map(|call| call.call.clone()).collect();
        for call in &calls {
            match blocked.get(&call.id) {
                Some(why) => {
                    let text = format!("`{}` was not called: {why}", call.name);
                    self.end_call(call, Outcome::Failed, text);
                }
                None => self.dispatch(call),
            }
        }
        self.start_tools(&[]);
    }

    /// Does what the call asks of the engine; a tool stays open until it is due.
    pub(super) fn dispatch(&mut self, call: &ToolCall) {
        if is_denied(self.state, &call.name) {
            let text = format!("`{}` is not allowed here: whoever started this work has denied it.", call.name);
            return self.end_call(call, Outcome::Failed, text);
        }
        match self.wish(call) {
            Some(Ok(wish)) => self.grant(call, wish),
            Some(Err(refusal)) => self.end_call(call, Outcome::Failed, refusal.text()),
            None if self.is_offered(&call.name) => {}
            None => self.end_call(call, Outcome::Failed, self.unknown_tool(&call.name)),
        }
    }

    /// The same for the call that code has put behind the others. That it may be made was judged before.
    pub(super) fn dispatch_queued(&mut self, files: &BTreeMap<String, FileRow>) {
        let queued = self.state.session.as_ref().and_then(|session| Some(session.calls.last()?.call.clone()));
        let (Some(call), Some(prompt)) = (queued, self.world.prompt(self.state)) else { return };
        let world = World { files, ..*self.world };
        match standard::interpret(&world, self.state, prompt, &call, Caller::Code) {
            Some(Ok(wish)) => self.grant(&call, wish),
            Some(Err(refusal)) => self.end_call(&call, Outcome::Failed, refusal.text()),
            None => {}
        }
    }

    fn wish(&self, call: &ToolCall) -> Option<Result<Wish<'a>, Refusal>> {
        let prompt = self.world.prompt(self.state)?;
        dialect::interpret(self.world, self.state, prompt, call)
    }

    fn is_offered(&self, tool: &Name) -> bool {
        let prompt = self.state.session.as_ref().and_then(|s| Some(&self.world.side(self.state, s.acting)?.prompt));
        prompt.is_some_and(|prompt| {
            let is_enabled =
                |flag: &Option<String>| standard::is_enabled(self.world, self.state, prompt, flag.as_deref());
            prompt.tools.iter().any(|entry| match entry {
                ToolEntry::Prompt(entry) => {
                    entry.prompt == *tool && self.world.team.prompts.contains_key(tool) && is_enabled(&entry.optional)
                }
                ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => false,
            }) || toolkit(self.world, self.state, prompt).iter().any(|spec| spec.name == *tool)
        })
    }

    fn unknown_tool(&self, tool: &Name) -> String {
        let prompt = self.state.session.as_ref().and_then(|s| Some(&self.world.side(self.state, s.acting)?.prompt));
        let offered = prompt.map(|prompt| crate::offer::offered(self.world, self.state, prompt)).unwrap_or_default();
        let names: Vec<_> = offered.iter().map(|spec| spec.name.as_str()).collect();
        if names.is_empty() {
            return format!("There is no tool `{tool}` here, nor any other.");
        }
        format!("There is no tool `{tool}` here. Available: {}.", names.join(", "))
    }

    /// Asks the tools that are due to run, but for those that do `already`.
    pub(super) fn start_tools(&mut self, already: &[usize]) {
        let step = self.state.usage.steps;
        for place in self.due() {
            let Some(session) = self.state.session.as_ref().filter(|_| already.binary_search(&place).is_err()) else {
                continue;
            };
            let call = session.calls[place].call.clone();
            if let Some(Ok(Wish::Look(look))) = self.wish(&call) {
                self.out.effects.push(Effect::Look { call, look });
                continue;
            }
            if self.class(&call.name) != Some(EffectClass::Pure) {
                self.emit(Event::CallStarted { call: call.id.clone() });
            }
            let key = self.key(step, place);
            self.out.effects.push(Effect::CallTool { call, key });
        }
    }

    /// The calls that can run and of which nothing is recorded. After each decision these are pure ones in flight.
    ///
    /// One that changes things runs when every tool called before it has ended, so that a model's `write, then read`
    /// is done in that order; pure ones run side by side.
    pub(super) fn due(&self) -> Vec<usize> {
        let mut due = Vec::new();
        let (mut busy, mut changing) = (false, false);
        let calls = self.state.session.iter().flat_map(|session| session.calls.iter().enumerate());
        for (place, call) in calls {
            let pure = self.class(&call.call.name) == Some(EffectClass::Pure);
            match call.state {
                CallState::Asked if changing || (!pure && busy) => changing |= !pure,
                CallState::Asked => {
                    due.push(place);
                    (busy, changing) = (true, changing || !pure);
                }
                CallState::Reading(_) => {
                    due.push(place);
                    busy = true;
                }
                CallState::Started => (busy, changing) = (true, true),
                CallState::Waiting(_) | CallState::Joining | CallState::Ended(_) => {}
            }
        }
        due
    }

    fn class(&self, tool: &Name) -> Option<EffectClass> {
        if dialect::looks(self.world, self.state, tool) {
            return Some(EffectClass::Pure);
        }
        self.world.class(self.world.prompt(self.state), tool)
    }

    /// The same for the same call, however often it is made.
    fn key(&self, step: u64, place: usize) -> String {
        format!("{}/{step}/{place}", self.state.id())
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
            if self.class(&call.call.name) == Some(EffectClass::Idempotent) {
                let key = self.key(step, place);
                again.push(Effect::CallTool { call: call.call, key });
            } else {
                self.end_call(&call.call, Outcome::Unknown, unknown_outcome(&call.call.name));
            }
        }
        self.out.effects.extend(again);
        self.start_tools(&[]);
    }

    pub(super) fn tool_ended(&mut self, call: &CallId, returned: Returned, acts: Vec<Act>) {
        let Some(session) = &self.state.session else { return };
        let Some(place) = session.open_call(call) else { return };
        let (call, already) = (session.calls[place].clone(), self.due());
        let running = match call.state {
            CallState::Asked => already.binary_search(&place).is_ok(),
            CallState::Started | CallState::Reading(_) => true,
            // Only its child answers it.
            CallState::Waiting(_) | CallState::Joining | CallState::Ended(_) => false,
        };
        if !running {
            return;
        }
        let call = call.call;
        let returned = self.with_session_files(&call, returned, &acts);
        let closing = self.take_acts(acts);
        let (returned, is_removed) = self.screened_result(&call, returned);
        let outcome = returned.outcome;
        let result = self.keep_result(&call, self.with_paths(&call, returned));
        if is_removed {
            self.forget_call(&call, result);
        }
        if outcome == Outcome::Done {
            self.report_status(&call);
        }
        self.close(closing);
        if self.state.session.as_ref().is_some_and(|session| session.unstarted > 0) {
            self.start_tools(&already);
        }
    }

    /// Gives a call its result.
    pub(super) fn end_call(&mut self, call: &ToolCall, outcome: Outcome, text: String) {
        self.end_call_with(call, Returned { outcome, text, attachments: Vec::new(), facts: Vec::new() });
    }

    pub(super) fn end_call_with(&mut self, call: &ToolCall, returned: Returned) {
        let (returned, is_removed) = self.screened_result(call, returned);
        let result = self.keep_result(call, returned);
        if is_removed {
            self.forget_call(call, result);
        }
    }

    /// The message that holds the result.
    fn keep_result(&mut self, call: &ToolCall, returned: Returned) -> MessageId {
        let Returned { outcome, text, attachments, facts } = returned;
        let mut message = self.message(Role::Tool, text);
        message.side = self.state.session.as_ref().map(|session| session.acting);
        message.tool_call_id = Some(call.id.clone());
        message.tool_name = Some(call.name.clone());
        message.attachments = attachments;
        message.tool_status = Some(if outcome == Outcome::Done { ToolStatus::Success } else { ToolStatus::Error });
        let message = self.coming(Arc::new(message));
        self.emit(Event::CallEnded { message: Arc::clone(&message), outcome, facts });
        let id = message.id;
        self.created(message);
        self.settled |= self.state.session.as_ref().is_some_and(|session| session.open == 0);
        id
    }

    /// The files that a session's payload names, where the tool is bound to the session. One that is not there makes the
    /// call a failed one: the session goes on, and the model can name another.
    fn with_session_files(&self, call: &ToolCall, mut returned: Returned, acts: &[Act]) -> Returned {
        let side = self.state.session.as_ref().and_then(|s| self.world.side(self.state, s.acting));
        let Some(property) = side.and_then(|side| attachment::attaching(side, call.name.as_str())) else {
            return returned;
        };
        if returned.outcome != Outcome::Done {
            return returned;
        }
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        match attachment::find(&self.files_after(acts), arguments.get(property)) {
            Ok(found) => {
                let known: Vec<_> = returned.attachments.iter().map(|file| file.path.clone()).collect();
                returned.attachments.extend(found.into_iter().filter(|file| !known.contains(&file.path)));
                returned
            }
            Err(fault) => {
                let text = format!("`{property}` of `{}`: {fault}", call.name);
                Returned { outcome: Outcome::Failed, text, attachments: Vec::new(), facts: returned.facts }
            }
        }
    }

    /// The thread's files once the acts are part of it.
    pub(super) fn files_after(&self, acts: &[Act]) -> BTreeMap<String, FileRow> {
        let mut files = self.world.files.clone();
        for act in acts {
            if let Act::PutFile(file) = act {
                files.insert(file.path.clone(), file.clone());
            } else if let Act::RemoveFile { path } = act {
                files.remove(path);
            }
        }
        files
    }

    /// The model reads where a result's files lie. A session's result is passed on as it is.
    fn with_paths(&self, call: &ToolCall, mut returned: Returned) -> Returned {
        let side = self.state.session.as_ref().and_then(|s| self.world.side(self.state, s.acting));
        if !side.is_some_and(|side| super::model::is_terminal_binding(side, call)) {
            standard::attach(&mut returned.text, &returned.attachments);
        }
        returned
    }

    /// Tells the parent what this child is doing, where the tool is bound to that.
    fn report_status(&mut self, call: &ToolCall) {
        let side = self.state.session.as_ref().and_then(|s| self.world.side(self.state, s.acting));
        let Some(binding) = side.and_then(|side| side.session_status.as_ref()) else { return };
        if binding.tool != call.name {
            return;
        }
        let mapped = binding.message_property.as_deref().and_then(|p| super::model::argument_text(call, p));
        let status = mapped.unwrap_or_else(|| self.result_text(call));
        // A registry without a word would say less than the last one.
        if !status.trim().is_empty() {
            self.report(status);
        }
    }
}

pub(super) fn unknown_outcome(tool: &Name) -> String {
    format!(
        "The outcome of `{tool}` is unknown: it was interrupted after it had begun, and was not repeated. Check what it \
         did before you call it again."
    )
}
