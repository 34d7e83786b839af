//! The brain of the fan-out benchmark, made to cost next to nothing: it searches bytes instead of parsing JSON and
//! answers with bytes that were written beforehand.
//!
//! A request marked `[[parent:N]]` is the parent's: N calls of `worker`, then "all done". Any other is a child's: one
//! call of `read_file`, then "done".

use std::time::Duration;

use serde_json::json;

use super::answer::{Stamp, Usage};
use super::ids::Ids;
use super::{Brain, Dialect, Reply, Request, chat_completions};

const PARENT: &str = "[[parent:";
const ASSISTANT: [&str; 2] = [r#""role":"assistant""#, r#""role": "assistant""#];
const TOOL_RESULT: [&str; 4] =
    [r#""role":"tool""#, r#""role": "tool""#, r#""type":"tool_result""#, r#""type": "tool_result""#];
const STREAM: [&str; 2] = [r#""stream":true"#, r#""stream": true"#];
const USAGE: [&str; 2] = [r#""include_usage":true"#, r#""include_usage": true"#];

/// Stands in an answer where its id will be.
const ID: &str = "@id@";

#[derive(Debug)]
pub struct Fanout {
    latency: Duration,
    ids: Ids,
    read_file: Prebuilt,
    done: Prebuilt,
    all_done: Prebuilt,
}

impl Fanout {
    /// `latency` comes before the first byte of every answer.
    pub fn new(latency: Duration) -> Fanout {
        Fanout {
            latency,
            ids: Ids::new(),
            read_file: Prebuilt::new(&read_file()),
            done: Prebuilt::new(&Reply::text("done")),
            all_done: Prebuilt::new(&Reply::text("all done")),
        }
    }

    fn chat_completion(&self, body: &str) -> Reply {
        let (form, id) = (Form::of(body), self.ids.next());
        let answer = match Role::of(body) {
            // Written on demand, as N is known only now; it happens once in a benchmark.
            Role::Parent { workers } => Template::new(&call_workers(workers), form).fill(&id),
            Role::ParentAtItsEnd => self.all_done.in_form(form).fill(&id),
            Role::Child => self.read_file.in_form(form).fill(&id),
            Role::ChildAtItsEnd => self.done.in_form(form).fill(&id),
        };
        Reply::raw(answer, form.content_type())
    }
}

impl Brain for Fanout {
    fn reply(&self, request: &Request) -> Reply {
        let body = str::from_utf8(request.bytes()).unwrap_or_default();
        let reply = match request.dialect() {
            Dialect::ChatCompletions => self.chat_completion(body),
            Dialect::Messages => match Role::of(body) {
                Role::Parent { workers } => call_workers(workers),
                Role::ParentAtItsEnd => Reply::text("all done"),
                Role::Child => read_file(),
                Role::ChildAtItsEnd => Reply::text("done"),
            },
        };
        reply.after(self.latency)
    }
}

/// Who asks, and where in its conversation it is.
enum Role {
    Parent { workers: usize },
    ParentAtItsEnd,
    Child,
    ChildAtItsEnd,
}

impl Role {
    fn of(body: &str) -> Role {
        if body.contains(PARENT) {
            if has(body, &TOOL_RESULT) {
                return Role::ParentAtItsEnd;
            }
            return Role::Parent { workers: workers(body) };
        }
        if has(body, &ASSISTANT) { Role::ChildAtItsEnd } else { Role::Child }
    }
}

fn has(body: &str, needles: &[&str]) -> bool {
    needles.iter().any(|needle| body.contains(needle))
}

/// N of the mark; a mark without a number asks for no workers.
fn workers(body: &str) -> usize {
    let number = body.split_once(PARENT).and_then(|(_, rest)| rest.split_once("]]"));
    number.and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
}

fn read_file() -> Reply {
    Reply::call("read_file", json!({ "path": "note.txt" }))
}

fn call_workers(count: usize) -> Reply {
    Reply::calls((1..=count).map(|job| ("worker", json!({ "message": format!("job {job}") }))))
}

/// How a chat completion asks to be answered.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Streamed,
    StreamedWithUsage,
}

impl Form {
    fn of(body: &str) -> Form {
        match (has(body, &STREAM), has(body, &USAGE)) {
            (false, _) => Form::Plain,
            (true, false) => Form::Streamed,
            (true, true) => Form::StreamedWithUsage,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Form::Plain => "application/json",
            Form::Streamed | Form::StreamedWithUsage => "text/event-stream",
        }
    }
}

/// One reply in every form.
#[derive(Debug)]
struct Prebuilt {
    plain: Template,
    streamed: Template,
    streamed_with_usage: Template,
}

impl Prebuilt {
    fn new(reply: &Reply) -> Prebuilt {
        Prebuilt {
            plain: Template::new(reply, Form::Plain),
            streamed: Template::new(reply, Form::Streamed),
            streamed_with_usage: Template::new(reply, Form::StreamedWithUsage),
        }
    }

    fn in_form(&self, form: Form) -> &Template {
        match form {
            Form::Plain => &self.plain,
            Form::Streamed => &self.streamed,
            Form::StreamedWithUsage => &self.streamed_with_usage,
        }
    }
}

/// The bytes of an answer with holes where its id belongs.
#[derive(Debug)]
struct Template {
    pieces: Vec<String>,
    length: usize,
}

impl Template {
    fn new(reply: &Reply, form: Form) -> Template {
        let message = reply.message().expect("the benchmark's replies are messages");
        let usage = match form {
            Form::Plain | Form::Streamed => Usage::Hidden,
            Form::StreamedWithUsage => Usage::Shown,
        };
        // The size of a usual request: the real one is not known beforehand.
        let stamp = Stamp { model: "fake", id: ID, tokens: message.tokens_for(1024), usage };
        let answer = match form {
            Form::Plain => chat_completions::plain(message, &stamp).into(),
            Form::Streamed | Form::StreamedWithUsage => {
                let mut events = chat_completions::beginning(message, &stamp);
                events.extend(chat_completions::ending(message, &stamp));
                events.concat()
            }
        };
        let answer = str::from_utf8(&answer).expect("answers are JSON");
        Template { pieces: answer.split(ID).map(str::to_owned).collect(), length: answer.len() }
    }

    fn fill(&self, id: &str) -> String {
        let mut filled = String::with_capacity(self.length + self.pieces.len() * id.len());
        for (index, piece) in self.pieces.iter().enumerate() {
            if index > 0 {
                filled.push_str(id);
            }
            filled.push_str(piece);
        }
        filled
    }
}
