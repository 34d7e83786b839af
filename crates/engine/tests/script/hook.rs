//! Hooks of a test's team: code that needs no engine of its own.
//!
//! `count` puts aside how often it has run, under its name · `shout` puts capitals in the place of what it was given ·
//! `mend` makes a result a good one · `remove` forgets a call · `block WHY` and `arguments JSON` are about a call · `queue TEXT` writes to the
//! thread itself · `end TEXT` stops the session · `terminate` ends the thread · `fail WHY` comes to no orderly end.

use crate::team::Setup;
use entourage_engine::{Change, Echo, Occasion, Pause, ThreadState, foresee, listeners, permit};
use entourage_model::{Act, Ending, Hook, Ids, Message, Name, Outcome, Program, Role, Source, StopSession, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The deed stands in the place of the code.
pub(crate) fn hook(event: &str, deed: &str) -> Hook {
    Hook {
        event: event.to_owned(),
        program: Arc::new(Program { entry: deed.to_owned(), modules: BTreeMap::new() }),
        source: Source { format: "standard-agents".to_owned(), file: None },
    }
}

/// What comes of the occasion at which a decision was given up.
pub(crate) fn echo(setup: &Setup, pause: Pause) -> Echo {
    let Pause { occasion, mut state } = pause;
    let hooks: Vec<(Name, String)> = listeners(&setup.team, &state, occasion.name())
        .into_iter()
        .map(|(name, hook)| (name.clone(), hook.program.entry.clone()))
        .collect();
    let (mut change, mut acts) = (Change::Nothing, Vec::new());
    for (name, deed) in hooks {
        let (verb, text) = deed.split_once(' ').unwrap_or((&deed, ""));
        change = match verb {
            "shout" => shouted(&occasion, change),
            "mend" => mended(&occasion),
            "remove" => Change::Removed,
            "block" => Change::Blocked(text.to_owned()),
            "arguments" => with_arguments(&occasion, text),
            _ => change,
        };
        let act = act(&name, verb, text, (&state, &occasion));
        if let Some(act) = act.filter(|act| permit(&setup.world(), &state, act).is_ok()) {
            foresee(&mut state, &act);
            acts.push(act);
        }
    }
    Echo { occasion, change, acts }
}

fn act(name: &Name, verb: &str, text: &str, (state, occasion): (&ThreadState, &Occasion)) -> Option<Act> {
    let text = text.to_owned();
    Some(match verb {
        "count" => {
            let before = state.values.get(name.as_str()).and_then(serde_json::Value::as_u64).unwrap_or_default();
            Act::SetValue { key: name.to_string(), value: json!(before + 1) }
        }
        "queue" => {
            let id = Ids::new(Timestamp(0), 900 + state.seq).message();
            let message = Arc::new(Message::new(id, Role::User, text, Timestamp(0)));
            Act::QueueMessage { to: state.id(), message, files: Vec::new() }
        }
        "end" => {
            let ending = Ending { outcome: Outcome::Done, text, attachments: Vec::new(), limit: None };
            Act::StopSession(Box::new(StopSession { ending, status: None, quiet: false }))
        }
        "terminate" => Act::Terminate { thread: state.id() },
        "fail" => Act::NoteHookFailure { hook: name.clone(), occasion: occasion.name().to_owned(), why: text },
        _ => return None,
    })
}

fn shouted(occasion: &Occasion, before: Change) -> Change {
    match (occasion, before) {
        (Occasion::MessageComing(message), _) => {
            let content = message.content.to_uppercase();
            Change::Message(Arc::new(Message { content, ..(**message).clone() }))
        }
        (
            Occasion::CallSucceeded { result, .. }
            | Occasion::CallFailed { result, .. }
            | Occasion::ResultComing { result, .. },
            _,
        ) => {
            let mut result = result.clone();
            result.text = result.text.to_uppercase();
            Change::Result(result)
        }
        (_, before) => before,
    }
}

fn mended(occasion: &Occasion) -> Change {
    let Occasion::CallFailed { result, .. } = occasion else { return Change::Nothing };
    let mut result = result.clone();
    (result.outcome, result.text) = (Outcome::Done, "mended".to_owned());
    Change::Result(result)
}

fn with_arguments(occasion: &Occasion, arguments: &str) -> Change {
    let Occasion::CallComing(call) = occasion else { return Change::Nothing };
    let mut call = call.clone();
    arguments.clone_into(&mut call.arguments);
    Change::Call(call)
}
