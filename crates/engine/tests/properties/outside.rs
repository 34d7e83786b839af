//! An outside that always does the same: it answers whatever is in flight, and ends whatever children have to do.

use crate::actor::Actor;
use crate::deeds::ended;
use crate::laws::{Broken, hold};
use crate::moves::{ending, runs, with_references};
use entourage_engine::{Decision, Input};
use entourage_model::{Item, ModelAnswer, Outcome};

/// No thread of these tests needs more inputs to come to rest.
const INPUTS_MAX: usize = 2_000;

/// The answers that the model still has; afterwards it says the same words for ever.
#[derive(Clone, Debug)]
pub(crate) struct Outside {
    pub(crate) answers: Vec<ModelAnswer>,
}

impl Outside {
    /// What happens next; nothing once the thread rests and its children do too.
    pub(crate) fn next(&mut self, actor: &mut Actor) -> Option<Input> {
        if actor.flights.model {
            let words = ModelAnswer { text: "that is all".to_owned(), ..ModelAnswer::default() };
            let answer = if self.answers.is_empty() { words } else { self.answers.remove(0) };
            return Some(Input::Answered(Ok(with_references(answer, actor))));
        }
        if let Some(call) = actor.flights.tools.first() {
            let text = format!("result of {call}");
            return Some(ended(call.clone(), Outcome::Done, text));
        }
        if actor.state.session.is_none() && !actor.mail.is_empty() {
            return Some(Input::Mail);
        }
        let halted = actor.state.session.as_ref().filter(|session| session.interrupted);
        if let Some(ask) = halted.and_then(|session| session.asks.first()).cloned() {
            actor.post(Item::Resume { run: ask.run, message: None });
            return Some(Input::Mail);
        }
        let (child, run) = runs(actor).into_iter().next()?;
        actor.post(Item::ChildEnded { child, run, ending: ending(Outcome::Done), quiet: false, note: None });
        Some(Input::Mail)
    }

    /// Goes on until the thread rests; `crashes` says before which inputs the process dies.
    pub(crate) fn settle(
        &mut self,
        actor: &mut Actor,
        mut crashes: impl FnMut() -> bool,
        mut book: impl FnMut(&Actor, &Decision) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        for _ in 0..INPUTS_MAX {
            if crashes() {
                let decision = actor.crash()?;
                book(actor, &decision)?;
            }
            let Some(input) = self.next(actor) else { return Ok(()) };
            let decision = actor.feed(input)?;
            book(actor, &decision)?;
        }
        hold(false, || format!("the thread does not come to rest: {:?}", actor.state))
    }
}
