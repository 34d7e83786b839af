//! A thread in the hands of a test: what the runtime does with it, without a store and without a clock.

use crate::hook::echo;
use crate::laws::{Broken, Flights, fold, hold, keep};
use crate::team::Setup;
use entourage_engine::{Cue, Decision, Input, Letter, Mail, ThreadState, World, looks_at_files, step};
use entourage_model::{Event, Item, Timestamp, Write};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) setup: Setup,
    pub(crate) state: ThreadState,
    pub(crate) mail: Mail,
    pub(crate) journal: Vec<Event>,
    pub(crate) flights: Flights,
    /// The time that has passed, but for what the events took.
    hour: Timestamp,
    /// How many letters it was ever given; their numbers count from 1.
    letters: u64,
}

impl Actor {
    /// A thread that nobody has written to.
    pub(crate) fn new(setup: Setup) -> Self {
        let journal = vec![Event::Started(setup.started.clone())];
        Self::born(setup, journal)
    }

    /// A thread with these events, which nobody has taken up.
    pub(crate) fn born(setup: Setup, journal: Vec<Event>) -> Self {
        Self {
            state: fold(&journal),
            setup,
            mail: Mail::new(),
            journal,
            flights: Flights::default(),
            hour: Timestamp(1_000_000),
            letters: 0,
        }
    }

    /// Puts a letter into the queue, where it waits for the next input. Returns its number.
    pub(crate) fn post(&mut self, item: Item) -> u64 {
        self.letters += 1;
        self.mail.push_back(Letter { number: self.letters, item });
        self.letters
    }

    pub(crate) fn pass_time(&mut self, time: Duration) {
        self.hour = self.hour.after(time);
    }

    /// One step. What the thread writes to itself lies in its queue afterwards.
    #[expect(clippy::needless_pass_by_value, reason = "what was fed is used up, whatever hooks make of it")]
    pub(crate) fn feed(&mut self, input: Input) -> Result<Decision, Broken> {
        match &input {
            Input::Answered(_) | Input::Advised { .. } => self.flights.model = false,
            Input::ToolEnded { call, .. } => _ = self.flights.tools.remove(call),
            Input::Resumed | Input::Mail | Input::Tick | Input::Broke { .. } => {}
        }
        let before: BTreeSet<u64> = self.mail.iter().map(|letter| letter.number).collect();
        let none = BTreeMap::new();
        // Whoever drives a thread looks its files up only then.
        let looks = looks_at_files(&self.setup.world(), &self.state, &input);
        let files = if looks { &self.setup.files } else { &none };
        let (now, seed, mut echoes) = (self.now(), self.seed(), Vec::new());
        let decision = loop {
            let world = World { files, echoes: &echoes, ..self.setup.world() };
            let (mut state, mut mail) = (self.state.clone(), self.mail.clone());
            let mut decision = step(&world, &mut state, &mut mail, Cue { now, seed, input: input.clone() });
            match decision.pause.take() {
                Some(pause) => echoes.push(echo(&self.setup, *pause)),
                None => {
                    (self.state, self.mail) = (state, mail);
                    break decision;
                }
            }
        };
        self.no_letter_is_lost(&before, &decision)?;
        self.journal.extend(decision.events.iter().cloned());
        self.flights.begin(&decision.effects)?;
        keep(&self.setup, &self.journal, (&self.state, &decision), &self.flights)?;
        self.write_to_itself(&decision);
        Ok(decision)
    }

    /// The process dies: what is in flight is lost, the journal and the queue are not.
    pub(crate) fn crash(&mut self) -> Result<Decision, Broken> {
        self.flights = Flights::default();
        self.state = fold(&self.journal);
        self.setup.since = self.now();
        self.feed(Input::Resumed)
    }

    /// Every event takes a millisecond, so that identifiers are sorted by the decision that made them.
    fn now(&self) -> Timestamp {
        self.hour.after(Duration::from_millis(self.journal.len() as u64))
    }

    /// The same after a crash as without one, and another for every decision that leaves a trace.
    fn seed(&self) -> u64 {
        let (_, tail) = self.state.id().uuid().as_u64_pair();
        tail.wrapping_add(self.journal.len() as u64)
    }

    fn no_letter_is_lost(&self, before: &BTreeSet<u64>, decision: &Decision) -> Result<(), Broken> {
        let left = self.mail.iter().map(|letter| letter.number);
        let mut after: Vec<u64> = left.chain(decision.consumed.iter().chain(&decision.buried).copied()).collect();
        after.sort_unstable();
        hold(after.iter().eq(before), || format!("letters {before:?} became {after:?}"))?;
        let left: Vec<u64> = self.mail.iter().map(|letter| letter.number).collect();
        hold(left.is_sorted(), || format!("the queue is out of order: {left:?}"))
    }

    fn write_to_itself(&mut self, decision: &Decision) {
        for write in &decision.writes {
            if let Write::Deliver { to, item } = write
                && *to == self.state.id()
            {
                self.post((**item).clone());
            }
        }
    }
}
