//! Inputs as the lines of a script.
//!
//! Letters: `message TEXT` · `ask RUN[->THREAD] TEXT` · `ended [CHILD/]RUN [quiet] OUTCOME TEXT [&PATH…]` ·
//! `terminated CHILD [RUN]` · `reported CHILD [for_others] TEXT` · `interrupted CHILD RUN` · `interrupt RUN` · `resume RUN [TEXT]` ·
//! `call CALL TOOL ARGUMENTS` · `variables REQUEST CHILD NAME=VALUE…` · `close REQUEST` · `cancel RUN` · `stop` · `terminate`.
//! Others: `model TEXT | CALL=TOOL ARGUMENTS | …` · `advised TEXT | … [; ACT…]` · `model_failed WHY` · `tool CALL OUTCOME TEXT [&PATH…] [; ACT…] [ ^FACT…]`,
//! where `script/act.rs` has the acts and a fact is `read PATH`, `changed PATH` or `ran CODE COMMAND` · `tick SECONDS|Nms` · `born RUN->THREAD [TEXT]` · `crash [without TOOL]` · `mail` · `broke WHY` · `bury WHY`.

use crate::names::Names;
use entourage_engine::Input;
use entourage_model::{
    Attachment, Digest, Ending, Fact, Ids, Item, Message, ModelAnswer, Name, Outcome, Posted, ReplyTo, Role, RunId,
    ThreadId, Timestamp, ToolCall, Usage, VariableValue,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a line asks the player to do.
#[derive(Debug)]
pub(crate) enum Play {
    Letter(Box<Item>),
    Input(Input),
    Tick(Duration),
    /// The thread is one that its parent made with this request, and it is taken up.
    Born(Box<Posted>),
    /// With a tool that is gone afterwards.
    Crash(Option<Name>),
}

/// Which child was given a run.
pub(crate) type Requests = BTreeMap<RunId, ThreadId>;

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) requests: &'a Requests,
    pub(crate) transcript: &'a [Arc<Message>],
}

impl Reader<'_> {
    pub(crate) fn read(&mut self, line: &str) -> Play {
        let line = self.names.lengthen(line);
        let (verb, rest) = cut(&line);
        match verb {
            "model" => Play::Input(Input::Answered(Ok(answer(rest)))),
            "advised" => {
                let mut parts = rest.split(" ; ");
                let answer = Ok(answer(parts.next().unwrap_or_default()));
                Play::Input(Input::Advised { answer, acts: parts.map(|act| self.act(act)).collect() })
            }
            "far" => Play::Input(Input::Answered(Ok(far(rest)))),
            "model_failed" => Play::Input(Input::Answered(Err(rest.to_owned()))),
            "tool" => {
                let mut facts = rest.split(" ^");
                let mut parts = facts.next().unwrap_or_default().split(" ; ");
                let (call, rest) = cut(parts.next().unwrap_or_default());
                assert!(!rest.is_empty(), "a tool ends with an outcome");
                let Ending { outcome, text, attachments, .. } = ending(rest);
                let acts = parts.map(|act| self.act(act)).collect();
                Play::Input(Input::ToolEnded {
                    call: call.into(),
                    outcome,
                    text,
                    attachments,
                    acts,
                    facts: facts.map(fact).collect(),
                })
            }
            "born" => Play::Born(Box::new(self.request(rest))),
            "tick" => Play::Tick(time(rest)),
            "crash" => Play::Crash(rest.strip_prefix("without ").map(Name::from)),
            "mail" => Play::Input(Input::Mail),
            "broke" => Play::Input(Input::Broke { reason: rest.to_owned(), bury: false }),
            "bury" => Play::Input(Input::Broke { reason: rest.to_owned(), bury: true }),
            _ => Play::Letter(Box::new(self.letter(verb, rest))),
        }
    }

    fn letter(&mut self, verb: &str, rest: &str) -> Item {
        match verb {
            "message" => Item::Message(Posted::plain(message(rest))),
            "ask" => Item::Message(self.request(rest)),
            "ended" => self.ended(rest),
            "finished" => {
                let (child, rest) = cut(rest);
                Item::ChildFinished { child: self.names.thread_named(child), ending: ending(rest) }
            }
            "terminated" => {
                let (child, run) = cut(rest);
                let run = (!run.is_empty()).then(|| self.names.run_named(run));
                Item::ChildTerminated { child: self.names.thread_named(child), run }
            }
            "reported" => {
                let (child, status) = cut(rest);
                let (status, for_others) =
                    status.strip_prefix("for_others ").map_or((status, false), |rest| (rest, true));
                Item::ChildReported { child: self.names.thread_named(child), status: status.to_owned(), for_others }
            }
            "variables" => {
                let mut words = rest.split(' ');
                let request = self.names.request_named(words.next().unwrap_or_default());
                let child = self.names.thread_named(words.next().unwrap_or_default());
                let given = words.map(|word| word.split_once('=').expect("NAME=VALUE"));
                // As the runtime seals them: the test's vault turns a text around.
                let sealed = |value: &str| VariableValue::sealed(value.chars().rev().collect::<String>());
                let variables = given.map(|(name, value)| (name.to_owned(), sealed(value))).collect();
                Item::Variables { request, child, variables, fingerprint: None }
            }
            "close" => Item::CloseRequest { request: self.names.request_named(rest) },
            "call" => {
                let (call, rest) = cut(rest);
                let (tool, arguments) = cut(rest);
                Item::Call { call: ToolCall { id: call.into(), name: tool.into(), arguments: arguments.to_owned() } }
            }
            "interrupted" => {
                let (child, run) = cut(rest);
                Item::ChildInterrupted { child: self.names.thread_named(child), run: self.names.run_named(run) }
            }
            "interrupt" => Item::Interrupt { run: self.names.run_named(rest) },
            "resume" => {
                let (run, text) = cut(rest);
                let message = (!text.is_empty()).then(|| Arc::new(message(text)));
                Item::Resume { run: self.names.run_named(run), message }
            }
            "cancel" => Item::Cancel { run: self.names.run_named(rest) },
            "stop" => Item::Stop,
            _ => {
                assert_eq!(verb, "terminate", "no such input");
                Item::Terminate
            }
        }
    }

    fn request(&mut self, rest: &str) -> Posted {
        let (run, text) = cut(rest);
        let (run, to) = run.split_once("->").map_or((run, None), |(run, to)| (run, Some(to)));
        let reply_to = to.map(|thread| ReplyTo { thread: self.names.thread_named(thread) });
        let run = Some(self.names.run_named(run));
        Posted { run, reply_to, ..Posted::plain(message(text)) }
    }

    fn ended(&mut self, rest: &str) -> Item {
        let (run, rest) = cut(rest);
        let (child, run) = run.split_once('/').map_or((None, run), |(child, run)| (Some(child), run));
        let run = self.names.run_named(run);
        let child = match (child, self.requests.get(&run)) {
            (None, Some(thread)) => *thread,
            (child, _) => self.names.thread_named(child.unwrap_or("nobody's")),
        };
        let (quiet, rest) = rest.strip_prefix("quiet ").map_or((false, rest), |rest| (true, rest));
        let (rest, note) =
            rest.split_once(" noted ").map_or((rest, None), |(rest, note)| (rest, Some(note.to_owned())));
        Item::ChildEnded { child, run, ending: ending(rest), quiet, note }
    }
}

