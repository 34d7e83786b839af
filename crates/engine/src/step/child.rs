//! Deciding about children: starting them, writing to them, and taking their endings.

use super::end::{TERMINATED, cancelled};
use super::room;
use super::tool::Returned;
use super::{Desk, Mail};
use crate::dialect::{self, Note, Order, Patience, Refusal, Told, Wish, dex, standard};
use crate::hook::{Occasion, hears_birth};
use crate::offer::World;
use crate::state::{CallState, ThreadState, rest_word};
use crate::variable;
use entourage_model::{
    Ask, Attachment, CallId, ChildEntry, ChildLink, Communication, Dialect, Digest, Ending, Event, FileRow, Item,
    Message, MessageId, NewRun, NewThread, Outcome, Posted, ReplyTo, Role, RunId, RunStatus, Side, Started, ThreadId,
    ToolCall, VariableValue, Wait, Write, copy_path, mime_type,
};
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What comes back from a child at the end of a run.
pub(super) struct Return {
    pub(super) run: RunId,
    pub(super) ending: Ending,
    pub(super) quiet: bool,
    pub(super) note: Option<String>,
}

/// The results in the mail that become files of the thread because its model is not shown all of them. Whoever drives the
/// thread keeps their bytes before it decides.
pub fn long_results<'m>(world: &World<'_>, state: &ThreadState, mail: &'m Mail) -> Vec<&'m str> {
    let is_standard =
        |child: &ThreadId| state.children.get(child).is_some_and(|known| known.link.dialect == Dialect::Standard);
    let endings = mail.iter().filter_map(|letter| {
        let (Item::ChildEnded { child, ending, .. } | Item::ChildFinished { child, ending }) = &letter.item else {
            return None;
        };
        is_standard(child).then_some(ending.text.as_str())
    });
    endings.filter(|text| text.len() > world.limits.tool_output_bytes).collect()
}

/// A child as it is about to be made.
pub(super) struct Birth<'a> {
    pub(super) thread: ThreadId,
    pub(super) wait: Wait,
    /// Variables that it is given beyond what it inherits.
    pub(super) given: BTreeMap<String, VariableValue>,
    /// The answer that asked for it.
    pub(super) group: Option<MessageId>,
    pub(super) order: Order<'a>,
}

/// What a child finds when it begins: its first session, or the letters that lead to one; and the files that it is given.
#[derive(Default)]
struct Cradle {
    events: Vec<Event>,
    items: Vec<Item>,
    files: Vec<Write>,
}

