//! Deciding about children: starting them, writing to them, and taking their endings.

use super::Desk;
use super::end::{TERMINATED, cancelled};
use crate::dialect::standard::{self, Refusal, Wish};
use crate::state::{CallState, Child};
use crate::variable;
use entourage_model::{
    CallId, ChildEntry, ChildLink, Communication, Ending, Event, Item, Message, NewRun, NewThread, Outcome, Posted,
    ReplyTo, Role, RunId, Side, Started, ThreadId, ToolCall, Wait, Write,
};
use serde_json::{Value, json};
use std::time::Duration;

/// What comes back from a child at the end of a run.
pub(super) struct Return {
    pub(super) run: RunId,
    pub(super) ending: Ending,
    pub(super) quiet: bool,
}

impl Desk<'_> {
    pub(super) fn grant(&mut self, call: &ToolCall, wish: Wish<'_>) {
        match wish {
            Wish::Spawn { entry, message, name } => {
                let entry = entry.clone();
                match self.may_spawn(&entry) {
                    Ok(()) => self.spawn(call, &entry, message, name),
                    Err(refusal) => self.end_call(call, Outcome::Failed, refusal.text()),
                }
            }
            Wish::Send { child, message } => self.send(call, child, message),
        }
    }

    fn may_spawn(&self, entry: &ChildEntry) -> Result<(), Refusal> {
        if let Some(text) = self.world.team.agent(&entry.agent).and_then(|agent| agent.obstacle()) {
            return Err(Refusal::new("subagent_remote", text));
        }
        let limits = self.world.limits;
        if self.state.started.depth >= limits.depth {
            let text = format!("subagents may lie at most {} levels deep; do this work yourself", limits.depth);
            return Err(Refusal::new("depth_limit_reached", text).with("max", json!(limits.depth)));
        }
        if self.state.children_live >= limits.children_live {
            return Err(self.full("children_live", limits.children_live, "wait for one of them to end"));
        }
        if self.spawned >= self.world.tree_left {
            return Err(self.full("children_total", limits.children_total, "no more can be started in this tree"));
        }
        let instances_max = entry.resumable.as_ref().and_then(|resumable| resumable.instances_max);
        if let Some(max) = instances_max {
            let counts = |child: &&Child| {
                let same = child.link.agent == entry.agent && child.link.alias == entry.alias;
                child.link.resumable && same && !child.terminated
            };
            if self.state.children.values().filter(counts).count() as u64 >= u64::from(max) {
                return Err(self.full("maxInstances", max, "write to one of them with `subagent_message` instead"));
            }
        }
        Ok(())
    }

    fn full(&self, cap: &str, max: u32, advice: &str) -> Refusal {
        let live = self.state.children.values().filter(|child| !child.terminated);
        let references: Vec<Value> = live.take(50).map(|child| json!(child.link.thread)).collect();
        let text = format!("the limit `{cap}` of {max} subagents is reached; {advice}");
        Refusal::new("subagent_limit_reached", text)
            .with("cap", json!(cap))
            .with("max", json!(max))
            .with("references", Value::Array(references))
    }

    fn spawn(&mut self, call: &ToolCall, entry: &ChildEntry, message: String, given_name: Option<String>) {
        let Some(agent) = self.world.team.agent(&entry.agent) else {
            let refusal = Refusal::new("subagent_arguments_invalid", format!("there is no agent `{}`", entry.agent));
            return self.end_call(call, Outcome::Failed, refusal.text());
        };
        let (thread, run) = (self.ids.thread(), self.ids.run());
        let wait = if entry.blocking { Wait::Call(call.id.clone()) } else { Wait::Background };
        let link = ChildLink {
            thread,
            run,
            wait,
            agent: entry.agent.clone(),
            alias: entry.alias.clone(),
            description: entry.description.clone().unwrap_or_else(|| agent.pitch().to_owned()),
            given_name,
            resumable: entry.resumable.is_some(),
            blocking: entry.blocking,
            communication: entry.resumable.as_ref().map_or(Communication::Implicit, |r| r.communication),
            at: self.now,
        };
        let new = self.new_thread(&link, entry, message);
        self.out.writes.push(Write::Spawn(Box::new(new)));
        self.spawned += 1;
        self.emit(Event::ChildStarted(Box::new(link)));
        if !entry.blocking {
            self.end_call(call, Outcome::Done, standard::accepted(thread));
        }
    }

    fn new_thread(&mut self, link: &ChildLink, entry: &ChildEntry, message: String) -> NewThread {
        let me = &self.state.started;
        let started = Started {
            thread: link.thread,
            agent: link.agent.clone(),
            bundle: me.bundle,
            parent: Some(me.thread),
            root: me.root,
            depth: me.depth + 1,
            resumable: link.resumable,
            receives: entry.resumable.as_ref().map(|resumable| resumable.receives),
            user_id: me.user_id.clone(),
            at: self.now,
        };
        let run = NewRun { begun: true, ..self.new_run(link.thread, &link.run, link.agent.clone(), &message) };
        let posted = self.posted(message, &link.run);
        let variables = variable::inherited(self.world, self.state, &link.agent, &entry.scoped_env);
        let begun = Event::SessionStarted {
            deadline: self.now.after(Duration::from_secs(self.world.limits.run_seconds)),
            acting: started.receives.unwrap_or(Side::A),
        };
        NewThread {
            id: link.thread,
            parent: started.parent,
            root: started.root,
            depth: started.depth,
            agent: started.agent.clone(),
            bundle: started.bundle,
            user_id: started.user_id.clone(),
            tags: link.given_name.iter().map(|name| format!("name:{name}")).collect(),
            events: [Event::Started(started)]
                .into_iter()
                .chain((!variables.is_empty()).then_some(Event::VariablesSet { variables }))
                .chain([begun, Event::Posted(Box::new(posted))])
                .collect(),
            items: Vec::new(),
            run: Some(run),
            at_work: true,
        }
    }

    fn new_run(&self, thread: ThreadId, run: &RunId, agent: entourage_model::Name, request: &str) -> NewRun {
        NewRun {
            id: run.clone(),
            thread,
            parent: Some(self.state.id()),
            agent,
            request: request.to_owned(),
            begun: false,
        }
    }

    fn posted(&mut self, message: String, run: &RunId) -> Posted {
        let reply_to = Some(ReplyTo { thread: self.state.id() });
        Posted { run: Some(run.clone()), reply_to, ..Posted::plain(self.message(Role::User, message)) }
    }

    fn send(&mut self, call: &ToolCall, child: ThreadId, message: String) {
        let wait = match self.may_send(call, child) {
            Ok(wait) => wait,
            Err(refusal) => return self.end_call(call, Outcome::Failed, refusal.text()),
        };
        let Some(agent) = self.state.children.get(&child).map(|known| known.link.agent.clone()) else { return };
        let run = self.ids.run();
        let row = self.new_run(child, &run, agent, &message);
        self.out.writes.push(Write::NewRun(row));
        let posted = self.posted(message, &run);
        self.deliver(child, Item::Message(posted));
        let waits = wait != Wait::Background;
        self.emit(Event::ChildAsked { child, run, wait });
        if !waits {
            self.end_call(call, Outcome::Done, format!("The message was queued. Reference: {child}"));
        }
    }

    /// Whether the call waits for the answer, where the message can be sent at all.
    fn may_send(&self, call: &ToolCall, child: ThreadId) -> Result<Wait, Refusal> {
        let Some(known) = self.state.children.get(&child) else {
            return Err(standard::not_active(&child.to_string()));
        };
        // The ending of a run that was asked to end is no news; the next run's would be taken for it.
        let busy = known.is_live() && (known.muted || known.link.blocking);
        if busy {
            return Err(Refusal::new("subagent_busy", format!("subagent `{child}` is still working for another call")));
        }
        let limits = self.world.limits;
        if !known.is_live() && self.state.children_live >= limits.children_live {
            return Err(self.full("children_live", limits.children_live, "wait for one of them to end"));
        }
        Ok(if known.link.blocking { Wait::Call(call.id.clone()) } else { Wait::Background })
    }

    /// A child's run is over: its call is answered, or its message queued.
    pub(super) fn child_ended(&mut self, child: ThreadId, back: &Return) {
        let Some(known) = self.state.children.get(&child) else { return };
        // Delivery is at-least-once: a second ending finds no such run.
        let Some((_, wait)) = known.runs.iter().find(|(run, _)| *run == back.run).cloned() else { return };
        let (muted, speaks) = (known.muted, known.speaks());
        let answer = standard::answer(known, &back.ending);
        let outcome = back.ending.outcome;
        self.emit(Event::ChildEnded { child, run: back.run.clone(), outcome });
        let delivered = Write::DeliveredRun { run: back.run.clone() };
        match wait {
            Wait::Call(call) => {
                self.out.writes.push(delivered);
                // A call that does not wait any more was answered when its turn was stopped.
                if let Some(call) = self.waiting_call(child, &call) {
                    self.end_call(&call, outcome, answer);
                }
            }
            Wait::Background if muted || back.quiet => self.out.writes.push(delivered),
            Wait::Background if speaks => self.queue_news(child, back),
            Wait::Background => {}
        }
    }

    fn waiting_call(&self, child: ThreadId, call: &CallId) -> Option<ToolCall> {
        let session = self.state.session.as_ref()?;
        let call = &session.calls[session.open_call(call)?];
        (call.state == CallState::Waiting(child)).then(|| call.call.clone())
    }

    /// Puts the ending into this thread's own queue, behind what waits there.
    fn queue_news(&mut self, child: ThreadId, back: &Return) {
        let mut message: Message = self.message(Role::User, standard::news(child, &back.ending));
        message.silent = true;
        message.metadata.insert("subagent_id".to_owned(), json!(child));
        message.attachments.clone_from(&back.ending.attachments);
        let posted = Posted { delivers: Some(back.run.clone()), ..Posted::plain(message) };
        self.deliver(self.state.id(), Item::Message(posted));
    }

    /// Nothing else comes from the child: every call that waits for it is answered now.
    pub(super) fn child_terminated(&mut self, child: ThreadId, told: Option<&RunId>) {
        let Some(known) = self.state.children.get(&child).filter(|known| !known.terminated) else { return };
        let runs = known.runs.clone();
        self.emit(Event::ChildTerminated { child });
        let refusal = Refusal::new("subagent_terminated", format!("subagent `{child}` was terminated"));
        for (run, wait) in runs {
            // A request that crossed the termination reached nobody, so nobody else ends its run.
            if told != Some(&run) {
                self.out.writes.push(Write::EndRun { run: run.clone(), ending: cancelled(TERMINATED) });
            }
            self.out.writes.push(Write::DeliveredRun { run });
            if let Wait::Call(call) = wait
                && let Some(call) = self.waiting_call(child, &call)
            {
                self.end_call(&call, Outcome::Cancelled, refusal.text());
            }
        }
    }
}
