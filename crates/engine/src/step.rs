//! One input in, one decision out.

mod act;
mod activate;
mod assign;
mod call;
mod child;
mod end;
mod handoff;
mod hook;
mod interrupt;
mod model;
mod request;
mod room;
mod run;
mod timer;
mod tool;

use crate::apply::apply;
use crate::dialect::Look;
use crate::hook::Pause;
use crate::offer::World;
use crate::state::{Child, Session, ThreadState};
use act::Closing;
use child::Return;
pub use child::long_results;
use entourage_model::{
    Act, Attachment, CallId, ChildEntry, Event, Fact, Ids, Item, Message, ModelAnswer, ModelRequest, Outcome, Posted,
    RemoteTask, Role, ThreadId, Timestamp, ToolCall, Usage, Write,
};
use std::collections::VecDeque;
use tool::Returned;

/// An input with the moment at which it is decided and a number that nobody could guess.
#[derive(Debug)]
pub struct Cue {
    pub now: Timestamp,
    pub seed: u64,
    pub input: Input,
}

#[derive(Clone, Debug)]
pub enum Input {
    /// The thread was taken up: whatever was in flight before is lost.
    Resumed,
    /// Something new lies in the mail.
    Mail,
    /// The model call has ended, or every attempt at it has failed for the reason given.
    Answered(Result<ModelAnswer, String>),
    /// The same, of a request that hooks have heard of; what they did to the thread counts with it.
    Advised { answer: Result<ModelAnswer, String>, acts: Vec<Act> },
    ToolEnded {
        call: CallId,
        outcome: Outcome,
        text: String,
        /// Files of the thread that the result names.
        attachments: Vec<Attachment>,
        /// What the tool did to its thread.
        acts: Vec<Act>,
        /// What the runtime saw it do.
        facts: Vec<Fact>,
    },
    /// Time has passed.
    Tick,
    /// Working on this thread broke the program. With `bury`, what lies in the mail is to blame.
    Broke { reason: String, bury: bool },
}

/// The part of a thread's queue that this process holds. What a decision consumes leaves it.
pub type Mail = VecDeque<Letter>;

#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    pub number: u64,
    pub item: Item,
}

/// What to make durable, all at once, and what to do then: in that order, always.
#[derive(Debug, Default, PartialEq)]
pub struct Decision {
    pub events: Vec<Event>,
    pub writes: Vec<Write>,
    pub consumed: Vec<u64>,
    pub buried: Vec<u64>,
    pub effects: Vec<Effect>,
    /// Hooks have to hear of something first: nothing of this decision counts.
    pub pause: Option<Box<Pause>>,
}

#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Safe to repeat: may begin before the decision is durable.
    CallModel(Box<ModelRequest>),
    /// May begin before the decision is durable only if its tool is pure.
    CallTool { call: ToolCall, key: String },
    /// Reads what the store knows, and answers the call with it. Safe to repeat.
    Look { call: ToolCall, look: Look },
    /// Ends every model and tool call of this thread that is in flight.
    Abort,
    /// Tells another server that a piece of work is to end. One that it does not know, or that has ended, stays as it is.
    CancelRemote(Box<RemoteTask>),
}

impl Decision {
    /// Adds a decision that was made behind this one, so that both become durable together.
    pub fn append(&mut self, mut later: Self) {
        self.events.append(&mut later.events);
        self.writes.append(&mut later.writes);
        self.consumed.append(&mut later.consumed);
        self.buried.append(&mut later.buried);
        // What was in flight before the abort is not to begin at all.
        if later.effects.contains(&Effect::Abort) {
            self.take_back();
        }
        self.effects.append(&mut later.effects);
    }

    /// Nothing of it begins any more. What another server is told to end, it is told all the same.
    pub(crate) fn take_back(&mut self) {
        self.effects.retain(|effect| matches!(effect, Effect::CancelRemote(_)));
    }

    /// Nothing to make durable.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.writes.is_empty() && self.consumed.is_empty() && self.buried.is_empty()
    }

    pub fn usage(&self) -> Usage {
        let spent = self.events.iter().filter_map(|event| {
            let (Event::Answered { usage, .. } | Event::PromptAnswered { usage, .. }) = event else { return None };
            Some(*usage)
        });
        spent.sum()
    }
}

/// Decides, and applies the decision to `state` and `mail`.
///
/// If the decision cannot be made durable, both must be thrown away: they are ahead of the journal.
pub fn step(world: &World<'_>, state: &mut ThreadState, mail: &mut Mail, cue: Cue) -> Decision {
    let ids = Ids::new(cue.now, cue.seed);
    let mut desk = Desk {
        world,
        state,
        mail,
        now: cue.now,
        ids,
        settled: false,
        resumed: false,
        note: None,
        spawned: 0,
        heard: 0,
        deaf: matches!(cue.input, Input::Broke { .. }),
        closing: Closing::default(),
        out: Decision::default(),
    };
    desk.hear_of_creation();
    match cue.input {
        Input::Resumed => desk.resume(),
        Input::Mail => {}
        Input::Answered(answer) => desk.answered(answer, Vec::new()),
        Input::Advised { answer, acts } => desk.answered(answer, acts),
        Input::ToolEnded { call, outcome, text, attachments, acts, facts } => {
            desk.tool_ended(&call, Returned { outcome, text, attachments, facts }, acts);
        }
        Input::Tick => desk.tick(),
        Input::Broke { reason, bury } => desk.broke(&reason, bury),
    }
    desk.sort_mail();
    desk.go_on();
    while desk.close_heard() {
        desk.go_on();
    }
    desk.out
}

