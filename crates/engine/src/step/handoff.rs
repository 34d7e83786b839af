//! Deciding about handoff: another agent takes the thread over, with the whole conversation.

use super::Desk;
use super::model::argument_text;
use super::tool::Returned;
use crate::attachment;
use crate::state::CallState;
use entourage_model::{Event, HandoffEntry, Name, Outcome, Posted, Role, ToolCall, ToolEntry, Write};
use serde_json::Value;
use std::sync::Arc;

impl<'a> Desk<'a> {
    /// Answers the call. The agent changes once every call of the answer has ended; until then the answer keeps the files
    /// that are to go along.
    pub(super) fn accept_handoff(&mut self, call: &ToolCall, entry: &HandoffEntry) {
        let agent = &entry.agent;
        if self.handoff().is_some() {
            let text = format!("Only one agent can take over; `{agent}` does not.");
            return self.end_call(call, Outcome::Failed, text);
        }
        if self.world.team.agent(agent).is_none() {
            return self.end_call(call, Outcome::Failed, format!("There is no agent `{agent}`."));
        }
        let named = entry.attachments_property.as_deref().and_then(|property| {
            serde_json::from_str::<Value>(&call.arguments).ok()?.get_mut(property).map(Value::take)
        });
        // They were looked at when the call was granted.
        let attachments = attachment::find(self.world.files, named.as_ref()).unwrap_or_default();
        self.end_call_with(
            call,
            Returned { outcome: Outcome::Done, text: "Handoff complete".to_owned(), attachments, facts: Vec::new() },
        );
    }

    /// The call of this answer by which another agent takes over.
    pub(super) fn handoff(&self) -> Option<(ToolCall, &'a HandoffEntry)> {
        let session = self.state.session.as_ref()?;
        let prompt = self.world.prompt(self.state)?;
        let done = session.calls.iter().filter(|call| call.state == CallState::Ended(Outcome::Done));
        let entry = |name: &Name| {
            prompt.tools.iter().find_map(|entry| match entry {
                ToolEntry::Handoff(entry) if entry.agent == *name => Some(entry),
                ToolEntry::Handoff(_) | ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Prompt(_) => None,
            })
        };
        done.into_iter().find_map(|call| Some((call.call.clone(), entry(&call.call.name)?)))
    }

    /// The agent takes over and is asked at once: it is no turn.
    pub(super) fn hand_off(&mut self, call: &ToolCall, entry: &HandoffEntry) {
        self.out.writes.push(Write::SetAgent { thread: self.state.id(), agent: entry.agent.clone() });
        let said = entry.message_property.as_deref().and_then(|property| argument_text(call, property));
        let attachments = self.result(call).map(|message| message.attachments.clone()).unwrap_or_default();
        self.emit(Event::HandedOff { agent: entry.agent.clone() });
        if said.is_some() || !attachments.is_empty() {
            let mut message = self.message(Role::User, said.unwrap_or_default());
            message.attachments = attachments;
            self.take(Posted { message: Arc::new(message), run: None, reply_to: None, delivers: None });
        }
        self.think();
    }
}
