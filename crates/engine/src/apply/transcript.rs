//! Changing what was said: messages that are put in another's place or taken out.

use crate::state::{Session, ThreadState};
use entourage_model::{Message, MessageId, Role};
use std::sync::Arc;

/// Puts the message in the place of the one with its id; without one it changes nothing.
pub(super) fn replace(state: &mut ThreadState, message: &Arc<Message>) {
    let Some(place) = place_of(state, message.id) else { return };
    state.transcript[place] = Arc::clone(message);
    let Some(session) = &mut state.session else { return };
    for kept in [&mut session.answer, &mut session.last_text].into_iter().flatten() {
        if kept.id == message.id {
            *kept = Arc::clone(message);
        }
    }
}

/// Takes the message out. With an answer go the results of its calls, which nobody could read without it.
pub(super) fn delete(state: &mut ThreadState, id: MessageId) {
    let Some(place) = place_of(state, id) else { return };
    let message = take(state, place);
    if message.role == Role::Assistant && !message.tool_calls.is_empty() {
        delete_results(state, &message, place);
    }
    let Some(session) = &mut state.session else { return };
    if session.last_text.as_ref().is_some_and(|text| text.id == id) {
        session.last_text = last_text(&state.transcript[session.first..]);
    }
}

fn place_of(state: &ThreadState, id: MessageId) -> Option<usize> {
    // What is changed was mostly said a moment ago.
    state.transcript.iter().rposition(|message| message.id == id)
}

/// The results that lie from `first` on, up to the next answer: behind it the same ids mean other calls.
fn delete_results(state: &mut ThreadState, answer: &Message, first: usize) {
    let mut place = first;
    while let Some(message) = state.transcript.get(place).filter(|message| !is_answer(message)) {
        let id = message.tool_call_id.as_ref();
        if id.is_some_and(|id| answer.tool_calls.iter().any(|call| call.id == *id)) {
            take(state, place);
        } else {
            place += 1;
        }
    }
}

/// One line less: what counts lines counts on.
fn take(state: &mut ThreadState, place: usize) -> Arc<Message> {
    state.numbers.remove(place);
    if let Some(Session { first, turn_first, .. }) = &mut state.session {
        for mark in [first, turn_first] {
            *mark -= usize::from(*mark > place);
        }
    }
    state.transcript.remove(place)
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.side.is_some()
}

fn last_text(said: &[Arc<Message>]) -> Option<Arc<Message>> {
    said.iter().rev().find(|message| is_answer(message) && !message.content.trim().is_empty()).cloned()
}
