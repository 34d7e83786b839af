//! Deciding about endings: turns, sessions, cancelling, stopping, terminating.

use super::tool::unknown_outcome;
use super::{Desk, Effect};
use crate::context;
use crate::dialect::dex;
use crate::limit;
use crate::state::{CallState, rest_word};
use entourage_model::{
    Ask, CallId, Dialect, Ending, Event, Item, Kind, Outcome, Posted, Rest, RunId, SessionEnd, Side, Stop, ThreadId,
    Write,
};
use std::collections::BTreeSet;

impl Desk<'_> {
    /// The acting side is done: the other side is next, or the session is over.
    pub(super) fn end_turn(&mut self, stop: Stop) {
        let Some(session) = &self.state.session else { return };
        let (side, turns) = (session.acting, session.turns + 1);
        let Some(agent) = self.world.agent(self.state) else { return };
        let limit = turn_limit(agent.session_turns_max, self.world.limits.session_turns);
        if agent.kind == Kind::AiHuman {
            self.emit(Event::TurnEnded { side, stop, next: Side::A });
            let words = self.last_words(None);
            let awaits_person = words.outcome == Outcome::Done && self.state.agent != self.state.started.agent;
            self.end_session(words);
            if awaits_person {
                // No child begins with a person on a side: another agent has taken it over. Behind the ending, whose own
                // word it replaces.
                self.show_parent("awaiting_human");
            }
            return;
        }
        self.emit(Event::TurnEnded { side, stop, next: side.other() });
        if turns >= limit.1 {
            return self.end_session(self.out_of_turns(limit));
        }
        self.think();
    }

    pub(super) fn reach_limit(&mut self, limit: String) {
        let Some((side, dual)) = self
            .state
            .session
            .as_ref()
            .map(|session| session.acting)
            .zip(self.world.agent(self.state).map(|agent| agent.kind == Kind::DualAi))
        else {
            return;
        };
        self.emit(Event::TurnEnded { side, stop: Stop::Limit(limit.clone()), next: Side::A });
        if dual {
            let text = self.no_binding_called(&limit);
            self.end_session(Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit: Some(limit) });
        } else {
            let words = self.last_words(Some(limit));
            self.end_session(if limit::fails(self.world, self.state) { failed_with(words) } else { words });
        }
    }

    /// A session without bindings gives back the last text; one with bindings that called none has failed.
    fn last_words(&self, limit: Option<String>) -> Ending {
        let bound = self.world.agent(self.state).is_some_and(|agent| agent.has_terminal_binding());
        if bound && self.state.started.parent.is_some() {
            let why = limit.clone().unwrap_or_else(|| "it answered with a text".to_owned());
            let text = self.no_binding_called(&why);
            return Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit };
        }
        let text = self.state.session.as_ref().and_then(|session| session.last_text.as_ref());
        let text = text.map(|message| message.content.clone()).unwrap_or_default();
        Ending { outcome: Outcome::Done, text, attachments: Vec::new(), limit }
    }

    fn out_of_turns(&self, (name, max): (&str, u32)) -> Ending {
        let limit = format!("{name}: the limit of {max} turns is reached");
        if self.world.agent(self.state).is_some_and(|agent| agent.has_terminal_binding()) {
            let text = self.no_binding_called(&limit);
            return Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit: Some(limit) };
        }
        self.last_words(Some(limit))
    }

    fn no_binding_called(&self, why: &str) -> String {
        let bound = self.world.agent(self.state).is_some_and(|agent| agent.has_terminal_binding());
        let tail = if bound { "; no session tool was called" } else { "" };
        format!("`{}` stopped without a result: {why}{tail}", self.state.agent)
    }

    /// Ends the session: every run of it has its ending, and whoever asked is told, in the same batch.
    pub(super) fn end_session(&mut self, ending: Ending) {
        self.end_session_for(ending, false);
    }

    /// With `hush`, whoever asked without waiting is not written to.
    pub(super) fn end_session_for(&mut self, ending: Ending, hush: bool) {
        let Some(session) = &self.state.session else { return };
        let asks = session.asks.clone();
        let parent = self.state.started.parent;
        let is_asked = asks.iter().any(|ask| ask.reply_to.as_ref().map(|to| to.thread) == parent);
        let ending = self.enveloped(ending);
        let rest = self.rest_after(ending.outcome);
        let mut told = BTreeSet::new();
        let mut quiet = |ask: &Ask| hush || ask.reply_to.as_ref().is_some_and(|to| !told.insert(to.thread));
        let ends: Vec<_> = asks.into_iter().rev().map(|ask| (quiet(&ask), ask)).collect();
        for (quiet, ask) in ends.into_iter().rev() {
            self.end_run(ask, &ending, quiet);
        }
        if !is_asked && !hush && self.is_own_word(ending.outcome) {
            self.tell_parent(&ending);
        } else if !is_asked {
            self.show_parent(rest_word(ending.outcome));
        }
        self.emit(Event::SessionEnded(Box::new(SessionEnd { ending, rest })));
        if self.state.started.parent.is_some() && rest != Rest::Idle {
            self.terminate_children();
        }
    }

    /// What a worker of the dex dialect gives back is what the runtime saw, around what it said.
    fn enveloped(&self, ending: Ending) -> Ending {
        let ask = self.state.session.as_ref().and_then(|session| session.asks.first());
        let Some(ask) = ask.filter(|_| self.is_worker() && ending.outcome == Outcome::Done) else { return ending };
        let status = (&ask.run, ending.outcome.run_status());
        let text = dex::envelope(self.world.team, self.state, status, &ending.text).to_string();
        Ending { text, ..ending }
    }

    /// A `quiet` ending answers a call but is not told as news: a later run of the session tells the same thread.
    fn end_run(&mut self, ask: Ask, ending: &Ending, quiet: bool) {
        self.out.writes.push(Write::EndRun { run: ask.run.clone(), ending: ending.clone() });
        if let Some(reply_to) = ask.reply_to {
            let child = self.state.id();
            let (attachments, files) = self.copies(reply_to.thread, &ending.attachments);
            self.out.writes.extend(files);
            let (ending, note) = (Ending { attachments, ..ending.clone() }, self.note.clone());
            self.deliver(reply_to.thread, Item::ChildEnded { child, run: ask.run, ending, quiet, note });
        }
    }

    /// Whether the session has come to what the child itself calls its end: not to a limit, and not to somebody's stop.
    fn is_own_word(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Done => true,
            Outcome::Failed => {
                let side = self.state.session.as_ref().and_then(|s| self.world.side(self.state, s.acting));
                let binding = side.and_then(|side| side.session_fail.as_ref());
                binding.is_some_and(|binding| self.bound_ending(binding, outcome).is_some())
            }
            Outcome::Cancelled | Outcome::Unknown => false,
        }
    }

    /// The parent of an instance that can be written to again is told of every session that it ends.
    fn tell_parent(&mut self, ending: &Ending) {
        let Some(parent) = self.parent_of_instance() else { return };
        let (attachments, files) = self.copies(parent, &ending.attachments);
        self.out.writes.extend(files);
        let ending = Ending { attachments, ..ending.clone() };
        self.deliver(parent, Item::ChildFinished { child: self.state.id(), ending });
    }

    /// What its parent's registry says of it, where the parent has no part in what it does.
    pub(super) fn show_parent(&mut self, word: &str) {
        let Some(parent) = self.parent_of_instance() else { return };
        let (child, status) = (self.state.id(), word.to_owned());
        self.deliver(parent, Item::ChildReported { child, status, for_others: true });
    }

    fn parent_of_instance(&self) -> Option<ThreadId> {
        let started = &self.state.started;
        started.parent.filter(|_| started.resumable && started.dialect == Some(Dialect::Standard))
    }

    fn rest_after(&self, outcome: Outcome) -> Rest {
        let started = &self.state.started;
        let dual = self.world.agent(self.state).is_some_and(|agent| agent.kind == Kind::DualAi);
        let is_root = started.parent.is_none();
        match outcome {
            _ if started.resumable => Rest::Idle,
            Outcome::Cancelled if is_root => Rest::Idle,
            Outcome::Done if is_root && !dual => Rest::Idle,
            Outcome::Done => Rest::Done,
            Outcome::Failed | Outcome::Cancelled | Outcome::Unknown => Rest::Failed,
        }
    }

    /// Takes back everything that is in flight and answers the open calls.
    pub(super) fn interrupt(&mut self, why: &str) {
        let Some(session) = &self.state.session else { return };
        let calls = session.calls.clone();
        // What is to end does not wait for hooks.
        let was_deaf = std::mem::replace(&mut self.deaf, true);
        self.abort();
        let open: Vec<_> = calls.into_iter().filter(|call| !matches!(call.state, CallState::Ended(_))).collect();
        for call in open {
            match call.state {
                CallState::Waiting(child) => self.let_go(child, &call.call.id),
                CallState::Started => {
                    let text = format!("{why} {}", unknown_outcome(&call.call.name));
                    self.end_call(&call.call, Outcome::Unknown, text);
                    continue;
                }
                CallState::Asked | CallState::Joining | CallState::Reading(_) | CallState::Ended(_) => {}
            }
            self.end_call(&call.call, Outcome::Cancelled, why.to_owned());
        }
        self.deaf = was_deaf;
    }

    /// The call does not wait for the child any more. What the child was asked for by this call ends; what else it was asked
    /// for goes on.
    fn let_go(&mut self, child: ThreadId, call: &CallId) {
        match self.waited_run(call) {
            Some((run, true)) => self.emit(Event::ChildReleased { child, run, call: Some(call.clone()) }),
            Some((run, false)) if self.lists_tasks(child) => self.dismiss_run(&run),
            Some((_, false)) | None => self.cancel_child(child),
        }
    }

    /// Takes back what is in flight, also where another server does it.
    fn abort(&mut self) {
        self.out.take_back();
        self.out.effects.push(Effect::Abort);
        if self.state.session.is_some() {
            let task = context::remote_task(self.world, self.state);
            self.out.effects.extend(task.map(|task| Effect::CancelRemote(Box::new(task))));
        }
    }

    /// Asks every run of the child to end.
    fn cancel_child(&mut self, child: ThreadId) {
        let Some(known) = self.state.children.get(&child) else { return };
        let runs: BTreeSet<RunId> = known.runs.iter().map(|(run, _)| run.clone()).collect();
        self.emit(Event::ChildCancelled { child });
        for run in runs {
            self.deliver(child, Item::Cancel { run });
        }
    }

    fn cancel_background(&mut self) {
        let running = self.state.children.values().filter(|child| child.is_live() && !child.muted);
        for child in running.map(|child| child.link.thread).collect::<Vec<_>>() {
            self.cancel_child(child);
        }
    }

    /// Somebody wants one run to end. An unknown or ended one is a no-op.
    pub(super) fn cancel(&mut self, run: &RunId) {
        let cancelled = cancelled("The run was cancelled.");
        let asks = self.state.session.as_ref().map(|session| session.asks.as_slice()).unwrap_or_default();
        if let Some(ask) = asks.iter().find(|ask| ask.run == *run).cloned() {
            if asks.len() == 1 {
                self.interrupt(&cancelled.text);
                self.cancel_background();
                self.close_requests_of_session();
                return self.end_session(cancelled);
            }
            self.emit(Event::RunCancelled { run: run.clone() });
            return self.end_run(ask, &cancelled, false);
        }
        let waiting =
            self.mail.iter().position(|letter| matches!(&letter.item, Item::Message(m) if m.run.as_ref() == Some(run)));
        if let Some(letter) = waiting.and_then(|place| self.mail.remove(place)) {
            self.out.consumed.push(letter.number);
            if let Item::Message(posted) = letter.item {
                self.refuse(posted);
            }
        }
    }

    /// Ends the run of a message that will not be worked on.
    pub(super) fn refuse(&mut self, posted: Posted) {
        let Posted { run: Some(run), reply_to, .. } = posted else { return };
        let ask = Ask { run, reply_to };
        if self.state.terminated.is_some() {
            self.terminate_run(ask);
        } else {
            self.end_run(ask, &cancelled("The run was cancelled before it began."), false);
        }
    }

    /// Ends the current turn; background children go on.
    pub(super) fn stop(&mut self) {
        let Some(session) = &self.state.session else { return };
        let side = session.acting;
        self.interrupt("Execution stopped.");
        self.emit(Event::TurnEnded { side, stop: Stop::Asked, next: Side::A });
        self.end_session(cancelled("Execution stopped."));
    }

    /// Ends the thread and everything below it. Repeating it changes nothing.
    pub(super) fn terminate(&mut self) {
        if self.state.terminated.is_some() {
            return;
        }
        self.abort();
        let asks = self.state.session.as_ref().map(|session| session.asks.clone()).unwrap_or_default();
        self.terminate_children();
        self.emit(Event::Terminated { at: self.now });
        asks.into_iter().for_each(|ask| self.terminate_run(ask));
        // What waited in the queue will never be answered.
        for letter in std::mem::take(self.mail) {
            self.out.consumed.push(letter.number);
            self.act(letter.item);
        }
        if let Some(parent) = self.state.started.parent.filter(|parent| !self.has_told(*parent)) {
            self.deliver(parent, Item::ChildTerminated { child: self.state.id(), run: None });
        }
    }

    fn terminate_run(&mut self, Ask { run, reply_to }: Ask) {
        self.out.writes.push(Write::EndRun { run: run.clone(), ending: cancelled(TERMINATED) });
        if let Some(to) = reply_to {
            self.deliver(to.thread, Item::ChildTerminated { child: self.state.id(), run: Some(run) });
        }
    }

    fn has_told(&self, parent: ThreadId) -> bool {
        let tells = |write: &Write| matches!(write, Write::Deliver { to, item } if *to == parent && matches!(**item, Item::ChildTerminated { .. }));
        self.out.writes.iter().any(tells)
    }

    fn terminate_children(&mut self) {
        let children = self.state.children.values().filter(|child| !child.terminated);
        for child in children.map(|child| child.link.thread).collect::<Vec<_>>() {
            self.deliver(child, Item::Terminate);
        }
    }

    /// The program broke over this thread: what was worked on fails, and the thread can be written to again.
    pub(super) fn broke(&mut self, reason: &str, bury: bool) {
        let text = format!("internal error: {reason}");
        let ending = Ending { outcome: Outcome::Failed, text, attachments: Vec::new(), limit: None };
        self.interrupt(&ending.text);
        self.end_session(ending.clone());
        if !bury {
            return;
        }
        // Everything but messages is acted on all the same: who was told to end must end.
        for letter in std::mem::take(self.mail) {
            let Item::Message(posted) = letter.item else {
                self.mail.push_back(letter);
                continue;
            };
            self.out.buried.push(letter.number);
            if let Some(run) = posted.run {
                self.end_run(Ask { run, reply_to: posted.reply_to }, &ending, false);
            }
        }
    }
}

/// The name of the narrower limit, and how many turns it allows.
fn turn_limit(own: Option<u32>, all: u32) -> (&'static str, u32) {
    match own {
        Some(max) if max <= all => ("maxSessionTurns", max),
        _ => ("session_turns", all),
    }
}

/// The same with what was said as a partial result, if anything was.
fn failed_with(words: Ending) -> Ending {
    let limit = words.limit.clone().unwrap_or_default();
    let text = if words.text.trim().is_empty() { limit } else { words.text };
    Ending { outcome: Outcome::Failed, text, ..words }
}

/// How the runs of a terminated thread end.
pub(super) const TERMINATED: &str = "The thread was terminated.";

pub(super) fn cancelled(text: &str) -> Ending {
    Ending { outcome: Outcome::Cancelled, text: text.to_owned(), attachments: Vec::new(), limit: None }
}