/// One decision in the making.
struct Desk<'a> {
    world: &'a World<'a>,
    state: &'a mut ThreadState,
    mail: &'a mut Mail,
    now: Timestamp,
    ids: Ids,
    /// The last open call got its result in this step, so the acting side can go on.
    settled: bool,
    /// The session was under way before, and so may be what another server was asked for it.
    resumed: bool,
    /// What whoever asked is told beside the ending.
    note: Option<String>,
    /// How many children this decision starts.
    spawned: u32,
    /// How many occasions of this decision hooks have heard of.
    heard: usize,
    /// Nobody hears of what happens now: it ends what has to end at once.
    deaf: bool,
    /// What hooks want to be over.
    closing: Closing,
    out: Decision,
}

/// Whether the thread itself may start such a child now; whether its tree has room is known to the store.
pub fn has_room(world: &World<'_>, state: &ThreadState, entry: &ChildEntry) -> bool {
    room::has_room(world, state, entry).is_ok()
}

impl Desk<'_> {
    fn emit(&mut self, event: Event) {
        apply(self.state, &event);
        self.out.events.push(event);
    }

    fn deliver(&mut self, to: ThreadId, item: Item) {
        self.out.writes.push(Write::Deliver { to, item: Box::new(item) });
    }

    fn message(&mut self, role: Role, content: impl Into<String>) -> Message {
        Message::new(self.ids.message(), role, content, self.now)
    }

    /// Begins again what was in flight when the thread was last held.
    fn resume(&mut self) {
        let Some(session) = self.state.session.as_ref().filter(|session| !session.interrupted) else { return };
        if session.open == 0 {
            // The mail comes first: what lies there may end the session.
            (self.settled, self.resumed) = (true, true);
        } else {
            self.resume_calls();
        }
    }

    /// Acts on everything but messages; those wait for the next step.
    fn sort_mail(&mut self) {
        let waiting = std::mem::take(self.mail);
        for letter in waiting {
            if letter.item.is_message() && self.state.terminated.is_none() && !self.is_stale(&letter.item) {
                self.mail.push_back(letter);
            } else {
                self.out.consumed.push(letter.number);
                self.act(letter.item);
            }
        }
    }

    /// Whether it brings a result that a call was given already.
    fn is_stale(&self, item: &Item) -> bool {
        let Item::Message(Posted { delivers: Some(run), .. }) = item else { return false };
        self.state.delegated.get(run).is_some_and(|delegated| delegated.read)
    }

    fn act(&mut self, item: Item) {
        match item {
            // Only of a terminated thread, or stale: it will never be answered.
            Item::Message(posted) => self.refuse(posted),
            Item::ChildEnded { child, run, ending, quiet, note } => {
                self.child_ended(child, &Return { run, ending, quiet, note });
            }
            Item::ChildFinished { child, ending } => self.child_finished(child, &ending),
            Item::ChildTerminated { child, run } => self.child_terminated(child, run.as_ref()),
            Item::ChildReported { child, status, for_others } => {
                // What it does for somebody else is not to be seen while it works for this thread.
                let is_stale = |known: &Child| known.terminated || (for_others && known.is_live());
                if self.state.children.get(&child).is_some_and(|known| !is_stale(known)) {
                    self.emit(Event::ChildReported { child, status });
                }
            }
            Item::Call { call } => self.called(&call),
            Item::Variables { request, child, variables, fingerprint: _ } => {
                self.variables_given(request, child, variables)
            }
            Item::CloseRequest { request } => self.close_request(request),
            Item::ChildInterrupted { child, run } => self.child_interrupted(child, &run),
            Item::Interrupt { run } => self.halt(&run),
            Item::Resume { run, message } => self.go_on_with(run, message),
            Item::Cancel { run } => self.cancel(&run),
            Item::Stop => self.stop(),
            Item::Terminate => self.terminate(),
        }
    }

    /// What follows once the input and the mail are dealt with.
    fn go_on(&mut self) {
        let is_free = |session: &Session| session.open == 0 && !session.interrupted;
        if std::mem::take(&mut self.settled) && self.state.session.as_ref().is_some_and(is_free) {
            self.advance();
        }
        if self.state.terminated.is_none() && self.begins_by_itself() {
            self.start_session();
        }
        // A session that ends while messages wait is followed by the next one at once.
        while self.state.session.is_none() && self.state.terminated.is_none() && !self.mail.is_empty() {
            self.start_session();
        }
    }
}
