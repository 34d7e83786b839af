//! What can happen to a store, as data. Numbers stand for threads, leases and runs that the player knows by then.

use entourage_model::{Outcome, ThreadStatus};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Create { items: usize, run: bool, claim: bool },
    CreateOnce { key: u8, request: u8, run: bool, claim: bool },
    Enqueue(Enqueue),
    Claim { node: usize, tree: Option<usize> },
    Commit(Box<Commit>),
    Release { lease: usize },
    Register,
    Heartbeat { node: usize },
    Sweep,
    Advance { seconds: u64 },
    Delete { thread: usize },
    RequestCancel { run: usize },
    MarkDelivered { run: usize },
    PutFile { thread: usize, path: u8, content: u8 },
    DeleteFile { thread: usize, path: u8 },
}

#[derive(Clone, Debug)]
pub(super) struct Enqueue {
    pub(super) thread: usize,
    pub(super) key: Option<u8>,
    pub(super) text: u8,
    pub(super) stop: bool,
    pub(super) run: bool,
    pub(super) claim: bool,
    pub(super) messages_max: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Commit {
    pub(super) lease: usize,
    /// Says a wrong number of events.
    pub(super) wrong_seq: bool,
    pub(super) events: usize,
    /// Numbers of lines, which need not wait.
    pub(super) consumed: Vec<u64>,
    pub(super) buried: Vec<u64>,
    pub(super) status: ThreadStatus,
    /// Knows of every line; else only of those that its claim held.
    pub(super) sees_all: bool,
    pub(super) wakes: bool,
    pub(super) tokens: u64,
    pub(super) claim: bool,
    pub(super) children_total: u32,
    pub(super) writes: Vec<Write>,
}

#[derive(Clone, Debug)]
pub(super) enum Write {
    Spawn { items: usize, run: bool },
    Deliver { thread: usize },
    NewRun { thread: usize },
    StartRun { run: usize },
    EndRun { run: usize, outcome: Outcome, limit: bool },
    DeliveredRun { run: usize },
    PutFile { thread: usize, path: u8, content: u8 },
    RemoveFile { thread: usize, path: u8 },
}

pub(super) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    vec(operation(), 1..80)
}

fn operation() -> impl Strategy<Value = Operation> {
    let number = || 0..12_usize;
    prop_oneof![
        3 => (0..3_usize, any::<bool>(), any::<bool>())
            .prop_map(|(items, run, claim)| Operation::Create { items, run, claim }),
        2 => (0..3_u8, 0..2_u8, any::<bool>(), any::<bool>())
            .prop_map(|(key, request, run, claim)| Operation::CreateOnce { key, request, run, claim }),
        6 => enqueue().prop_map(Operation::Enqueue),
        4 => (number(), option::of(number())).prop_map(|(node, tree)| Operation::Claim { node, tree }),
        12 => commit().prop_map(|commit| Operation::Commit(Box::new(commit))),
        2 => number().prop_map(|lease| Operation::Release { lease }),
        1 => Just(Operation::Register),
        1 => number().prop_map(|node| Operation::Heartbeat { node }),
        1 => Just(Operation::Sweep),
        // No sum of these is a node's life or a thread's sleep: a real clock may run a little ahead of the model's.
        2 => prop_oneof![Just(7), Just(16)].prop_map(|seconds| Operation::Advance { seconds }),
        1 => number().prop_map(|thread| Operation::Delete { thread }),
        1 => number().prop_map(|run| Operation::RequestCancel { run }),
        1 => number().prop_map(|run| Operation::MarkDelivered { run }),
        1 => (number(), 0..3_u8, 0..2_u8)
            .prop_map(|(thread, path, content)| Operation::PutFile { thread, path, content }),
        1 => (number(), 0..3_u8).prop_map(|(thread, path)| Operation::DeleteFile { thread, path }),
    ]
}

fn enqueue() -> impl Strategy<Value = Enqueue> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (0..12_usize, option::of(0..2_u8), 0..2_u8, flags, 1..6_u32).prop_map(
        |(thread, key, text, (stop, run, claim), messages_max)| Enqueue {
            thread,
            key,
            text,
            stop,
            run,
            claim,
            messages_max,
        },
    )
}

fn commit() -> impl Strategy<Value = Commit> {
    let guard = (0..12_usize, prop_oneof![9 => Just(false), 1 => Just(true)], 0..8_u32);
    let lines = (vec(1..5_u64, 0..3), vec(1..5_u64, 0..2), any::<bool>());
    let flags = (any::<bool>(), 0..9_u64, any::<bool>());
    (guard, 0..3_usize, lines, status(), flags, vec(write(), 0..4)).prop_map(
        |((lease, wrong_seq, children_total), events, lines, status, (wakes, tokens, claim), writes)| Commit {
            lease,
            wrong_seq,
            events,
            consumed: lines.0,
            buried: lines.1,
            status,
            sees_all: lines.2,
            wakes,
            tokens,
            claim,
            children_total,
            writes,
        },
    )
}

fn status() -> impl Strategy<Value = ThreadStatus> {
    prop_oneof![
        6 => Just(ThreadStatus::Running),
        3 => Just(ThreadStatus::Idle),
        3 => Just(ThreadStatus::Waiting),
        1 => Just(ThreadStatus::Ready),
        1 => Just(ThreadStatus::Done),
        1 => Just(ThreadStatus::Failed),
        1 => Just(ThreadStatus::Terminated),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let outcome =
        prop_oneof![Just(Outcome::Done), Just(Outcome::Failed), Just(Outcome::Cancelled), Just(Outcome::Unknown)];
    prop_oneof![
        3 => (0..3_usize, any::<bool>()).prop_map(|(items, run)| Write::Spawn { items, run }),
        4 => (0..12_usize).prop_map(|thread| Write::Deliver { thread }),
        1 => (0..12_usize).prop_map(|thread| Write::NewRun { thread }),
        1 => (0..12_usize).prop_map(|run| Write::StartRun { run }),
        2 => (0..12_usize, outcome, any::<bool>())
            .prop_map(|(run, outcome, limit)| Write::EndRun { run, outcome, limit }),
        1 => (0..12_usize).prop_map(|run| Write::DeliveredRun { run }),
        // One content in nine is nowhere, and takes the whole commit with it.
        2 => (0..12_usize, 0..3_u8, prop_oneof![4 => Just(0), 4 => Just(1), 1 => Just(2)])
            .prop_map(|(thread, path, content)| Write::PutFile { thread, path, content }),
        1 => (0..12_usize, 0..3_u8).prop_map(|(thread, path)| Write::RemoveFile { thread, path }),
    ]
}
