//! What holds after every step of every thread, whatever the input was.

use crate::team::Setup;
use entourage_engine::{Call, CallState, Decision, Effect, Session, ThreadState};
use entourage_model::{CallId, EffectClass, Event, Line, ModelRequest, Role, ThreadStatus, Wait};
use std::collections::BTreeSet;

/// Why a law does not hold.
pub(crate) type Broken = String;

/// What is being done outside for the thread, as its decisions asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    pub(crate) model: bool,
    pub(crate) tools: BTreeSet<CallId>,
}

impl Flights {
    /// Takes the effects off; none may be in flight already.
    pub(crate) fn begin(&mut self, effects: &[Effect]) -> Result<(), Broken> {
        for effect in effects {
            let is_new = match effect {
                Effect::Abort => {
                    *self = Self::default();
                    true
                }
                Effect::CancelRemote(_) => true,
                Effect::CallModel(_) => !std::mem::replace(&mut self.model, true),
                Effect::CallTool { call, .. } | Effect::Look { call, .. } => self.tools.insert(call.id.clone()),
            };
            hold(is_new, || format!("{effect:?} was in flight already"))?;
        }
        Ok(())
    }

    pub(crate) fn are_none(&self) -> bool {
        !self.model && self.tools.is_empty()
    }
}

/// Every law that one state and the decision that led to it must keep.
pub(crate) fn keep(
    setup: &Setup,
    journal: &[Event],
    (state, decision): (&ThreadState, &Decision),
    flights: &Flights,
) -> Result<(), Broken> {
    state_is_the_fold(journal, state)?;
    events_survive_json(&decision.events)?;
    counters_match(state)?;
    waiting_calls_have_a_child(state)?;
    running_means_in_flight(state, flights)?;
    effects_are_allowed(setup, state, &decision.effects)
}

fn state_is_the_fold(journal: &[Event], state: &ThreadState) -> Result<(), Broken> {
    let folded = fold(journal);
    hold(folded == *state, || format!("the fold of the journal is\n{folded:#?}\nbut the state is\n{state:#?}"))
}

pub(crate) fn fold(journal: &[Event]) -> ThreadState {
    ThreadState::fold(journal).expect("a journal begins with `Started`")
}

fn events_survive_json(events: &[Event]) -> Result<(), Broken> {
    events.iter().try_for_each(|event| {
        let text = serde_json::to_string(event).expect("an event is written");
        let read: Event = serde_json::from_str(&text).map_err(|fault| format!("{text} is not read: {fault}"))?;
        hold(read == *event, || format!("{text} is read as {read:?}"))
    })
}

fn counters_match(state: &ThreadState) -> Result<(), Broken> {
    let live = state.children.values().filter(|child| !child.runs.is_empty() && !child.interrupted).count();
    hold(live == state.children_live as usize, || format!("children_live is {}, counted {live}", state.children_live))?;
    let numbered = state.numbers.len() == state.transcript.len() && state.numbers.is_sorted();
    hold(numbered, || format!("{} lines have the numbers {:?}", state.transcript.len(), state.numbers))?;
    let goes_on = state.session.as_ref().is_some_and(|session| !session.interrupted);
    hold(state.wake_at().is_some() == goes_on, || "only a session has a deadline, unless it stands still".to_owned())?;
    let Some(session) = &state.session else { return Ok(()) };
    let count = |counts: fn(&Call) -> bool| session.calls.iter().filter(|call| counts(call)).count();
    let counted = [
        count(|call| !matches!(call.state, CallState::Ended(_))),
        count(|call| call.state == CallState::Asked),
        count(|call| matches!(call.state, CallState::Waiting(_) | CallState::Joining)),
    ];
    let kept = [session.open, session.unstarted, session.waiting];
    hold(kept == counted, || format!("open, unstarted, waiting are {kept:?}, counted {counted:?}"))?;
    let joining = session.calls.iter().filter(|call| call.state == CallState::Joining);
    let joins: BTreeSet<_> = joining.map(|call| &call.call.id).collect();
    hold(joins == session.joins.keys().collect(), || format!("joins {:?} of {joins:?}", session.joins))?;
    places_match(session)
}

fn places_match(session: &Session) -> Result<(), Broken> {
    let found = |(place, call): (usize, &Call)| session.places.get(&call.call.id) == Some(&place);
    let all = session.calls.iter().enumerate().all(found) && session.places.len() == session.calls.len();
    hold(all, || format!("places {:?} of calls {:?}", session.places, session.calls))
}

/// Else nothing could ever answer the call.
fn waiting_calls_have_a_child(state: &ThreadState) -> Result<(), Broken> {
    let calls = state.session.iter().flat_map(|session| &session.calls);
    for call in calls {
        let CallState::Waiting(child) = call.state else { continue };
        let waits = |wait: &Wait| wait.call() == Some(&call.call.id);
        let known = state.children.get(&child).is_some_and(|child| child.runs.iter().any(|(_, wait)| waits(wait)));
        hold(known, || format!("call {:?} waits for a child without a run for it", call.call.id))?;
    }
    Ok(())
}

fn running_means_in_flight(state: &ThreadState, flights: &Flights) -> Result<(), Broken> {
    let status = state.status();
    hold((status == ThreadStatus::Running) != flights.are_none(), || format!("{status:?} with {flights:?}"))?;
    let thinking = state.session.as_ref().is_some_and(|session| session.open == 0 && !session.interrupted);
    hold(thinking == flights.model, || format!("thinking: {thinking}, with {flights:?}"))?;
    let open = |id: &CallId| state.session.as_ref().is_some_and(|session| session.open_call(id).is_some());
    hold(flights.tools.iter().all(open), || format!("{flights:?} without an open call"))
}

fn effects_are_allowed(setup: &Setup, state: &ThreadState, effects: &[Effect]) -> Result<(), Broken> {
    for effect in effects {
        let ends = matches!(effect, Effect::Abort | Effect::CancelRemote(_));
        let ended = state.terminated.is_some() && !ends;
        hold(!ended, || format!("{effect:?} of a terminated thread"))?;
        match effect {
            Effect::Abort | Effect::CancelRemote(_) | Effect::Look { .. } => {}
            Effect::CallModel(request) => results_follow_their_calls(request)?,
            Effect::CallTool { call, .. } => {
                let recorded = state.session.as_ref().is_some_and(|session| {
                    session.open_call(&call.id).is_some_and(|place| session.calls[place].state == CallState::Started)
                });
                let pure = setup.world().class(None, &call.name) == Some(EffectClass::Pure);
                hold(pure || recorded, || format!("{effect:?} begins without a record"))?;
            }
        }
    }
    Ok(())
}

/// Every provider insists on it: behind an answer with calls come their results, all of them, in call order.
fn results_follow_their_calls(request: &ModelRequest) -> Result<(), Broken> {
    let mut due: Vec<&CallId> = Vec::new();
    for line in &request.lines {
        let result = match line {
            Line::Message { role: Role::Tool, message, .. } => message.tool_call_id.as_ref(),
            Line::Message { .. } | Line::System(_) => None,
        };
        let expected = if due.is_empty() { None } else { Some(due.remove(0)) };
        hold(result == expected, || format!("expected the result of {expected:?}, found {line:?}"))?;
        due.extend(line.tool_calls().iter().map(|call| &call.id));
    }
    hold(due.is_empty(), || format!("no result of {due:?}"))
}

pub(crate) fn hold(law: bool, why: impl FnOnce() -> Broken) -> Result<(), Broken> {
    if law { Ok(()) } else { Err(why()) }
}
