//! Anything that can happen to a thread, drawn at random: sense and nonsense in any order.

use crate::actor::Actor;
use crate::deeds::{Deed, deeds};
use crate::ledger::Ledger;
use crate::team::parent;
use entourage_engine::Input;
use entourage_model::{
    CallId, Ending, Ids, Item, Message, ModelAnswer, Outcome, Posted, ReplyTo, Role, RunId, ThreadId, Timestamp,
    ToolCall, VariableValue,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// One thing that happens. Numbers choose among what there is; where there is nothing, it is nonsense.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    /// A letter, and whether anybody looks at the mail now.
    Letter(Written, bool),
    Answer(ModelAnswer),
    ModelFails,
    ToolEnds(usize, Outcome, Vec<Deed>),
    Tick(u64),
    Crash,
    Breaks {
        bury: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Written {
    Message,
    Ask(Asker),
    ChildEnds {
        nth: usize,
        outcome: Outcome,
        quiet: bool,
    },
    ChildIsTerminated {
        nth: usize,
        tells_run: bool,
    },
    ChildReports(usize),
    /// Somebody gives what a child waits for, or something else.
    Variables(usize, &'static str),
    /// Somebody takes a request back.
    CloseRequest(usize),
    /// A letter that came before comes again.
    Again(usize),
    Cancel(usize),
    Interrupt(usize),
    Resume(usize),
    ChildIsInterrupted(usize),
    Stop,
    Terminate,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Asker {
    Nobody,
    Parent,
}

/// One for every occasion, and what makes a thread end by one.
const HOOKS: [&str; 12] = [
    "hook made after_thread_created count",
    "hook kin after_subagent_created count",
    "hook loud before_create_message shout",
    "hook said after_create_message count",
    "hook asked tool_call_started count",
    "hook fixed tool_call_done arguments {}",
    "hook good after_tool_call_success shout",
    "hook gone after_tool_call_success remove",
    "hook bad after_tool_call_failure mend",
    "hook kept before_store_tool_result count",
    "hook wrong before_create_message fail it threw",
    "hook enough after_tool_call_failure end enough",
];

/// Agents with everything that changes a decision, small enough that a few moves reach every limit.
pub(crate) fn team() -> impl Strategy<Value = String> {
    let flags = prop::collection::vec(any::<bool>(), 8);
    let hooks = prop::sample::subsequence(HOOKS.to_vec(), 0..HOOKS.len());
    let children = prop::sample::subsequence(vec!["writer", "scout&", "helper*2", "mate*&", "shy*!&", "keen*"], 0..6);
    let dialects = prop::sample::select(vec!["", "dialects=dex", "dialects=agentscope", "dialects=dex,agentscope"]);
    let thread =
        prop::sample::select(vec!["thread boss", "thread boss child", "thread boss child resumable receives=b"]);
    let limits = (1..4u32, 0..5u32, 0..6u32, 0..9u32, 1..6u32);
    (flags, children, thread, limits, dialects, hooks).prop_map(|(flags, children, thread, limits, dialects, hooks)| {
        let (depth, live, left, steps, turns) = limits;
        let word = |nth: usize, word: &'static str| if flags[nth] { word } else { "" };
        let (dual, thread) = if thread.contains("receives") { ("dual", thread) } else { (word(0, "dual"), thread) };
        let names: Vec<_> = hooks.iter().filter_map(|hook| hook.split(' ').nth(1)).collect();
        let listed = if names.is_empty() { String::new() } else { format!("agent_hooks={}", names.join(",")) };
        let kin = if children.is_empty() { String::new() } else { format!("children={}", children.join(",")) };
        format!(
            "{}
             boss {dual} {kin} {listed} tools=look,find,put,pay,note,finish,give_up,report,hand_over steps={steps} turns={turns} {} {} {} {} {} {} {} {}
             clerk tools=look children=writer,scout& immediate=scout handoffs=boss
             keen dual needs=TOKEN
             scribe format=dex
             kid format=agentscope
             tool note
             {thread}
             limits depth={depth} children_live={live} left={left} run_seconds=100",
            hooks.join("\n"),
            word(1, "on_text=go_on"),
            word(2, "stop_tool=hand_over.answer"),
            word(3, "session_stop=finish.summary session_fail=give_up session_status=report"),
            word(4, "past_tools=no chat=no"),
            word(5, "immediate=writer,scout,mate,keen"),
            word(6, "handoffs=clerk:answer files=writer:f,clerk:f"),
            word(7, "optional=writer:A,helper:A,clerk:A"),
            dialects,
        )
    })
}

pub(crate) fn moves() -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(one_move(), 1..60)
}

fn one_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        8 => (written(), prop::bool::weighted(0.8)).prop_map(|(letter, looked_at)| Move::Letter(letter, looked_at)),
        6 => answer(call(), 0..4).prop_map(Move::Answer),
        6 => (0..9usize, outcome(), deeds())
            .prop_map(|(nth, outcome, deeds)| Move::ToolEnds(nth, outcome, deeds)),
        1 => Just(Move::ModelFails),
        1 => (0..150u64).prop_map(Move::Tick),
        1 => Just(Move::Crash),
        1 => any::<bool>().prop_map(|bury| Move::Breaks { bury }),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let asker = prop::sample::select(vec![Asker::Nobody, Asker::Parent]);
    prop_oneof![
        2 => Just(Written::Message),
        4 => asker.prop_map(Written::Ask),
        6 => (0..9usize, outcome(), prop::bool::weighted(0.2))
            .prop_map(|(nth, outcome, quiet)| Written::ChildEnds { nth, outcome, quiet }),
        1 => (0..9usize, any::<bool>()).prop_map(|(nth, tells_run)| Written::ChildIsTerminated { nth, tells_run }),
        1 => (0..9usize).prop_map(Written::ChildReports),
        2 => (0..9usize, prop::sample::select(vec!["TOKEN", "TOKEN", "PIN"]))
            .prop_map(|(nth, name)| Written::Variables(nth, name)),
        1 => (0..9usize).prop_map(Written::CloseRequest),
        1 => (0..9usize).prop_map(Written::Again),
        2 => (0..9usize).prop_map(Written::Cancel),
        1 => (0..9usize).prop_map(Written::Interrupt),
        1 => (0..9usize).prop_map(Written::Resume),
        1 => (0..9usize).prop_map(Written::ChildIsInterrupted),
        1 => Just(Written::Stop),
        1 => prop::bool::weighted(0.2).prop_map(|end| if end { Written::Terminate } else { Written::Stop }),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![Outcome::Done, Outcome::Done, Outcome::Failed, Outcome::Cancelled, Outcome::Unknown])
}

/// An answer with so many calls, whose ids may repeat.
pub(crate) fn answer(
    call: impl Strategy<Value = (String, String)>,
    calls: Range<usize>,
) -> impl Strategy<Value = ModelAnswer> {
    let text = prop::sample::select(vec!["", "words", "other words"]);
    let calls = prop::collection::vec((0..4u8, call), calls);
    (text, calls).prop_map(|(text, calls)| ModelAnswer {
        text: text.to_owned(),
        calls: calls
            .into_iter()
            .map(|(id, (name, arguments))| ToolCall {
                id: format!("k{id}").into(),
                name: name.as_str().into(),
                arguments,
            })
            .collect(),
        ..ModelAnswer::default()
    })
}

fn call() -> impl Strategy<Value = (String, String)> {
    let tools =
        vec!["look", "find", "put", "pay", "note", "finish", "give_up", "report", "hand_over", "fetch", "clerk"];
    let arguments = vec!["{}", "{\"summary\":\"s\",\"answer\":\"7\"}", "{\"summary\":7,\"f\":\"/f\"}", "not JSON"];
    let tool = (prop::sample::select(tools), prop::sample::select(arguments));
    prop_oneof![
        tool.prop_map(|(name, arguments)| (name.to_owned(), arguments.to_owned())),
        child_call(),
        dex_call(),
        agentscope_call()
    ]
}

const REFERENCES: usize = 4;

/// A call that drives children. `@N` in a reference stands for the thread's Nth child.
pub(crate) fn child_call() -> impl Strategy<Value = (String, String)> {
    let direct =
        prop::sample::select(vec!["writer", "scout"]).prop_map(|name| (name, "{\"message\":\"go\"}".to_owned()));
    let create = prop::sample::select(vec!["helper", "mate", "shy", "writer", "keen"]).prop_map(|agent| {
        ("subagent_create", format!("{{\"agent\":\"{agent}\",\"message\":\"go\",\"name\":\"{agent}\"}}"))
    });
    let send = (0..REFERENCES)
        .prop_map(|nth| ("subagent_message", format!("{{\"referenceId\":\"@{nth}\",\"message\":\"more\"}}")));
    prop_oneof![direct, create, send].prop_map(|(name, arguments)| (name.to_owned(), arguments))
}

/// A call of the dex dialect. `#N` stands for the Nth run that the thread asked for.
fn dex_call() -> impl Strategy<Value = (String, String)> {
    let run = any::<bool>().prop_map(|background| {
        (
            "subagent",
            format!("{{\"action\":\"run\",\"profile\":\"scribe\",\"task\":\"go\",\"background\":{background}}}"),
        )
    });
    let actions = prop::sample::select(vec!["status", "interrupt", "interrupt", "resume", "resume"]);
    let act = (actions, 0..REFERENCES, any::<bool>()).prop_map(|(action, nth, background)| {
        let text = format!("{{\"action\":\"{action}\",\"runId\":\"#{nth}\",\"background\":{background}}}");
        ("subagent", text)
    });
    let tasks = prop::sample::select(vec![
        ("subagent_assign_task", "{\"profile\":\"scribe\",\"tasks\":[\"a\",\"b\"],\"start\":true}"),
        ("task_create", "{\"title\":\"t\"}"),
        ("task_delegate", "{\"taskId\":\"item-1\",\"profile\":\"scribe\"}"),
        ("task_start", "{\"taskId\":\"item-2\"}"),
        ("task_join", "{}"),
    ]);
    let tasks = tasks.prop_map(|(name, arguments)| (name, arguments.to_owned()));
    prop_oneof![run, act, tasks].prop_map(|(name, arguments)| (name.to_owned(), arguments))
}

/// A call of the agentscope dialect. `#N` stands for the Nth run that the thread asked for.
pub(crate) fn agentscope_call() -> impl Strategy<Value = (String, String)> {
    let seconds = prop::sample::select(vec![0, 1, 60]);
    let spawn = (seconds.clone(), any::<bool>()).prop_map(|(seconds, labelled)| {
        let label = if labelled { ",\"label\":\"one\"" } else { "" };
        ("agent_spawn", format!("{{\"agent_id\":\"kid\",\"task\":\"go\",\"timeout_seconds\":{seconds}{label}}}"))
    });
    let send = seconds.prop_map(|seconds| {
        ("agent_send", format!("{{\"label\":\"one\",\"message\":\"more\",\"timeout_seconds\":{seconds}}}"))
    });
    let tasks = (prop::sample::select(vec!["task_output", "task_cancel"]), 0..REFERENCES, any::<bool>());
    let tasks = tasks.prop_map(|(tool, nth, block)| (tool, format!("{{\"task_id\":\"#{nth}\",\"block\":{block}}}")));
    let rest = prop::sample::select(vec!["agent_list", "task_list"]).prop_map(|tool| (tool, "{}".to_owned()));
    prop_oneof![3 => spawn, 1 => send, 3 => tasks, 1 => rest].prop_map(|(name, arguments)| (name.to_owned(), arguments))
}

/// The answer with references of real children where it has `@N`, and of real runs where it has `#N`.
pub(crate) fn with_references(mut answer: ModelAnswer, actor: &Actor) -> ModelAnswer {
    for call in &mut answer.calls {
        for nth in 0..REFERENCES {
            let Some(child) = nth_of(actor.state.children.keys(), nth) else { continue };
            call.arguments = call.arguments.replace(&format!("@{nth}\""), &format!("{child}\""));
        }
        for nth in 0..REFERENCES {
            let Some(run) = nth_of(actor.state.delegated.keys(), nth) else { continue };
            call.arguments = call.arguments.replace(&format!("#{nth}\""), &format!("{run}\""));
        }
    }
    answer
}

pub(crate) fn input(drawn: Move, actor: &mut Actor, ledger: &mut Ledger) -> Option<Input> {
    match drawn {
        Move::Letter(written, looked_at) => {
            let item = letter(&written, actor, ledger);
            ledger.note(actor.post(item.clone()), item);
            looked_at.then_some(Input::Mail)
        }
        Move::Answer(answer) => Some(Input::Answered(Ok(with_references(answer, actor)))),
        Move::ModelFails => Some(Input::Answered(Err("no answer".to_owned()))),
        Move::ToolEnds(nth, outcome, deeds) => {
            let call = nth_of(actor.flights.tools.iter().cloned(), nth).unwrap_or_else(|| CallId::from("k1"));
            let acts = deeds.iter().map(|deed| deed.act(actor)).collect();
            let (text, attachments) = ("result".to_owned(), Vec::new());
            Some(Input::ToolEnded { call, outcome, text, attachments, acts, facts: Vec::new() })
        }
        Move::Tick(seconds) => {
            actor.pass_time(Duration::from_secs(seconds));
            Some(Input::Tick)
        }
        Move::Crash => Some(Input::Resumed),
        Move::Breaks { bury } => Some(Input::Broke { reason: "a bug".to_owned(), bury }),
    }
}

fn letter(written: &Written, actor: &Actor, ledger: &Ledger) -> Item {
    let stranger = Ids::new(Timestamp(0), 99).thread();
    let child = |nth: usize| nth_of(actor.state.children.keys().copied(), nth).unwrap_or(stranger);
    match written {
        Written::Message => Item::Message(Posted::plain(message("a word"))),
        Written::Ask(asker) => Item::Message(ledger.ask(*asker)),
        Written::ChildEnds { nth, outcome, quiet } => {
            let (child, run) = nth_of(runs(actor), *nth).unwrap_or((stranger, RunId::from("unknown")));
            Item::ChildEnded { child, run, ending: ending(*outcome), quiet: *quiet, note: None }
        }
        Written::ChildIsTerminated { nth, tells_run } => {
            let child = child(*nth);
            let run = runs(actor).into_iter().find(|(thread, _)| *thread == child).map(|(_, run)| run);
            Item::ChildTerminated { child, run: run.filter(|_| *tells_run) }
        }
        Written::ChildReports(nth) => {
            Item::ChildReported { child: child(*nth), status: "busy".to_owned(), for_others: false }
        }
        Written::Variables(nth, name) => {
            let number = 20_000 + actor.journal.len() as u64;
            let unknown = Ids::new(Timestamp(0), number).request();
            Item::Variables {
                request: nth_of(actor.state.requests.keys().copied(), *nth).unwrap_or(unknown),
                child: Ids::new(Timestamp(0), number).thread(),
                variables: BTreeMap::from([((*name).to_owned(), VariableValue::sealed("1"))]),
                fingerprint: None,
            }
        }
        Written::CloseRequest(nth) => {
            let unknown = Ids::new(Timestamp(0), 99).request();
            Item::CloseRequest { request: nth_of(actor.state.requests.keys().copied(), *nth).unwrap_or(unknown) }
        }
        Written::Again(nth) => ledger.again(*nth).unwrap_or(Item::Stop),
        Written::Cancel(nth) => Item::Cancel { run: ledger.own_run(*nth) },
        Written::Interrupt(nth) => Item::Interrupt { run: ledger.own_run(*nth) },
        Written::Resume(nth) => {
            let said = (*nth > 4).then(|| Arc::new(message("go on")));
            Item::Resume { run: ledger.own_run(*nth), message: said }
        }
        Written::ChildIsInterrupted(nth) => {
            let (child, run) = nth_of(runs(actor), *nth).unwrap_or((stranger, RunId::from("unknown")));
            Item::ChildInterrupted { child, run }
        }
        Written::Stop => Item::Stop,
        Written::Terminate => Item::Terminate,
    }
}

/// Every run that a child has not ended.
pub(crate) fn runs(actor: &Actor) -> Vec<(ThreadId, RunId)> {
    let children = actor.state.children.iter();
    children.flat_map(|(thread, child)| child.runs.iter().map(|(run, _)| (*thread, run.clone()))).collect()
}

pub(crate) fn ending(outcome: Outcome) -> Ending {
    Ending { outcome, text: "an ending".to_owned(), attachments: Vec::new(), limit: None }
}

pub(crate) fn message(text: &str) -> Message {
    Message::new(Ids::new(Timestamp(0), 3).message(), Role::User, text, Timestamp(0))
}

/// The message of a run of this number.
pub(crate) fn request(number: usize, asker: Asker) -> Posted {
    let reply_to = match asker {
        Asker::Nobody => None,
        Asker::Parent => Some(ReplyTo { thread: parent() }),
    };
    Posted { run: Some(format!("r{number}").into()), reply_to, ..Posted::plain(message("a request")) }
}

pub(crate) fn nth_of<T>(some: impl IntoIterator<Item = T>, nth: usize) -> Option<T> {
    let mut some: Vec<T> = some.into_iter().collect();
    if some.is_empty() { None } else { Some(some.swap_remove(nth % some.len())) }
}
