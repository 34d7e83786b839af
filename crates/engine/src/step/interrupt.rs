//! Deciding about interrupting: a run stops where it stands, and goes on with the same conversation once it is resumed.

use super::{Desk, room};
use crate::dialect::dex::{self, Deed};
use entourage_model::{
    Dialect, Event, Item, Message, Outcome, Posted, Role, RunId, RunStatus, ThreadId, ToolCall, Wait, Write,
};
use std::sync::Arc;
use std::time::Duration;

const INTERRUPTED: &str = "The run was interrupted.";

/// Marks the message by which a worker is asked for its report once more.
const REPORT_FAULT: &str = "report_fault";

impl Desk<'_> {
    /// Does what a call of the dex dialect asks for.
    pub(super) fn do_deed(&mut self, call: &ToolCall, deed: Deed) {
        match deed {
            Deed::Interrupt { run } => {
                let Some(child) = self.state.delegated.get(&run).map(|delegated| delegated.child) else { return };
                self.deliver(child, Item::Interrupt { run });
                self.emit(Event::CallJoined { call: call.id.clone(), children: vec![child] });
            }
            Deed::Resume { run, message, background } => self.resume_child(call, &run, (message, background)),
            Deed::Join { runs } => {
                let child = |run: &RunId| self.state.delegated.get(run).map(|delegated| delegated.child);
                let children = runs.iter().filter_map(child).collect();
                self.emit(Event::CallJoined { call: call.id.clone(), children });
            }
            Deed::Save { item, answer } => {
                self.emit(Event::TaskSaved(item));
                self.end_call(call, Outcome::Done, answer);
            }
            Deed::Assign { pieces, form } => self.assign(call, pieces, form),
        }
    }

    fn resume_child(&mut self, call: &ToolCall, run: &RunId, (message, background): (Option<String>, bool)) {
        let Some(child) = self.state.delegated.get(run).map(|delegated| delegated.child) else { return };
        let Some(link) = self.state.children.get(&child).map(|known| known.link.clone()) else { return };
        let max = self.world.limits.children_live;
        let has_room = if self.state.children_live < max {
            room::fits(self.world, message.as_deref().unwrap_or_default())
        } else {
            Err(room::full(self.state, "children_live", max, "wait for one of them to end"))
        };
        if let Err(refusal) = has_room {
            return self.end_call(call, Outcome::Failed, refusal.spoken(link.dialect).text());
        }
        let message = message.map(|text| Arc::new(self.message(Role::User, text)));
        self.deliver(child, Item::Resume { run: run.clone(), message });
        let wait = if background { Wait::Background } else { Wait::Call(call.id.clone()) };
        self.emit(Event::ChildResumed { child, run: run.clone(), wait });
        self.note_progress(run, RunStatus::Running, None);
        if background {
            let text = self.told(call, &link, Some(run)).accepted();
            self.end_call(call, Outcome::Done, text);
        }
    }

    /// A child has stopped in the middle of a run. One that was told before is a no-op.
    pub(super) fn child_interrupted(&mut self, child: ThreadId, run: &RunId) {
        let Some(known) = self.state.children.get(&child).filter(|known| !known.interrupted) else { return };
        // Nobody interrupts a child of another dialect.
        if known.link.dialect != Dialect::Dex || known.runs.iter().all(|(current, _)| current != run) {
            return;
        }
        let already = self.due();
        self.emit(Event::ChildInterrupted { child, run: run.clone() });
        self.note_progress(run, RunStatus::Interrupted, None);
        self.start_tools(&already);
    }

    /// Stops the work on this run. One that has ended, or stands still already, is a no-op.
    pub(super) fn halt(&mut self, run: &RunId) {
        let Some(session) = self.state.session.as_ref().filter(|session| !session.interrupted) else { return };
        let Some(ask) = session.asks.iter().find(|ask| ask.run == *run).cloned() else { return };
        self.interrupt(INTERRUPTED);
        self.emit(Event::SessionInterrupted);
        self.out.writes.push(Write::InterruptRun { run: run.clone() });
        if let Some(to) = ask.reply_to {
            self.deliver(to.thread, Item::ChildInterrupted { child: self.state.id(), run: run.clone() });
        }
    }

    /// Goes on with this run, which stands still.
    pub(super) fn go_on_with(&mut self, run: RunId, message: Option<Arc<Message>>) {
        let Some(session) = self.state.session.as_ref().filter(|session| session.interrupted) else { return };
        if !session.asks.iter().any(|ask| ask.run == run) {
            return;
        }
        let deadline = self.now.after(Duration::from_secs(self.world.limits.run_seconds));
        self.emit(Event::SessionResumed { deadline });
        self.out.writes.push(Write::StartRun { run });
        if let Some(message) = message {
            self.take(Posted { message, run: None, reply_to: None, delivers: None });
        }
        self.settled = true;
    }

    /// Asks a worker once more for its report, where what it said is an object of another shape. Returns whether it did.
    pub(super) fn asks_again(&mut self) -> bool {
        if !self.is_worker() {
            return false;
        }
        let Some(session) = &self.state.session else { return false };
        let Some(fault) = session.last_text.as_ref().and_then(|text| dex::report_fault(&text.content)) else {
            return false;
        };
        let said = &self.state.transcript[session.first..];
        let asks = |message: &Arc<Message>| message.metadata.contains_key(REPORT_FAULT);
        if said.iter().any(asks) {
            // It was asked; where nothing has come back since, the answer was lost on the way or taken back.
            let is_open = said.iter().rev().take_while(|message| message.role != Role::Assistant).any(asks);
            if is_open {
                self.think();
            }
            return is_open;
        }
        let text = format!(
            "Your last message is a JSON object, but not a report: {fault}. Answer once more with one JSON object that \
             has `decision` (an object with the texts `outcome`, `summary` and `confidence`) and, where you have them, \
             the lists `findings`, `evidence`, `decisions`, `risks` and `nextSteps`; or answer in plain text."
        );
        let mut message = self.message(Role::User, text);
        message.silent = true;
        message.metadata.insert(REPORT_FAULT.to_owned(), fault.into());
        self.emit(Event::Injected { message: Arc::new(message) });
        self.think();
        true
    }

    /// Whether this thread works on a run of the dex dialect.
    pub(super) fn is_worker(&self) -> bool {
        self.state.started.dialect == Some(Dialect::Dex)
    }
}
