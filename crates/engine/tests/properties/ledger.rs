//! Books about runs: whoever asks is told exactly once, and nobody is told what another asked for.

use crate::actor::Actor;
use crate::laws::{Broken, hold};
use crate::moves::{Asker, request};
use entourage_engine::Decision;
use entourage_model::{Event, Item, Posted, RunId, ThreadId, Write};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Every letter that was ever given, by its number.
    letters: BTreeMap<u64, Item>,
    /// The runs that this thread was asked for, and whether they have ended.
    asked: BTreeMap<RunId, Posted>,
    taken: BTreeSet<RunId>,
    ended: BTreeSet<RunId>,
    replied: BTreeSet<RunId>,
    /// The runs of children whose result was queued here as a message.
    news: BTreeSet<RunId>,
    delivered: BTreeSet<RunId>,
}

impl Ledger {
    pub(crate) fn note(&mut self, number: u64, item: Item) {
        if let Item::Message(posted) = &item
            && let Some(run) = &posted.run
        {
            self.asked.insert(run.clone(), posted.clone());
        }
        self.letters.insert(number, item);
    }

    /// A run that nobody asked for before: no run is ever asked for twice.
    pub(crate) fn ask(&self, asker: Asker) -> Posted {
        request(self.asked.len(), asker)
    }

    /// A run of this thread; now and then one that it will only be asked for later.
    pub(crate) fn own_run(&self, nth: usize) -> RunId {
        format!("r{}", nth % (self.asked.len() + 1)).into()
    }

    /// A letter that came before. A message comes once: its sender's transaction sees to that.
    pub(crate) fn again(&self, nth: usize) -> Option<Item> {
        let letters: Vec<&Item> = self.letters.values().filter(|item| !item.is_message()).collect();
        letters.get(nth % letters.len().max(1)).map(|item| (*item).clone())
    }

    /// Books one decision.
    pub(crate) fn book(&mut self, actor: &Actor, decision: &Decision) -> Result<(), Broken> {
        for number in decision.consumed.iter().chain(&decision.buried) {
            if let Some(Item::Message(Posted { run: Some(run), .. })) = self.letters.get(number) {
                self.taken.insert(run.clone());
            }
        }
        let terminates = decision.events.iter().any(|event| matches!(event, Event::Terminated { .. }));
        let is_terminated = actor.state.terminated.is_some() && !terminates;
        decision.writes.iter().try_for_each(|write| self.book_write(is_terminated, write))?;
        let open: BTreeSet<RunId> = self.taken.difference(&self.ended).cloned().collect();
        let asks = actor.state.session.iter().flat_map(|session| &session.asks);
        let asks: BTreeSet<RunId> = asks.map(|ask| ask.run.clone()).collect();
        hold(open == asks, || format!("taken and not ended: {open:?}, but the session answers {asks:?}"))
    }

    fn book_write(&mut self, is_terminated: bool, write: &Write) -> Result<(), Broken> {
        match write {
            Write::EndRun { run, .. } if self.asked.contains_key(run) => {
                hold(self.ended.insert(run.clone()), || format!("{run} ended twice"))
            }
            Write::DeliveredRun { run } => {
                hold(self.delivered.insert(run.clone()), || format!("{run} was delivered twice"))
            }
            Write::Deliver { to, item } => self.book_letter(is_terminated, *to, item),
            Write::EndRun { .. }
            | Write::Spawn(_)
            | Write::NewRun(_)
            | Write::StartRun { .. }
            | Write::InterruptRun { .. }
            | Write::CancelRun { .. }
            | Write::PutFile { .. }
            | Write::RemoveFile { .. }
            | Write::SetAgent { .. } => Ok(()),
        }
    }

    fn book_letter(&mut self, is_terminated: bool, to: ThreadId, item: &Item) -> Result<(), Broken> {
        match item {
            Item::ChildEnded { run, .. } | Item::ChildTerminated { run: Some(run), .. } => self.book_reply(to, run),
            Item::Message(Posted { delivers: Some(run), .. }) => {
                hold(!is_terminated, || "a terminated thread writes to itself".to_owned())?;
                hold(self.news.insert(run.clone()), || format!("{run} was news twice"))
            }
            Item::Message(_)
            | Item::ChildFinished { .. }
            | Item::ChildTerminated { run: None, .. }
            | Item::ChildReported { .. }
            | Item::Variables { .. }
            | Item::CloseRequest { .. }
            | Item::Call { .. }
            | Item::ChildInterrupted { .. }
            | Item::Interrupt { .. }
            | Item::Resume { .. }
            | Item::Cancel { .. }
            | Item::Stop
            | Item::Terminate => Ok(()),
        }
    }

    fn book_reply(&mut self, to: ThreadId, run: &RunId) -> Result<(), Broken> {
        let asker = self.asked.get(run).and_then(|posted| posted.reply_to.as_ref());
        hold(asker.is_some_and(|asker| asker.thread == to), || format!("{to} is told of {run}, asked by {asker:?}"))?;
        hold(self.ended.contains(run), || format!("{to} is told of {run} before it ended"))?;
        hold(self.replied.insert(run.clone()), || format!("{to} is told twice of {run}"))
    }

    /// Once nothing is left to do: every run that was taken has ended, and whoever asked was told.
    pub(crate) fn close(&self) -> Result<(), Broken> {
        hold(self.taken == self.ended, || format!("taken {:?}, ended {:?}", self.taken, self.ended))?;
        let asked_for = |run: &&RunId| self.asked.get(*run).is_some_and(|posted| posted.reply_to.is_some());
        let due: BTreeSet<RunId> = self.taken.iter().filter(asked_for).cloned().collect();
        hold(due == self.replied, || format!("to be told {due:?}, told {:?}", self.replied))
    }
}