/// Other words have another id.
pub(crate) fn message(text: &str) -> Message {
    let seed = text.bytes().fold(3, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    Message::new(Ids::new(Timestamp(0), seed).message(), Role::User, text, Timestamp(0))
}

fn answer(text: &str) -> ModelAnswer {
    let mut parts = text.split('|').map(str::trim);
    let text = parts.next().unwrap_or_default().to_owned();
    let calls = parts.map(|part| {
        let (call, arguments) = cut(part);
        let (id, name) = call.split_once('=').expect("CALL=TOOL");
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.to_owned() }
    });
    let usage = Usage { input_tokens: 10, output_tokens: 1, steps: 1 };
    ModelAnswer { text, calls: calls.collect(), usage, ..ModelAnswer::default() }
}

/// What another server answers in the place of a model.
fn far(text: &str) -> ModelAnswer {
    if let Some(text) = text.strip_prefix("cancelled ") {
        return ModelAnswer { text: text.to_owned(), cancelled: true, ..ModelAnswer::default() };
    }
    let (text, note) = text.split_once(" noted ").map_or((text, None), |(text, note)| (text, Some(note.to_owned())));
    ModelAnswer { text: text.to_owned(), note, ..ModelAnswer::default() }
}

pub(crate) fn ending(text: &str) -> Ending {
    let (outcome, text) = cut(text);
    let mut files = text.split(" &");
    let text = files.next().unwrap_or_default().to_owned();
    let file = |path: &str| Attachment {
        path: path.to_owned(),
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        mime_type: "text/plain".to_owned(),
        size: 1,
        digest: Some(Digest::of(b"content")),
    };
    Ending { outcome: outcome_named(outcome), text, attachments: files.map(file).collect(), limit: None }
}

fn fact(text: &str) -> Fact {
    let (verb, rest) = cut(text);
    match verb {
        "read" => Fact::ReadFile { path: rest.to_owned() },
        "changed" => Fact::ChangedFile { path: rest.to_owned() },
        _ => {
            assert_eq!(verb, "ran", "no such fact");
            let (code, command) = cut(rest);
            Fact::RanCommand { command: command.to_owned(), exit_code: code.parse().ok() }
        }
    }
}

fn time(text: &str) -> Duration {
    let number = |text: &str| text.parse().expect("a number");
    let millis = text.strip_suffix("ms").map(|text| Duration::from_millis(number(text)));
    millis.unwrap_or_else(|| Duration::from_secs(number(text)))
}

fn outcome_named(word: &str) -> Outcome {
    serde_json::from_value(word.into()).expect("done, failed, cancelled or unknown")
}

/// The first word and the rest.
pub(crate) fn cut(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim())
}
