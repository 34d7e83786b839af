//! A whole tree of threads, wired by their writes as a store does it, with anybody acting next.

use crate::actor::Actor;
use crate::deeds::ended;
use crate::laws::{Broken, hold};
use crate::moves::{Asker, answer, child_call, request, with_references};
use crate::team::Setup;
use entourage_engine::{Decision, Input};
use entourage_model::{
    ChildLink, Communication, Event, Item, ModelAnswer, NewRun, NewThread, Outcome, Posted, RunId, ThreadId,
    ThreadStatus, Write,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Every mode of child below every other; of the limits only those of depth and turns are ever reached.
const TEAM: &str = "
    boss tools=look children=writer,scout&,helper*,mate*&,shy*!& immediate=scout handoffs=clerk
    writer dual tools=look children=writer,scout&,helper*,mate*&
    scout children=writer,scout&,helper*,mate*&
    helper dual tools=look children=writer,scout&,mate*&,shy*!&
    mate tools=look children=writer,scout&,helper* immediate=writer
    clerk tools=look children=writer immediate=writer handoffs=boss
    limits depth=3 children_live=99 left=999 session_turns=2";

/// No tree of these tests needs more inputs to come to rest.
const INPUTS_MAX: usize = 20_000;

#[derive(Debug)]
pub(crate) struct Tree {
    actors: BTreeMap<ThreadId, Actor>,
    runs: BTreeMap<RunId, Row>,
}

/// A run as the store keeps it.
#[derive(Debug)]
struct Row {
    thread: ThreadId,
    parent: Option<ThreadId>,
    is_over: bool,
    is_delivered: bool,
}

/// Something that happens to one of the threads to which it can happen.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    nth: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Look,
    Answer(ModelAnswer),
    ToolEnds,
    Crash,
    /// A person writes to it.
    Ask,
    Cancel(usize),
    Stop,
    Terminate,
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let look = prop::sample::select(vec!["look", "clerk"]).prop_map(|name| (name.to_owned(), "{}".to_owned()));
    let call = prop_oneof![1 => look, 3 => child_call()];
    let what = prop_oneof![
        40 => Just(What::Look),
        40 => answer(call, 1..4).prop_map(What::Answer),
        10 => Just(What::Answer(ModelAnswer { text: "enough".to_owned(), ..ModelAnswer::default() })),
        20 => Just(What::ToolEnds),
        4 => Just(What::Crash),
        10 => Just(What::Ask),
        3 => (0..99usize).prop_map(What::Cancel),
        2 => Just(What::Stop),
        1 => Just(What::Terminate),
    ];
    prop::collection::vec((0..99usize, what).prop_map(|(nth, what)| Act { nth, what }), 1..100)
}

impl Act {
    fn suits(&self, actor: &Actor) -> bool {
        match &self.what {
            What::Answer(_) => actor.flights.model,
            What::ToolEnds => !actor.flights.tools.is_empty(),
            What::Look => !actor.mail.is_empty() || is_new(actor),
            What::Ask => actor.state.terminated.is_none(),
            What::Crash | What::Cancel(_) | What::Stop | What::Terminate => true,
        }
    }
}

impl Tree {
    /// A root that was asked for something.
    pub(crate) fn new() -> Self {
        let setup = Setup::read(TEAM);
        let root = setup.started.thread;
        let mut tree = Self { actors: BTreeMap::from([(root, Actor::new(setup))]), runs: BTreeMap::new() };
        tree.ask(root);
        tree
    }

    fn ask(&mut self, thread: ThreadId) -> Input {
        let posted = request(self.runs.len(), Asker::Nobody);
        let run = posted.run.clone().expect("a request has a run");
        self.runs.insert(run, Row { thread, parent: None, is_over: false, is_delivered: false });
        self.deliver(thread, Item::Message(posted))
    }

    pub(crate) fn play(&mut self, act: &Act) -> Result<(), Broken> {
        let able: Vec<ThreadId> =
            self.actors.values().filter(|actor| act.suits(actor)).map(|actor| actor.state.id()).collect();
        let Some(&thread) = able.get(act.nth % able.len().max(1)) else { return Ok(()) };
        let actor = &self.actors[&thread];
        let input = match &act.what {
            What::Answer(answer) => Input::Answered(Ok(with_references(answer.clone(), actor))),
            What::ToolEnds => tool_end(actor).unwrap_or(Input::Mail),
            What::Crash => Input::Resumed,
            What::Look => Input::Mail,
            What::Ask => self.ask(thread),
            What::Stop => self.deliver(thread, Item::Stop),
            What::Terminate => self.deliver(thread, Item::Terminate),
            What::Cancel(nth) => {
                let run = self.runs.keys().nth(nth % self.runs.len()).cloned().expect("the root was asked");
                self.deliver(self.runs[&run].thread, Item::Cancel { run })
            }
        };
        self.feed(thread, input)
    }

    /// Lets every thread do what it has to do, until none has.
    pub(crate) fn settle(&mut self) -> Result<(), Broken> {
        for _ in 0..INPUTS_MAX {
            let next = self.actors.iter().find_map(|(thread, actor)| Some((*thread, due(actor)?)));
            let Some((thread, input)) = next else { return self.is_over() };
            self.feed(thread, input)?;
        }
        hold(false, || "the tree does not come to rest".to_owned())
    }

