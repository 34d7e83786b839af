//! Deciding about runs that children work on in the background: waiting for them, letting go of them, ending them.

use super::Desk;
use crate::dialect::Told;
use crate::state::CallState;
use entourage_model::{
    CallId, ChildLink, Dialect, Event, Item, Outcome, RunId, RunStatus, ThreadId, ToolCall, Wait, Write,
};
use std::time::Duration;

impl Desk<'_> {
    /// The call waits for a run that is under way, as others may. One that has ended is told of as it is.
    pub(super) fn await_run(&mut self, call: &ToolCall, run: &RunId, seconds: f64) {
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        match self.under_way(run) {
            Some(child) => {
                let wait = Wait::Timed { call: call.id.clone(), until: self.now.after(wait) };
                self.emit(Event::ChildAwaited { child, run: run.clone(), wait });
            }
            None => self.tell_released(call, run),
        }
    }

    /// The child that works on this run.
    fn under_way(&self, run: &RunId) -> Option<ThreadId> {
        let child = self.state.delegated.get(run)?.child;
        self.state.children.get(&child)?.runs.iter().any(|(known, _)| known == run).then_some(child)
    }

    pub(super) fn told<'t>(&self, call: &'t ToolCall, link: &'t ChildLink, run: Option<&'t RunId>) -> Told<'t> {
        let asked = run.and_then(|run| self.state.delegated.get(run));
        let is_remote = self.world.team.agent(&link.agent).is_some_and(|agent| agent.remote.is_some());
        let at = asked.map_or(link.at, |delegated| delegated.at);
        let status = asked.map_or(RunStatus::Running, |delegated| delegated.status);
        Told { call, link, run, at, status, is_remote, is_driven: self.is_driven(), note: None }
    }

    fn tell_released(&mut self, call: &ToolCall, run: &RunId) {
        let child = self.state.delegated.get(run).map(|delegated| delegated.child);
        let Some(link) = child.and_then(|child| self.state.children.get(&child)).map(|child| child.link.clone()) else {
            return self.end_call(call, Outcome::Failed, format!("There is no run `{run}` to wait for."));
        };
        let text = self.told(call, &link, Some(run)).released();
        self.end_call(call, Outcome::Done, text);
    }

    /// The time of these calls is over: what they wait for goes on.
    pub(super) fn release_due(&mut self) {
        let untils = self.state.session.iter().flat_map(|session| &session.untils);
        let due: Vec<CallId> = untils.filter(|(_, until)| **until <= self.now).map(|(call, _)| call.clone()).collect();
        for id in due {
            let Some((call, link, run)) = self.waited(&id) else { continue };
            self.emit(Event::ChildReleased { child: link.thread, run: run.clone(), call: Some(id) });
            let text = self.told(&call, &link, Some(&run)).released();
            self.end_call(&call, Outcome::Done, text);
        }
    }

    /// A call that waits, and what it waits for.
    fn waited(&self, id: &CallId) -> Option<(ToolCall, ChildLink, RunId)> {
        let session = self.state.session.as_ref()?;
        let call = &session.calls[session.open_call(id)?];
        let CallState::Waiting(child) = call.state else { return None };
        let known = self.state.children.get(&child)?;
        Some((call.call.clone(), known.link.clone(), known.run_of(id)?.clone()))
    }

    /// The run that the call waits for, where runs are listed, and whether the call only looks at it: it was in the background
    /// before.
    pub(super) fn waited_run(&self, id: &CallId) -> Option<(RunId, bool)> {
        let (_, _, run) = self.waited(id)?;
        let is_background = self.state.delegated.get(&run)?.background;
        Some((run, is_background))
    }

    /// Whether each run of the child is a task of its own, which can end without the others.
    pub(super) fn lists_tasks(&self, child: ThreadId) -> bool {
        self.state.children.get(&child).is_some_and(|known| known.link.dialect == Dialect::AgentScope)
    }

    /// Ends one run of a child for a call that asks for it.
    pub(super) fn dismiss(&mut self, call: &ToolCall, run: &RunId, answer: String) {
        self.dismiss_run(run);
        self.end_call(call, Outcome::Done, answer);
    }

    /// Asks one run of a child to end. Its ending is no news: whoever wanted it knows.
    pub(super) fn dismiss_run(&mut self, run: &RunId) {
        let is_open = |status: RunStatus| [RunStatus::Pending, RunStatus::Running].contains(&status);
        let under_way = self.state.delegated.get(run).filter(|delegated| is_open(delegated.status));
        if let Some(child) = under_way.map(|delegated| delegated.child) {
            self.emit(Event::RunDismissed { child, run: run.clone() });
            self.out.writes.push(Write::CancelRun { run: run.clone() });
            self.deliver(child, Item::Cancel { run: run.clone() });
        }
    }
}
