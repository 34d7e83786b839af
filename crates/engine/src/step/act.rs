//! Deciding about what a tool did to its thread while it ran.

use super::Desk;
use crate::act::{permit, trace};
use entourage_model::{Act, Item, Message, Posted, Role, StopSession, ThreadId, Write};
use serde_json::json;
use std::sync::Arc;

/// What a tool wants to be over once its call has ended, or a hook once everything else is decided.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// What it said to its own thread.
    pub(super) own: Vec<Arc<Message>>,
    pub(super) stop: Option<StopSession>,
    pub(super) terminate: bool,
}

impl Closing {
    /// What a later one wants counts, where they differ.
    pub(super) fn join(&mut self, later: Self) {
        self.own.extend(later.own);
        self.stop = later.stop.or(self.stop.take());
        self.terminate |= later.terminate;
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.own.is_empty() && !self.ends()
    }

    /// Whether nothing new is to begin.
    pub(super) fn ends(&self) -> bool {
        self.stop.is_some() || self.terminate
    }
}

impl Desk<'_> {
    /// Makes the acts part of this decision, in their order. One that has become impossible since it was done, such as a
    /// message to a child that is gone, is left out.
    pub(super) fn take_acts(&mut self, acts: Vec<Act>) -> Closing {
        let mut closing = Closing::default();
        let queues = |act: &Act| matches!(act, Act::QueueTool { .. });
        let files = acts.iter().any(queues).then(|| self.files_after(&acts));
        for act in acts {
            if permit(self.world, self.state, &act).is_err() || self.is_read_again(&act) {
                continue;
            }
            if let Some(event) = trace(self.state, &act) {
                self.emit(event);
            }
            if let Some(files) = files.as_ref().filter(|_| queues(&act)) {
                self.dispatch_queued(files);
            }
            self.carry_out(act, &mut closing);
        }
        closing
    }

    /// Whether it hands over a result that has arrived before: then nothing is new.
    fn is_read_again(&self, act: &Act) -> bool {
        matches!(act, Act::ReadRun { run } if self.state.delegated.get(run).is_some_and(|delegated| delegated.read))
    }

    fn carry_out(&mut self, act: Act, closing: &mut Closing) {
        let me = self.state.id();
        match act {
            Act::PutFile(file) => self.out.writes.push(Write::PutFile { thread: me, file }),
            Act::RemoveFile { path } => self.out.writes.push(Write::RemoveFile { thread: me, path }),
            Act::QueueMessage { to, message, files } => {
                let writes = files.into_iter().map(|file| Write::PutFile { thread: to, file });
                self.out.writes.extend(writes);
                if to == me {
                    // It joins before the next step, as if it had waited in the queue.
                    closing.own.push(message);
                } else {
                    self.queue(to, message);
                }
            }
            Act::NotifyParent { text } => {
                let Some(parent) = self.state.started.parent else { return };
                let mut message = self.message(Role::User, text);
                message.silent = true;
                self.queue(parent, Arc::new(message));
            }
            Act::SetStatus { status } => self.report(status),
            Act::StopSession(stop) => closing.stop = Some(*stop),
            Act::Terminate { thread } if thread == me => closing.terminate = true,
            Act::Terminate { thread } => {
                if self.state.children.get(&thread).is_some_and(|child| !child.terminated) {
                    self.deliver(thread, Item::Terminate);
                    // From now on nobody here counts on it, whenever it hears of its end.
                    self.child_terminated(thread, None);
                }
            }
            Act::ReadRun { run } => self.out.writes.push(Write::DeliveredRun { run }),
            // These are events and nothing else.
            Act::SetValue { .. }
            | Act::SetVariable { .. }
            | Act::InjectMessage(_)
            | Act::ReplaceMessage(_)
            | Act::DeleteMessage { .. }
            | Act::QueueTool { .. }
            | Act::AskPrompt { .. }
            | Act::Emit { .. }
            | Act::NoteHookFailure { .. } => {}
        }
    }

    /// A parent can tell by the message which of its children wrote it.
    fn queue(&mut self, to: ThreadId, message: Arc<Message>) {
        let mut message = message;
        if self.state.started.parent == Some(to) {
            let metadata = &mut Arc::make_mut(&mut message).metadata;
            metadata.entry("subagent_id").or_insert_with(|| json!(self.state.id()));
        }
        self.deliver(to, Item::Message(Posted { message, run: None, reply_to: None, delivers: None }));
    }

    /// Says in the parent's registry what this thread is doing.
    pub(super) fn report(&mut self, status: String) {
        if let Some(parent) = self.state.started.parent {
            self.deliver(parent, Item::ChildReported { child: self.state.id(), status, for_others: false });
        }
    }

    /// Ends what the tool wanted to be over, behind the end of its call.
    pub(super) fn close(&mut self, closing: Closing) {
        let joins = closing.stop.is_none() && !closing.terminate && self.goes_on();
        for message in closing.own {
            let posted = Posted { message, run: None, reply_to: None, delivers: None };
            if joins {
                self.take(posted);
            } else {
                // Other calls are open, or nobody will be asked: it waits like any other.
                self.deliver(self.state.id(), Item::Message(posted));
            }
        }
        if let Some(StopSession { ending, status, quiet }) = closing.stop
            && let Some(session) = &self.state.session
        {
            if session.open > 0 {
                self.interrupt("The session was stopped.");
            }
            self.end_session_for(ending, quiet);
            // Behind the ending, whose own word it replaces.
            status.into_iter().for_each(|status| self.report(status));
        }
        if closing.terminate {
            self.terminate();
        }
    }
}
