//! Driving a thread from outside: somebody makes the calls that a model would make, and is given their results.

use crate::hub::Watcher;
use crate::runtime::{Runtime, RuntimeError};
use entourage_engine::{ThreadState, offered, startable};
use entourage_model::{
    CallId, Digest, Event, Ids, Item, Message, Name, RunId, Started, Team, ThreadId, ToolCall, ToolSpec,
};
use entourage_store::RunRow;
use std::sync::Arc;
use std::time::Duration;

/// Notices are hints; another process may do the work. So the journal is read again now and then.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Events that are read at once.
const PAGE: usize = 500;

/// What whoever drives an agent can do.
#[derive(Clone, Debug)]
pub struct Offer {
    pub tools: Vec<Arc<ToolSpec>>,
    /// The agents that can be started by their ids, and what each is good at.
    pub agents: Vec<(String, String)>,
}

/// A call that somebody outside made in the place of a model.
#[derive(Debug)]
pub struct Driven {
    thread: ThreadId,
    id: CallId,
    /// How much of the journal was looked at for its result.
    after: u64,
    /// The run whose ending answers it, once that is known.
    run: Option<RunId>,
    watcher: Watcher,
}

impl Driven {
    /// The run whose ending answers it, as far as is known.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }
}

impl Runtime {
    /// What a new thread of this agent is offered. Without such an agent it is nothing.
    pub fn offer(&self, team: &Team, agent: &Name) -> Offer {
        let now = self.inner.store.now();
        let thread = Ids::new(now, fastrand::u64(..)).thread();
        let started = Started::root(thread, agent.clone(), Digest::of(&[]), now);
        let world = self.inner.world(team, self.inner.limits.children_total);
        let born = ThreadState::born(&Event::Started(started));
        match born.zip(team.agent(agent)) {
            Some((state, agent)) => {
                let agents = startable(&world).into_iter();
                Offer {
                    tools: offered(&world, &state, &agent.side_a.prompt),
                    agents: agents.map(|(id, pitch)| (id.to_owned(), pitch.to_owned())).collect(),
                }
            }
            None => Offer { tools: Vec::new(), agents: Vec::new() },
        }
    }

    /// Makes a call on a thread whose agent is driven, and waits for its result. Whoever stops waiting takes nothing back:
    /// the call is durable, and what it began goes on.
    pub async fn call(&self, thread: ThreadId, tool: Name, arguments: String) -> Result<Arc<Message>, RuntimeError> {
        let mut call = self.begin_call(thread, tool, arguments).await?;
        self.finish_call(&mut call).await
    }

    /// Makes such a call, and leaves waiting to the caller. When this returns, the call is durable.
    pub async fn begin_call(&self, thread: ThreadId, tool: Name, arguments: String) -> Result<Driven, RuntimeError> {
        let (found, max) = (arguments.len(), self.inner.limits.message_bytes);
        if found > max {
            return Err(RuntimeError::MessageTooLarge { found, max });
        }
        let row = self.thread(thread).await?.ok_or(RuntimeError::NoThread(thread))?;
        let id = Ids::new(self.inner.store.now(), fastrand::u64(..)).message();
        let call = ToolCall { id: format!("call_{id}").into(), name: tool, arguments };
        let driven = Driven { watcher: self.watch(row.root), thread, id: call.id.clone(), after: row.seq, run: None };
        self.queue(thread, Item::Call { call }, None).await?;
        Ok(driven)
    }

    /// Waits for the result. It can be dropped and called again.
    pub async fn finish_call(&self, call: &mut Driven) -> Result<Arc<Message>, RuntimeError> {
        loop {
            if let Some(result) = self.result_of(call).await? {
                return Ok(result);
            }
            tokio::select! {
                () = call.watcher.committed(call.thread) => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = self.stopping() => return Err(RuntimeError::Broken("the server is about to end".to_owned())),
            }
        }
    }

    /// Notes that whoever made the call was given its result, where that is how a run ended.
    pub async fn deliver_call(&self, call: &Driven) -> Result<(), RuntimeError> {
        let Some(run) = &call.run else { return Ok(()) };
        let is_news = |row: RunRow| row.status.is_terminal() && row.delivered_at.is_none();
        if self.run(run).await?.is_some_and(is_news) {
            self.mark_delivered(run).await?;
        }
        Ok(())
    }

    /// The call's result, if it lies behind what was read so far.
    async fn result_of(&self, call: &mut Driven) -> Result<Option<Arc<Message>>, RuntimeError> {
        loop {
            let page = self.journal(call.thread, call.after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(None) };
            call.after = last.seq;
            for stored in &page {
                match &stored.event {
                    Event::CallEnded { message, .. } if message.tool_call_id.as_ref() == Some(&call.id) => {
                        return Ok(Some(Arc::clone(message)));
                    }
                    Event::ChildStarted(link) if link.wait.call() == Some(&call.id) => call.run.clone_from(&link.run),
                    Event::ChildAsked { run, wait, .. } | Event::ChildAwaited { run, wait, .. }
                        if wait.call() == Some(&call.id) =>
                    {
                        call.run = Some(run.clone());
                    }
                    Event::Terminated { .. } => return Err(RuntimeError::Terminated),
                    _ => {}
                }
            }
        }
    }
}
