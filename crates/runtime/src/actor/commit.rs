//! Making a decision durable, and doing what it asks for: in that order.

use super::{Actor, Gone, HOLD, HOLD_WATCHED};
use crate::dex;
use crate::hub::Notice;
use crate::perform;
use crate::poller;
use crate::runtime::RuntimeError;
use entourage_engine::{Decision, Effect, Input, ThreadState, server};
use entourage_model::{
    EffectClass, Event, Name, ScriptTool, ServerEntry, ThreadStatus, ToolCall, ToolEntry, Write, server_of,
};
use entourage_store::{Commit, CommitError};
use futures::pin_mut;
use futures::stream::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Actor {
    /// Makes a decision durable together with the one that was held before it, or holds both a little longer.
    ///
    /// Returns how many threads still fit into the tree when the decision wanted more; then nothing was changed.
    pub(super) async fn settle(
        &mut self,
        held: Option<(Decision, Instant)>,
        mut decision: Decision,
    ) -> Result<Option<u32>, Gone> {
        self.may_act()?;
        self.seal(&mut decision)?;
        let status = self.state.status();
        let shows = shows(&decision);
        let effects = std::mem::take(&mut decision.effects);
        // What may be repeated need not wait for the disk. But what models are told of files is there when they read of
        // them; and whoever sees what a model was asked finds in the store what it was told.
        let is_awaited = shows || (self.inner.hub.has_readers() && !decision.is_empty());
        let rest = self.perform(effects, if is_awaited { Safety::Nothing } else { Safety::Repeatable });
        let urgent = self.tried || !rest.is_empty() || self.is_urgent(&decision, status);
        let (decision, until) = match held {
            Some((mut held, until)) => {
                held.append(decision);
                (held, until)
            }
            None => (decision, Instant::now() + self.hold()),
        };
        if decision.is_empty() && status == ThreadStatus::Running && !self.tried {
            // There is nothing that they would have to wait for.
            self.perform(rest, Safety::Any);
            return Ok(None);
        }
        if !urgent && Instant::now() < until {
            self.held = Some((decision, until));
            return Ok(None);
        }
        let parked = match self.commit(decision, status).await {
            Ok(parked) => parked,
            Err(CommitError::TreeFull { left }) => return Ok(Some(left)),
            Err(error) => return Err(error.into()),
        };
        if !rest.is_empty() {
            self.may_act()?;
        }
        // A thread that parks leaves nothing in flight, but it may have something to tell another server.
        self.perform(rest, Safety::Any);
        if parked {
            poller::look_at(&self.inner, self.state.wake_at());
            self.inner.hub.announce(self.root, self.lease.thread, status);
            return Err(Gone::Parked);
        }
        if status != ThreadStatus::Running {
            // A line arrived while the thread was about to park.
            let mail = self.read_queue().await?;
            self.landed.push_back(mail);
        }
        Ok(None)
    }

    /// What children are given of what is declared becomes a secret here: deciding draws no random numbers.
    fn seal(&self, decision: &mut Decision) -> Result<(), RuntimeError> {
        for write in &mut decision.writes {
            let Write::Spawn(new) = write else { continue };
            for event in &mut new.events {
                let Event::VariablesSet { variables } = event else { continue };
                *variables = self.inner.vault.seal_all(std::mem::take(variables)).map_err(RuntimeError::Broken)?;
            }
        }
        Ok(())
    }

    /// Commits while the flights go on, and takes up what that has woken. Returns whether the thread has parked.
    pub(super) async fn commit(&mut self, decision: Decision, status: ThreadStatus) -> Result<bool, CommitError> {
        let usage = decision.usage();
        let watched = self.inner.hub.is_watched();
        let shown: Option<Arc<Vec<Event>>> = watched.then(|| Arc::new(decision.events.clone()));
        let inner = Arc::clone(&self.inner);
        let room = inner.room();
        let touched = inner.mirror.touched(&self.state, &decision);
        let ends_run = decision.writes.iter().any(|write| matches!(write, Write::EndRun { .. }));
        let commit = Commit {
            seq: self.seq,
            usage,
            events: decision.events,
            writes: decision.writes,
            consumed: decision.consumed,
            burial: (!decision.buried.is_empty()).then(|| "the thread broke over it".to_owned()),
            buried: decision.buried,
            status,
            seen: self.seen,
            wake_at: self.state.wake_at(),
            claim: room.is_some(),
            children_total: self.inner.limits.children_total,
        };
        let commit = inner.store.commit(self.lease, commit);
        pin_mut!(commit);
        let committed = loop {
            tokio::select! {
                biased;
                committed = &mut commit => break committed?,
                Some(landed) = self.flights.next(), if !self.flights.is_empty() => {
                    let input: Input = self.landed(landed);
                    self.landed.push_back(input);
                }
            }
        };
        if !touched.is_empty() {
            inner.show(touched).await;
        }
        inner.take_up(committed.claims, &committed.notified);
        if ends_run {
            inner.hub.rouse(self.root, self.lease.thread);
        }
        let first = self.seq + 1;
        self.seq = self.state.seq;
        if std::mem::take(&mut self.tried) {
            // The store gives such a thread alone: the others can follow now.
            inner.room.notify_one();
        }
        if let Some(events) = shown.filter(|events| !events.is_empty()) {
            self.inner.hub.tell(self.root, Notice::Committed { thread: self.lease.thread, first, events });
        }
        Ok(committed.parked)
    }

    /// Nothing outside is begun by a node that others may take for dead.
    fn may_act(&self) -> Result<(), Gone> {
        if self.inner.node.may_act(self.lease.node) { Ok(()) } else { Err(Gone::Fenced) }
    }

    /// Begins the effects that are safe enough and gives the others back.
    fn perform(&mut self, effects: Vec<Effect>, safety: Safety) -> Vec<Effect> {
        let mut rest = Vec::new();
        for effect in effects {
            let repeatable = self.is_repeatable(&effect);
            let safe = match safety {
                Safety::Nothing => effect == Effect::Abort,
                Safety::Repeatable => repeatable,
                Safety::Any => true,
            };
            if !safe {
                rest.push(effect);
                continue;
            }
            match effect {
                Effect::Abort => {
                    self.flights.clear();
                    self.unrepeatable = 0;
                }
                Effect::CancelRemote(task) => {
                    let remotes = Arc::clone(&self.inner.remotes);
                    self.inner.tasks.spawn(async move { remotes.cancel(&task).await });
                }
                Effect::CallModel(mut request) => {
                    // Before the first who holds a thread nobody can have asked another server for anything.
                    let is_first = self.lease.epoch <= 1 && !self.tried;
                    request.remote.iter_mut().for_each(|task| task.resumed &= !is_first);
                    let unequipped = self.unequipped();
                    self.flights.push(if !unequipped.is_empty() {
                        perform::equip(&self.inner, self.place().thread, &self.state.agent, unequipped)
                    } else if perform::is_advised(&self.team, &self.state) {
                        perform::advised(&self.inner, self.ground(self.state.clone()), *request)
                    } else {
                        perform::model(&self.inner, self.place(), *request)
                    });
                }
                Effect::Look { call, look } => {
                    self.flights.push(perform::look(&self.inner, self.place(), call, look));
                }
                Effect::CallTool { call, key } => {
                    self.unrepeatable += usize::from(!repeatable);
                    self.flights.push(match self.team.tools.get(&call.name) {
                        Some(tool) => perform::script(&self.inner, self.scene(tool), (call, key), repeatable),
                        None => match self.interview(&call) {
                            Some(interview) => perform::prompt(&self.inner, interview, (call, key), repeatable),
                            None => perform::tool(&self.inner, self.caller(&call.name), (call, key), repeatable),
                        },
                    });
                }
            }
        }
        rest
    }

    fn hold(&self) -> Duration {
        match (self.inner.hub.has_readers(), self.inner.hub.is_watched()) {
            (true, _) => Duration::ZERO,
            (false, true) => HOLD_WATCHED,
            (false, false) => HOLD,
        }
    }

    fn place(&self) -> perform::Place {
        perform::Place { root: self.root, thread: self.lease.thread }
    }

    /// The thread as hooks see it.
    pub(super) fn ground(&self, state: ThreadState) -> perform::Ground {
        perform::Ground { place: self.place(), team: Arc::clone(&self.team), state, durable: self.seq }
    }

    fn scene(&self, tool: &Arc<ScriptTool>) -> perform::Scene {
        perform::Scene {
            subprompt: None,
            place: self.place(),
            team: Arc::clone(&self.team),
            tool: Arc::clone(tool),
            state: self.state.clone(),
        }
    }

    fn caller(&self, tool: &Name) -> perform::Caller {
        let prompt = self.inner.world(&self.team, 0).prompt(&self.state);
        let server = prompt.and_then(|prompt| Some(server(prompt, tool)?.key.clone()));
        perform::Caller {
            place: self.place(),
            team: Arc::clone(&self.team),
            folder: self.state.folder(&self.team),
            server,
        }
    }

    /// The servers of the acting side of which nobody knows whether they can be used.
    fn unequipped(&self) -> Vec<ServerEntry> {
        // Whoever runs an agent elsewhere has its tools there.
        let is_remote = self.team.agent(&self.state.agent).is_some_and(|agent| agent.remote.is_some());
        let prompt = self.inner.world(&self.team, 0).prompt(&self.state).filter(|_| !is_remote);
        let servers = prompt.into_iter().flat_map(|prompt| &prompt.servers);
        servers.filter(|entry| !self.inner.servers.is_settled(entry)).cloned().collect()
    }

    /// The prompt that the call asks, where it is one of the acting side's.
    fn interview(&self, call: &ToolCall) -> Option<perform::Interview> {
        let prompt = self.inner.world(&self.team, 0).prompt(&self.state)?;
        let entry = prompt.tools.iter().find_map(|entry| match entry {
            ToolEntry::Prompt(entry) if entry.prompt == call.name => Some(entry.clone()),
            ToolEntry::Prompt(_) | ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => None,
        })?;
        Some(perform::Interview { place: self.place(), team: Arc::clone(&self.team), entry, state: self.state.clone() })
    }

    fn is_repeatable(&self, effect: &Effect) -> bool {
        match effect {
            // Whoever takes a question back says so once that is durable.
            Effect::CancelRemote(_) => false,
            // Another server is asked only for what is durable: whoever takes the thread up then looks for the task.
            Effect::CallModel(request) => request.remote.is_none(),
            Effect::Abort | Effect::Look { .. } => true,
            Effect::CallTool { call, .. } => self.is_pure(&call.name),
        }
    }

    fn is_pure(&self, tool: &Name) -> bool {
        let world = self.inner.world(&self.team, 0);
        match world.class(world.prompt(&self.state), tool) {
            Some(class) => class == EffectClass::Pure,
            // Nobody knows what a server's tool does while the server is away.
            None => server_of(tool.as_str()).is_none(),
        }
    }

    /// Whether somebody waits for the decision. If not, losing it costs no more than doing something repeatable again.
    fn is_urgent(&self, decision: &Decision, status: ThreadStatus) -> bool {
        let at_rest = !matches!(status, ThreadStatus::Running | ThreadStatus::Waiting);
        let told = decision.writes.iter().any(|write| match write {
            Write::Spawn(_)
            | Write::Deliver { .. }
            | Write::NewRun(_)
            | Write::EndRun { .. }
            | Write::CancelRun { .. }
            | Write::InterruptRun { .. }
            | Write::PutFile { .. }
            | Write::RemoveFile { .. }
            | Write::SetAgent { .. } => true,
            Write::StartRun { .. } | Write::DeliveredRun { .. } => false,
        });
        // Once lost, the end of a call that is never repeated is lost for good, with all that the call has done.
        let unrepeatable = |event: &Event| {
            let Event::CallEnded { message, .. } = event else { return false };
            message.tool_name.as_ref().is_some_and(|tool| !self.is_pure(tool))
        };
        at_rest || told || !decision.buried.is_empty() || decision.events.iter().any(unrepeatable)
    }
}

/// Whether it starts runs, or gives them to somebody, in a dialect that shows them on disk.
fn shows(decision: &Decision) -> bool {
    let starts =
        |write: &Write| matches!(write, Write::Spawn(new) if new.run.as_ref().is_some_and(|run| dex::is_dex(&run.id)));
    decision.writes.iter().any(starts) || decision.events.iter().any(|event| matches!(event, Event::TaskSaved(_)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Safety {
    /// The decision must be durable, and shown, before anything begins.
    Nothing,
    /// Only what may happen twice.
    Repeatable,
    /// The decision is durable: anything may begin.
    Any,
}