impl Desk<'_> {
    pub(super) fn grant(&mut self, call: &ToolCall, wish: Wish<'_>) {
        match wish {
            Wish::Spawn(order) => match self.may_spawn(&order) {
                Ok(()) => self.spawn(call, order),
                Err(refusal) => self.end_call(call, Outcome::Failed, refusal.spoken(order.dialect).text()),
            },
            Wish::Send(note) => self.send(call, note),
            Wish::HandOff(entry) => self.accept_handoff(call, entry),
            Wish::Await { run, seconds } => self.await_run(call, &run, seconds),
            Wish::Cancel { run, answer } => self.dismiss(call, &run, answer),
            Wish::Answer(text) => self.end_call(call, Outcome::Done, text),
            // It is due like a tool, and stays open until its effect has come back.
            Wish::Look(_) => {}
            Wish::Dex(deed) => self.do_deed(call, deed),
        }
    }

    pub(super) fn may_spawn(&mut self, order: &Order<'_>) -> Result<(), Refusal> {
        self.has_room(&order.entry)?;
        room::fits(self.world, order.message.as_deref().unwrap_or_default())?;
        if let Some(arguments) = &order.arguments {
            room::fits(self.world, &arguments.to_string())?;
        }
        self.has_servers(&order.entry)?;
        let needed = variable::needed(self.world, self.state, &order.entry);
        if needed.missing.is_empty() { Ok(()) } else { Err(self.request_variables(order, needed)) }
    }

    /// An agent that needs a server is not started without it. Where nobody has tried the server yet, it is tried when
    /// the agent is first asked.
    fn has_servers(&self, entry: &ChildEntry) -> Result<(), Refusal> {
        let agent = self.world.team.agent(&entry.agent);
        let prompts = agent.into_iter().flat_map(|agent| agent.prompts());
        for server in prompts.flat_map(|prompt| &prompt.servers).filter(|server| server.required) {
            if let Some(fault) = self.world.served.fault(&server.key) {
                let text = format!("agent `{}` cannot be started: {fault}", entry.agent);
                return Err(Refusal::new("mcp_server_unavailable", text).with("server", json!(server.key.name)));
            }
        }
        Ok(())
    }

    pub(super) fn has_room(&self, entry: &ChildEntry) -> Result<(), Refusal> {
        room::has_room(self.world, self.state, entry)?;
        if self.spawned >= self.world.tree_left {
            let max = self.world.limits.children_total;
            return Err(room::full(self.state, "children_total", max, "no more can be started in this tree"));
        }
        Ok(())
    }

    fn spawn(&mut self, call: &ToolCall, order: Order<'_>) {
        let thread = self.ids.thread();
        let wait = self.wait(call, order.patience);
        let waits = wait != Wait::Background;
        self.bear(Birth { thread, wait, given: BTreeMap::new(), group: self.group(), order });
        if let Some(link) = self.state.children.get(&thread).map(|child| child.link.clone()).filter(|_| !waits) {
            let text = self.told(call, &link, link.run.as_ref()).accepted();
            self.end_call(call, Outcome::Done, text);
        }
    }

    fn wait(&self, call: &ToolCall, patience: Patience) -> Wait {
        match patience {
            Patience::Forever => Wait::Call(call.id.clone()),
            Patience::Seconds(seconds) => {
                Wait::Timed { call: call.id.clone(), until: self.now.after(Duration::from_secs(seconds)) }
            }
            Patience::None | Patience::Unasked => Wait::Background,
        }
    }

    /// Whoever is started by one answer belongs together.
    pub(super) fn group(&self) -> Option<MessageId> {
        self.state.session.as_ref().and_then(|session| Some(session.answer.as_ref()?.id))
    }

    /// Makes the child part of this decision.
    pub(super) fn bear(&mut self, birth: Birth<'_>) {
        let Birth { thread, wait, given, group, order } = birth;
        let entry = &order.entry;
        let Some(agent) = self.world.team.agent(&entry.agent) else { return };
        let link = ChildLink {
            thread,
            run: (order.patience != Patience::Unasked).then(|| self.ids.run(order.dialect)),
            wait,
            agent: entry.agent.clone(),
            alias: entry.alias.clone(),
            title: agent.title.clone(),
            description: entry.description.clone().unwrap_or_else(|| agent.pitch().to_owned()),
            given_name: order.name.clone(),
            group,
            dialect: order.dialect,
            resumable: entry.resumable.is_some(),
            blocking: entry.blocking,
            communication: entry.resumable.as_ref().map_or(Communication::Implicit, |r| r.communication),
            at: self.now,
        };
        let mut variables = variable::inherited(self.world, self.state, entry);
        variables.extend(given.into_iter().map(|(name, value)| (name, value.granted())));
        let (new, files) = self.new_thread(&link, order, variables);
        self.out.writes.push(Write::Spawn(Box::new(new)));
        self.out.writes.extend(files);
        self.spawned += 1;
        self.emit(Event::ChildStarted(Box::new(link)));
        self.hear(Occasion::ChildCreated(thread));
    }

    /// The thread, and the files that it is given: those need it to be there.
    fn new_thread(
        &mut self,
        link: &ChildLink,
        order: Order<'_>,
        variables: BTreeMap<String, VariableValue>,
    ) -> (NewThread, Vec<Write>) {
        let me = self.state.started.clone();
        let receives = order.entry.resumable.as_ref().map(|resumable| resumable.receives);
        let acting = receives.unwrap_or(Side::A);
        let hears = order.dowry.mirrors.as_ref().unwrap_or(&link.agent);
        let (hooked, waits) = hears_birth(self.world.team, hears, acting);
        let started = Started {
            parent: Some(me.thread),
            root: me.root,
            depth: me.depth + 1,
            resumable: link.resumable,
            receives,
            user_id: me.user_id.clone(),
            dialect: Some(link.dialect),
            arguments: order.arguments.clone(),
            denied: me.denied.iter().chain(&order.dowry.denied).cloned().collect(),
            instructions: order.dowry.instructions.clone(),
            tools: order.dowry.tools.clone(),
            models: order.dowry.models.clone(),
            mirrors: order.dowry.mirrors.clone(),
            hooked,
            folder: self.folder_of(link),
            ..Started::root(link.thread, link.agent.clone(), me.bundle, self.now)
        };
        let mut events = vec![Event::Started(started)];
        if !variables.is_empty() {
            events.push(Event::VariablesSet { variables });
        }
        let request = order.message.clone().unwrap_or_default();
        let cradle = match &link.run {
            Some(run) => self.cradle((link.thread, run), order, acting, waits),
            None => Cradle::default(),
        };
        let begun = link.run.as_ref().map(|run| NewRun {
            begun: cradle.items.is_empty(),
            ..self.new_run(link.thread, run, link.agent.clone(), &request)
        });
        events.extend(cradle.events);
        let new = NewThread {
            id: link.thread,
            parent: Some(me.thread),
            root: me.root,
            depth: me.depth + 1,
            agent: link.agent.clone(),
            bundle: me.bundle,
            user_id: me.user_id,
            tags: link.given_name.iter().map(|name| format!("name:{name}")).collect(),
            events,
            items: cradle.items,
            at_work: begun.is_some() || hooked,
            run: begun,
        };
        (new, cradle.files)
    }

    /// Where a child works that has no folder of its own: where this thread does. What is shared is what the caller has, so
    /// that nobody leaves its folder by asking somebody else.
    fn folder_of(&self, link: &ChildLink) -> Option<String> {
        let agent = self.world.team.agent(&link.agent);
        let own = agent.and_then(|agent| agent.workspace.as_ref()?.root(&agent.name));
        if own.is_some() { None } else { self.state.folder(self.world.team) }
    }

    /// The child is born at work: its first request is part of the journal that it is made with. If hooks are to hear of
    /// the request, it waits in the queue until they have.
    fn cradle(&mut self, (thread, run): (ThreadId, &RunId), order: Order<'_>, acting: Side, waits: bool) -> Cradle {
        let (attachments, files) = self.copies(thread, &order.attachments);
        let is_silent = order.message.is_none() && attachments.is_empty();
        let arguments = order.arguments.map(|arguments| {
            let mut message = self.message(Role::System, format!("Arguments:\n{}", standard::pretty(&arguments)));
            message.silent = true;
            message
        });
        let posted = (!is_silent).then(|| {
            let mut posted = self.posted(order.message.unwrap_or_default(), run);
            std::sync::Arc::make_mut(&mut posted.message).attachments = attachments;
            posted
        });
        if waits && posted.is_some() {
            let letters = arguments.map(Posted::plain).into_iter().chain(posted);
            return Cradle { items: letters.map(Item::Message).collect(), files, ..Cradle::default() };
        }
        let ask = Ask { run: run.clone(), reply_to: Some(ReplyTo { thread: self.state.id() }) };
        let deadline = self.now.after(Duration::from_secs(self.world.limits.run_seconds));
        let mut events = vec![Event::SessionStarted { deadline, acting, ask: is_silent.then(|| Box::new(ask)) }];
        events.extend(arguments.map(|message| Event::Injected { message: message.into() }));
        events.extend(posted.map(|posted| Event::Posted(Box::new(posted))));
        Cradle { events, files, ..Cradle::default() }
    }

    /// The files as they lie in another thread, and what puts them there.
    pub(super) fn copies(&mut self, to: ThreadId, files: &[Attachment]) -> (Vec<Attachment>, Vec<Write>) {
        let rows: Vec<_> =
            files.iter().filter_map(|file| file.copied(copy_path(&file.name, self.ids.word()), self.now)).collect();
        let attachments = rows.iter().map(entourage_model::FileRow::attachment).collect();
        (attachments, rows.into_iter().map(|file| Write::PutFile { thread: to, file }).collect())
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

    fn send(&mut self, call: &ToolCall, note: Note) {
        let (child, wait) = (note.child, self.wait(call, note.patience));
        let fits = room::fits(self.world, &note.message);
        if let Err(refusal) = fits.and_then(|()| self.may_send(child)) {
            let dialect = self.state.children.get(&child).map(|known| known.link.dialect).unwrap_or_default();
            return self.end_call(call, Outcome::Failed, refusal.spoken(dialect).text());
        }
        let Some(link) = self.state.children.get(&child).map(|known| known.link.clone()) else { return };
        let run = self.ids.run(link.dialect);
        let row = self.new_run(child, &run, link.agent.clone(), &note.message);
        self.out.writes.push(Write::NewRun(row));
        let (attachments, files) = self.copies(child, &note.attachments);
        self.out.writes.extend(files);
        let mut posted = self.posted(note.message, &run);
        std::sync::Arc::make_mut(&mut posted.message).attachments = attachments;
        self.deliver(child, Item::Message(posted));
        let waits = wait != Wait::Background;
        // What lists runs lists when they were asked for.
        let at = (link.dialect != Dialect::Standard).then_some(self.now);
        self.emit(Event::ChildAsked { child, run: run.clone(), wait, at });
        if !waits {
            let text = self.told(call, &link, Some(&run)).accepted();
            self.end_call(call, Outcome::Done, text);
        }
    }

    fn may_send(&self, child: ThreadId) -> Result<(), Refusal> {
        let Some(known) = self.state.children.get(&child) else {
            return Err(standard::not_active(&child.to_string()));
        };
        // The ending of a run that was asked to end is no news; the next run's would be taken for it. Only the standard
        // dialect has calls that wait for one child side by side: a session may answer several of them.
        let waited_for = known.link.blocking && known.link.dialect != Dialect::Standard;
        let busy = known.is_live() && (known.muted || waited_for);
        if busy {
            return Err(Refusal::new("subagent_busy", format!("subagent `{child}` is still working for another call")));
        }
        let limits = self.world.limits;
        room::has_queue(limits, known)?;
        if !known.is_live() && self.state.children_live >= limits.children_live {
            return Err(room::full(self.state, "children_live", limits.children_live, "wait for one of them to end"));
        }
        Ok(())
    }

    /// A child's run is over: its call is answered, or its message queued.
    pub(super) fn child_ended(&mut self, child: ThreadId, back: &Return) {
        let Some(known) = self.state.children.get(&child) else { return };
        // Delivery is at-least-once: a second ending finds no such run.
        let of_run = known.runs.iter().filter(|(run, _)| *run == back.run);
        let waits: Vec<Wait> = of_run.map(|(_, wait)| wait.clone()).collect();
        if waits.is_empty() {
            return;
        }
        let dismissed = self.state.delegated.get(&back.run).is_some_and(|delegated| delegated.dismissed);
        let (muted, speaks, link) = (known.muted || dismissed, known.speaks(), known.link.clone());
        let outcome = back.ending.outcome;
        let reads = (link.dialect == Dialect::Dex).then(|| self.due());
        self.emit(Event::ChildEnded { child, run: back.run.clone(), outcome });
        if link.dialect == Dialect::Dex {
            let response = dex::summary(&back.run, &back.ending);
            self.note_progress(&back.run, outcome.run_status(), Some(response));
        }
        let delivered = Write::DeliveredRun { run: back.run.clone() };
        match waits[0].call() {
            Some(_) => {
                // Whoever drives the thread may have gone; it says itself that it was given the result.
                if !self.is_driven() {
                    self.out.writes.push(delivered);
                }
                // A call that does not wait any more was answered when its turn was stopped.
                let calls = waits.iter().filter_map(Wait::call);
                let calls: Vec<_> = calls.filter_map(|call| self.waiting_call(child, call)).collect();
                self.answer_all(&calls, &link, back);
            }
            None if muted || back.quiet => {
                self.out.writes.push(delivered);
                if self.state.delegated.get(&back.run).is_some_and(|delegated| !delegated.read) {
                    self.emit(Event::RunRead { run: back.run.clone() });
                }
            }
            // Whoever drives the thread asks for results when it wants them.
            None if speaks && !self.is_driven() => self.queue_news(&link, back),
            None => {}
        }
        // Whoever waited for it reads what it came to.
        reads.iter().for_each(|already| self.start_tools(already));
    }

    /// Answers the calls that waited for a run.
    fn answer_all(&mut self, calls: &[ToolCall], link: &ChildLink, back: &Return) {
        if calls.is_empty() {
            return;
        }
        let shown = self.shown(link, back);
        for call in calls {
            let (outcome, attachments) = (shown.outcome, shown.attachments.clone());
            let told = Told { note: back.note.as_deref(), ..self.told(call, link, Some(&back.run)) };
            let text = told.answer(&shown);
            self.end_call_with(call, Returned { outcome, text, attachments, facts: Vec::new() });
        }
    }

    /// The ending as this thread's model is shown it. Other dialects have their own ways to read on behind a cut.
    fn shown<'b>(&mut self, link: &ChildLink, back: &'b Return) -> Cow<'b, Ending> {
        match link.dialect {
            Dialect::Standard => self.kept(&back.ending, back.run.as_str()),
            Dialect::Dex | Dialect::AgentScope => Cow::Borrowed(&back.ending),
        }
    }

    /// Of an ending that is too long for the model, its beginning: all of it becomes a file of this thread.
    fn kept<'b>(&mut self, ending: &'b Ending, name: &str) -> Cow<'b, Ending> {
        let path = format!("/outputs/{name}.txt");
        let Some(text) = standard::cut(&ending.text, self.world.limits.tool_output_bytes, &path) else {
            return Cow::Borrowed(ending);
        };
        let whole = ending.text.as_bytes();
        let (mime_type, digest) = (mime_type(&path, whole).to_owned(), Digest::of(whole));
        let file = FileRow { path, digest, size: whole.len() as u64, mime_type, created_at: self.now };
        self.emit(Event::FilePut(file.clone()));
        self.out.writes.push(Write::PutFile { thread: self.state.id(), file });
        Cow::Owned(Ending { text, ..ending.clone() })
    }

    fn waiting_call(&self, child: ThreadId, call: &CallId) -> Option<ToolCall> {
        let session = self.state.session.as_ref()?;
        let call = &session.calls[session.open_call(call)?];
        (call.state == CallState::Waiting(child)).then(|| call.call.clone())
    }

    /// Puts the ending into this thread's own queue, behind what waits there.
    fn queue_news(&mut self, link: &ChildLink, back: &Return) {
        let at = self.state.delegated.get(&back.run).map_or(link.at, |delegated| delegated.at);
        let text = dialect::news(link, (&back.run, at), &self.shown(link, back));
        let message = self.told_by(link.thread, text, &back.ending.attachments);
        let posted = Posted { delivers: Some(back.run.clone()), ..Posted::plain(message) };
        self.deliver(self.state.id(), Item::Message(posted));
    }

    fn told_by(&mut self, child: ThreadId, text: String, attachments: &[Attachment]) -> Message {
        let mut message = self.message(Role::User, text);
        message.silent = true;
        message.metadata.insert("subagent_id".to_owned(), json!(child));
        message.attachments = attachments.to_vec();
        message
    }

    /// The child was written to by somebody else, and what it came to is news all the same, if its endings are.
    pub(super) fn child_finished(&mut self, child: ThreadId, ending: &Ending) {
        let Some(known) = self.state.children.get(&child).filter(|known| !known.terminated) else { return };
        let speaks = known.speaks() && !self.is_driven();
        if !known.is_live() {
            self.emit(Event::ChildReported { child, status: rest_word(ending.outcome).to_owned() });
        }
        if speaks {
            let name = format!("{child}-{:08x}", self.ids.word());
            let ending = self.kept(ending, &name);
            let message = self.told_by(child, standard::news(child, &ending), &ending.attachments);
            self.deliver(self.state.id(), Item::Message(Posted::plain(message)));
        }
    }

    /// Nothing else comes from the child: every call that waits for it is answered now.
    pub(super) fn child_terminated(&mut self, child: ThreadId, told: Option<&RunId>) {
        let Some(known) = self.state.children.get(&child).filter(|known| !known.terminated) else { return };
        let (runs, link) = (known.runs.clone(), known.link.clone());
        let reads = (link.dialect == Dialect::Dex).then(|| self.due());
        self.emit(Event::ChildTerminated { child });
        let mut over = BTreeSet::new();
        for (run, wait) in runs {
            let is_first = over.insert(run.clone());
            // A request that crossed the termination reached nobody, so nobody else ends its run.
            if is_first && told != Some(&run) {
                self.out.writes.push(Write::EndRun { run: run.clone(), ending: cancelled(TERMINATED) });
            }
            if is_first {
                self.note_progress(&run, RunStatus::Cancelled, Some(TERMINATED.to_owned()));
                self.out.writes.push(Write::DeliveredRun { run: run.clone() });
            }
            if let Some(call) = wait.call().and_then(|call| self.waiting_call(child, call)) {
                let text = self.told(&call, &link, Some(&run)).terminated(&cancelled(TERMINATED));
                self.end_call(&call, Outcome::Cancelled, text);
            }
        }
        reads.iter().for_each(|already| self.start_tools(already));
    }
}
