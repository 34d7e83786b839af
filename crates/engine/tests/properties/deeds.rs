//! What a tool may have done, drawn at random: what is allowed and what is not.

use crate::actor::Actor;
use crate::moves::{ending, message, nth_of};
use crate::team::parent;
use entourage_engine::Input;
use entourage_model::{
    Act, CallId, Digest, FileRow, Ids, Message, MessageId, Outcome, Role, StopSession, ThreadId, Timestamp,
    VariableValue,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

/// Numbers choose among what there is; where there is nothing, it is nonsense.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    SetValue {
        forget: bool,
    },
    SetVariable,
    Inject(Role),
    Replace(usize),
    Delete(usize),
    Queue(Whom),
    Notify,
    SetStatus,
    PutFile,
    RemoveFile,
    QueueTool(&'static str),
    Emit,
    Stop(Outcome),
    Terminate(Whom),
    /// Of a run that has ended.
    Read(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Whom {
    Itself,
    Parent,
    Child(usize),
    Stranger,
}

/// The end of a call that did nothing to its thread.
pub(crate) fn ended(call: CallId, outcome: Outcome, text: String) -> Input {
    Input::ToolEnded { call, outcome, text, attachments: Vec::new(), acts: Vec::new(), facts: Vec::new() }
}

/// Most calls do nothing to their thread.
pub(crate) fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    prop_oneof![Just(Vec::new()), prop::collection::vec(deed(), 1..5)]
}

fn deed() -> impl Strategy<Value = Deed> {
    let role = prop::sample::select(vec![Role::User, Role::System, Role::Assistant, Role::Tool]);
    let tool = prop::sample::select(vec![
        "look",
        "pay",
        "note",
        "finish",
        "report",
        "fetch",
        "writer",
        "helper",
        "clerk",
        "subagent_create",
    ]);
    let outcome = prop::sample::select(vec![Outcome::Done, Outcome::Failed]);
    prop_oneof![
        1 => any::<bool>().prop_map(|forget| Deed::SetValue { forget }),
        1 => Just(Deed::SetVariable),
        2 => role.prop_map(Deed::Inject),
        2 => (0..20usize).prop_map(Deed::Replace),
        4 => (0..20usize).prop_map(Deed::Delete),
        2 => whom().prop_map(Deed::Queue),
        1 => Just(Deed::Notify),
        1 => Just(Deed::SetStatus),
        1 => Just(Deed::PutFile),
        1 => Just(Deed::RemoveFile),
        4 => tool.prop_map(Deed::QueueTool),
        1 => Just(Deed::Emit),
        1 => outcome.prop_map(Deed::Stop),
        1 => whom().prop_map(Deed::Terminate),
        2 => (0..9usize).prop_map(Deed::Read),
    ]
}

fn whom() -> impl Strategy<Value = Whom> {
    prop_oneof![Just(Whom::Itself), Just(Whom::Parent), (0..9usize).prop_map(Whom::Child), Just(Whom::Stranger),]
}

impl Deed {
    pub(crate) fn act(&self, actor: &Actor) -> Act {
        match self {
            Self::SetValue { forget } => {
                let value = if *forget { json!(null) } else { json!({"n": actor.journal.len()}) };
                Act::SetValue { key: "k".to_owned(), value }
            }
            Self::SetVariable => Act::SetVariable { name: "A".to_owned(), value: VariableValue::text("1") },
            Self::Inject(role) => Act::InjectMessage(Arc::new(Message { role: *role, ..new_message(actor) })),
            Self::Replace(nth) => {
                Act::ReplaceMessage(Arc::new(Message { content: "other".to_owned(), ..line(actor, *nth) }))
            }
            Self::Delete(nth) => Act::DeleteMessage { id: line(actor, *nth).id },
            Self::Queue(whom) => {
                Act::QueueMessage { to: whom.thread(actor), message: Arc::new(new_message(actor)), files: vec![file()] }
            }
            Self::Notify => Act::NotifyParent { text: "by the way".to_owned() },
            Self::SetStatus => Act::SetStatus { status: "busy".to_owned() },
            Self::PutFile => Act::PutFile(file()),
            Self::RemoveFile => Act::RemoveFile { path: "/f".to_owned() },
            Self::QueueTool(name) => Act::QueueTool {
                name: (*name).into(),
                arguments: json!({"agent": "mate", "message": "m", "name": "n", "answer": "a"}).to_string(),
            },
            Self::Emit => Act::Emit { name: "e".to_owned(), data: json!(1) },
            Self::Stop(outcome) => {
                Act::StopSession(Box::new(StopSession { ending: ending(*outcome), status: None, quiet: false }))
            }
            Self::Terminate(whom) => Act::Terminate { thread: whom.thread(actor) },
            Self::Read(nth) => {
                let running: Vec<_> = crate::moves::runs(actor).into_iter().map(|(_, run)| run).collect();
                let ended = actor.state.delegated.keys().filter(|run| !running.contains(run));
                match nth_of(ended.cloned(), *nth) {
                    Some(run) => Act::ReadRun { run },
                    None => Act::Emit { name: "nothing".to_owned(), data: json!(0) },
                }
            }
        }
    }
}

impl Whom {
    fn thread(self, actor: &Actor) -> ThreadId {
        let stranger = Ids::new(Timestamp(0), 98).thread();
        match self {
            Self::Itself => actor.state.id(),
            Self::Parent => parent(),
            Self::Child(nth) => nth_of(actor.state.children.keys().copied(), nth).unwrap_or(stranger),
            Self::Stranger => stranger,
        }
    }
}

/// An id of its own, as long as a call does not say two things.
fn new_message(actor: &Actor) -> Message {
    Message { id: new_id(actor), ..message("injected") }
}

fn new_id(actor: &Actor) -> MessageId {
    Ids::new(Timestamp(0), 10_000 + actor.journal.len() as u64).message()
}

fn line(actor: &Actor, nth: usize) -> Message {
    let unknown = || Message { id: new_id(actor), ..message("unknown") };
    nth_of(&actor.state.transcript, nth).map_or_else(unknown, |message| (**message).clone())
}

fn file() -> FileRow {
    FileRow {
        path: "/f".to_owned(),
        digest: Digest::of(b"content"),
        size: 7,
        mime_type: "text/plain".to_owned(),
        created_at: Timestamp(0),
    }
}