    fn feed(&mut self, thread: ThreadId, input: Input) -> Result<(), Broken> {
        let Some(actor) = self.actors.get_mut(&thread) else { return Ok(()) };
        let taken_up = matches!(input, Input::Resumed) || is_new(actor);
        let decision = if taken_up { actor.crash() } else { actor.feed(input) };
        self.commit(thread, decision.map_err(|broken| format!("{thread}: {broken}"))?)
    }

    fn commit(&mut self, thread: ThreadId, decision: Decision) -> Result<(), Broken> {
        for write in decision.writes {
            match write {
                Write::Spawn(new) => self.spawn(thread, *new),
                // What a thread writes to itself lies in its mail already.
                Write::Deliver { to, item } if to != thread => _ = self.deliver(to, *item),
                Write::Deliver { .. }
                | Write::StartRun { .. }
                | Write::InterruptRun { .. }
                | Write::CancelRun { .. }
                | Write::PutFile { .. }
                | Write::RemoveFile { .. }
                | Write::SetAgent { .. } => {}
                Write::NewRun(run) => self.new_run(run),
                Write::EndRun { run, .. } => self.row(&run).is_over = true,
                Write::DeliveredRun { run } => {
                    let twice = std::mem::replace(&mut self.row(&run).is_delivered, true);
                    hold(!twice, || format!("{run} was delivered twice"))?;
                }
            }
        }
        Ok(())
    }

    fn spawn(&mut self, parent: ThreadId, new: NewThread) {
        let mut setup = self.actors[&parent].setup.clone();
        let Some(Event::Started(started)) = new.events.first() else { return };
        setup.started = started.clone();
        let mut actor = Actor::born(setup, new.events);
        new.items.into_iter().for_each(|item| _ = actor.post(item));
        self.actors.insert(new.id, actor);
        new.run.into_iter().for_each(|run| self.new_run(run));
    }

    /// A missing or terminated thread is a no-op. Returns what makes the receiver look at it.
    fn deliver(&mut self, to: ThreadId, item: Item) -> Input {
        if let Some(actor) = self.actors.get_mut(&to).filter(|actor| actor.state.terminated.is_none()) {
            actor.post(item);
        }
        Input::Mail
    }

    fn new_run(&mut self, run: NewRun) {
        let row = Row { thread: run.thread, parent: run.parent, is_over: false, is_delivered: false };
        self.runs.insert(run.id, row);
    }

    fn row(&mut self, run: &RunId) -> &mut Row {
        self.runs.get_mut(run).expect("a run that was made")
    }

    /// Nothing waits, every run is over, and every result that somebody could be told was told.
    fn is_over(&self) -> Result<(), Broken> {
        for (thread, actor) in &self.actors {
            let state = &actor.state;
            hold(state.session.is_none() && state.children_live == 0, || format!("{thread} still works: {state:?}"))?;
            hold(actor.mail.is_empty(), || format!("{thread} has mail: {:?}", actor.mail))?;
            let known = state.children.values().all(|child| child.terminated == self.is_terminated(child.link.thread));
            hold(known, || format!("{thread} does not know which of its children are terminated"))?;
            let orphan = state.children.values().any(|child| state.terminated.is_some() && !child.terminated);
            hold(!orphan, || format!("{thread} is terminated, a child of it is not"))?;
        }
        for (run, row) in &self.runs {
            hold(row.is_over, || format!("{run} never ended: {row:?}"))?;
            let told = row.is_delivered || row.parent.is_none_or(|parent| !self.can_tell(parent, row.thread));
            hold(told, || format!("nobody was told of {run}: {row:?}"))?;
        }
        Ok(())
    }

    fn is_terminated(&self, thread: ThreadId) -> bool {
        self.actors[&thread].state.terminated.is_some()
    }

    /// Neither a terminated parent nor one of a child that speaks only when it wants to is told anything.
    fn can_tell(&self, parent: ThreadId, child: ThreadId) -> bool {
        let speaks = |link: &ChildLink| link.thread == child && link.communication == Communication::Implicit;
        let mut journal = self.actors[&parent].journal.iter();
        !self.is_terminated(parent) && journal.any(|event| matches!(event, Event::ChildStarted(link) if speaks(link)))
    }
}

/// Whether the thread was born at work and nobody has taken it up yet.
fn is_new(actor: &Actor) -> bool {
    actor.state.status() == ThreadStatus::Running && actor.flights.are_none()
}

/// What this thread has to do next, if anything.
fn due(actor: &Actor) -> Option<Input> {
    if is_new(actor) {
        return Some(Input::Resumed);
    }
    let waits = actor.mail.iter().any(|letter| !matches!(letter.item, Item::Message(Posted { .. })));
    if waits || (actor.state.session.is_none() && !actor.mail.is_empty()) {
        return Some(Input::Mail);
    }
    if actor.flights.model {
        let words = ModelAnswer { text: "that is all".to_owned(), ..ModelAnswer::default() };
        return Some(Input::Answered(Ok(words)));
    }
    tool_end(actor)
}

fn tool_end(actor: &Actor) -> Option<Input> {
    let call = actor.flights.tools.first()?.clone();
    Some(ended(call, Outcome::Done, "seen".to_owned()))
}
