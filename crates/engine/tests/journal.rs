//! Journals that were written once stay readable: `golden/journal-v1.jsonl` has every event that the first version began
//! with, `golden/journal-v1-relations.jsonl`, `…-dialects.jsonl`, `…-folders.jsonl` and `…-hooks.jsonl` what came later.

use entourage_engine::ThreadState;
use entourage_model::{
    Body as _, Event, Item, JOURNAL_VERSION, Name, Rest, RunStatus, ThreadStatus, Timestamp, Usage, Wait,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

const VERSION_1: &str = include_str!("golden/journal-v1.jsonl");

const RELATIONS: &str = include_str!("golden/journal-v1-relations.jsonl");
/// What the dialects brought later, in the same version.
const DIALECTS: &str = include_str!("golden/journal-v1-dialects.jsonl");
/// What hooks brought later, in the same version.
const HOOKS: &str = include_str!("golden/journal-v1-hooks.jsonl");
/// How a child begins that works where its caller does.
const FOLDERS: &str = include_str!("golden/journal-v1-folders.jsonl");

fn read(journal: &str) -> Vec<Event> {
    journal.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn events() -> Vec<Event> {
    read(VERSION_1)
}

fn fold(journal: &[Event]) -> ThreadState {
    ThreadState::fold(journal).expect("the first event")
}

#[test]
fn every_event_of_the_first_version_is_read_and_written_again_as_it_was() {
    assert_eq!(JOURNAL_VERSION, 1, "a new version needs a golden journal of its own beside this one");
    for journal in [VERSION_1, RELATIONS, DIALECTS, FOLDERS, HOOKS] {
        for (line, event) in journal.lines().zip(read(journal)) {
            assert_eq!(event.to_json().expect(line), line);
            assert!(line.starts_with(&format!(r#"{{"type":"{}""#, event.kind())), "{line}");
        }
    }
}

#[test]
fn the_golden_journals_have_every_kind_of_event() {
    let first: BTreeSet<usize> = events().iter().map(kind).collect();
    assert_eq!(first, (0..25).collect(), "what was written once is not changed");
    let later = read(RELATIONS).into_iter().chain(read(DIALECTS)).chain(read(HOOKS));
    let all: BTreeSet<usize> = first.into_iter().chain(later.map(|event| kind(&event))).collect();
    assert_eq!(all, (0..42).collect(), "add a line to the later golden journal, or take the kind back");
}

#[test]
fn a_thread_that_was_told_of_no_folder_works_in_the_project() {
    let team = entourage_model::Team::default();
    assert_eq!(fold(&read(DIALECTS)).folder(&team), None);
    assert_eq!(fold(&read(FOLDERS)).folder(&team).as_deref(), Some("agents/digger/workspace"));
}

/// Data that names the call which an ending answers is older than the rule that only the asker knows it.
#[test]
fn what_names_the_call_that_an_ending_answers_is_read_as_if_it_did_not() {
    const NAMED: &str = r#","call":"p1""#;
    fn check<T: DeserializeOwned + PartialEq + Debug>(old: &str) {
        let new = old.replace(NAMED, "");
        assert_ne!(new, old);
        let read = |text: &str| serde_json::from_str::<T>(text).expect("it is read");
        assert_eq!(read(old), read(&new));
    }
    let thread = "01936a00-0000-7000-8000-000000000201";
    let ending = r#""ending":{"outcome":"done","text":"it"},"quiet":false"#;
    check::<Item>(&format!(r#"{{"child_ended":{{"child":"{thread}","run":"r1"{NAMED},{ending}}}}}"#));
    check::<Item>(&format!(r#"{{"child_terminated":{{"child":"{thread}","run":"r1"{NAMED}}}}}"#));
    let posted = VERSION_1.lines().find(|line| line.contains("reply_to")).expect("somebody asked");
    let thread = "\"thread\":\"01936a00-0000-7000-8000-0000000000ff\"";
    check::<Event>(&posted.replace(thread, &format!("{thread}{NAMED}")));
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
        Event::VariablesSet { .. } => 16,
        Event::ValueSet { .. } => 17,
        Event::Injected { .. } => 18,
        Event::MessageReplaced { .. } => 19,
        Event::MessageDeleted { .. } => 20,
        Event::CallQueued { .. } => 21,
        Event::FilePut(_) => 22,
        Event::FileRemoved { .. } => 23,
        Event::Emitted { .. } => 24,
        Event::ChildReleased { .. } => 25,
        Event::Activated { .. } => 26,
        Event::HandedOff { .. } => 27,
        Event::VariablesRequested(_) => 28,
        Event::RequestClosed { .. } => 29,
        Event::ChildAwaited { .. } => 30,
        Event::RunDismissed { .. } => 31,
        Event::RunRead { .. } => 32,
        Event::CallJoined { .. } => 33,
        Event::ChildInterrupted { .. } => 34,
        Event::ChildResumed { .. } => 35,
        Event::SessionInterrupted => 36,
        Event::SessionResumed { .. } => 37,
        Event::TaskSaved(_) => 38,
        Event::PromptAnswered { .. } => 39,
        Event::CreationHeard => 40,
        Event::HookFailed { .. } => 41,
    }
}

#[test]
fn the_golden_journal_folds_to_what_it_tells() {
    let journal = events();
    let state = fold(&journal);
    assert_eq!((state.seq, state.status()), (journal.len() as u64, ThreadStatus::Terminated));
    assert_eq!((state.rest, state.terminated), (Rest::Failed, Some(Timestamp(1_700_000_009_000_000))));
    assert_eq!((state.agent, state.transcript.len()), (Name::from("boss"), 10));
    // What a tool changed of what was said: the answer has another call, one line is put right and one is gone.
    let calls: Vec<_> = state.transcript[1].tool_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["k1", "k2", "k3", "k4", "queued_1_4"]);
    assert_eq!(state.transcript[2].content, "bob was paid once");
    assert_eq!(state.numbers, [3, 4, 13, 22, 24, 27, 28, 29, 30, 31]);
    let variables: Vec<_> = state.variables.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(variables, [("REGION", "north"), ("TOKEN", "t0k3n")]);
    assert_eq!(state.values, BTreeMap::from([("count".to_owned(), json!({"paid": 1}))]));
    assert_eq!(state.usage, Usage { input_tokens: 10, output_tokens: 2, steps: 1 });
    // The child that could be written to again is still listed; the other one was over with its ending.
    let children: Vec<_> =
        state.children.values().map(|child| (child.link.agent.as_str(), child.status.as_str())).collect();
    assert_eq!((children, state.children_live), (vec![("helper", "terminated")], 0));
}

#[test]
fn the_later_golden_journal_folds_to_what_it_tells() {
    let state = fold(&read(RELATIONS));
    assert_eq!((state.agent.as_str(), state.status()), ("clerk", ThreadStatus::Running));
    assert_eq!((state.activated, state.transcript.len()), ([false; 2], 2), "an activation without calls is no line");
    let session = state.session.as_ref().expect("it goes on");
    assert_eq!((session.is_asked, session.open, session.asks.len()), (true, 0, 1));
    let open: Vec<_> = state.requests.values().map(|request| request.entry.name().as_str()).collect();
    assert_eq!(open, ["aide"], "the others are closed");
    assert!(state.variables["TOKEN"].is_sealed());
    let waits: Vec<_> = state.children.values().flat_map(|child| child.runs.iter().map(|(_, wait)| wait)).collect();
    assert_eq!(waits, [&Wait::Background]);
    assert_eq!(state.usage, Usage { input_tokens: 3, output_tokens: 2, steps: 1 });
}

#[test]
fn a_fold_of_any_beginning_of_the_golden_journal_does_not_fail() {
    for journal in [events(), read(RELATIONS)] {
        for length in 1..=journal.len() {
            assert_eq!(fold(&journal[..length]).seq, length as u64);
        }
    }
}

#[test]
fn what_the_dialects_write_stays_readable() {
    let journal: Vec<Event> = DIALECTS.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for (line, event) in DIALECTS.lines().zip(&journal) {
        assert_eq!(serde_json::to_string(event).expect(line), line);
    }
    let kinds: BTreeSet<usize> = journal.iter().map(kind).collect();
    assert!((30..=38).all(|new| kinds.contains(&new)), "{kinds:?}");
    let state = fold(&journal);
    let session = state.session.as_ref().expect("it goes on");
    assert_eq!((session.interrupted, session.deadline), (false, Timestamp(1_700_007_200_000_000)));
    assert_eq!((session.open, session.unstarted, session.waiting), (3, 2, 1));
    let task = &state.tasks[0];
    let assignment = task.assignment.as_ref().expect("it is somebody's");
    assert_eq!(
        (task.id.as_str(), assignment.status, assignment.response.as_deref()),
        ("item-1", RunStatus::Done, Some("seen"))
    );
    assert!(state.delegated.values().all(|run| run.status.is_terminal()), "{:?}", state.delegated);
}

#[test]
fn what_hooks_write_stays_readable() {
    let state = fold(&read(HOOKS));
    assert!(state.started.hooked && state.creation_heard);
    assert_eq!((state.values.len(), state.status()), (1, ThreadStatus::Idle), "a failure changes nothing");
}
