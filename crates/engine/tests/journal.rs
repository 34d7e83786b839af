//! Journals that were written once stay readable: `golden/journal-v1.jsonl` has every event of the first version.

use entourage_engine::ThreadState;
use entourage_model::{Event, JOURNAL_VERSION, Name, Rest, ThreadStatus, Timestamp, Usage};
use std::collections::BTreeSet;

const VERSION_1: &str = include_str!("golden/journal-v1.jsonl");

fn events() -> Vec<Event> {
    VERSION_1.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn fold(journal: &[Event]) -> ThreadState {
    ThreadState::fold(journal).expect("the first event")
}

#[test]
fn every_event_of_the_first_version_is_read_and_written_again_as_it_was() {
    assert_eq!(JOURNAL_VERSION, 1, "a new version needs a golden journal of its own beside this one");
    for (line, event) in VERSION_1.lines().zip(events()) {
        assert_eq!(serde_json::to_string(&event).expect(line), line);
    }
}

#[test]
fn the_golden_journal_has_every_kind_of_event() {
    let kinds: BTreeSet<usize> = events().iter().map(kind).collect();
    assert_eq!(kinds, (0..16).collect(), "add a line to the golden journal, or take the kind back");
}

/// A kind of its own for every event: a new one does not compile before it has a number here.
fn kind(event: &Event) -> usize {
    match event {
        Event::Started(_) => 0,
        Event::SessionStarted { .. } => 1,
        Event::Posted(_) => 2,
        Event::Answered { .. } => 3,
        Event::CallStarted { .. } => 4,
        Event::CallEnded { .. } => 5,
        Event::ChildStarted(_) => 6,
        Event::ChildAsked { .. } => 7,
        Event::ChildEnded { .. } => 8,
        Event::ChildCancelled { .. } => 9,
        Event::ChildTerminated { .. } => 10,
        Event::ChildReported { .. } => 11,
        Event::RunCancelled { .. } => 12,
        Event::TurnEnded { .. } => 13,
        Event::SessionEnded(_) => 14,
        Event::Terminated { .. } => 15,
    }
}

#[test]
fn the_golden_journal_folds_to_what_it_tells() {
    let journal = events();
    let state = fold(&journal);
    assert_eq!((state.seq, state.status()), (journal.len() as u64, ThreadStatus::Terminated));
    assert_eq!((state.rest, state.terminated), (Rest::Failed, Some(Timestamp(1_700_000_009_000_000))));
    assert_eq!((state.agent, state.transcript.len()), (Name::from("boss"), 8));
    assert_eq!(state.usage, Usage { input_tokens: 10, output_tokens: 2, steps: 1 });
    // The child that could be written to again is still listed; the other one was over with its ending.
    let children: Vec<_> =
        state.children.values().map(|child| (child.link.agent.as_str(), child.status.as_str())).collect();
    assert_eq!((children, state.children_live), (vec![("helper", "terminated")], 0));
}

#[test]
fn a_fold_of_any_beginning_of_the_golden_journal_does_not_fail() {
    let journal = events();
    for length in 1..=journal.len() {
        assert_eq!(fold(&journal[..length]).seq, length as u64);
    }
}
