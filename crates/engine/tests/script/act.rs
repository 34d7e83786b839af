//! What a tool did, as a part of a script's line.
//!
//! `value KEY JSON` · `env NAME VALUE` · `secret NAME VALUE` · `inject ROLE TEXT` · `replace N TEXT` · `delete N`, where N is
//! a line of the transcript, from 0 · `queue THREAD TEXT [&PATH…]` · `notify TEXT` · `status TEXT` · `put PATH` ·
//! `remove PATH` · `call TOOL ARGUMENTS` · `emit NAME JSON` · `end[_quietly] OUTCOME TEXT` · `end_as STATUS OUTCOME TEXT` ·
//! `terminate THREAD` · `read RUN`.

use crate::read::{Reader, cut, ending, message};
use crate::team::file;
use entourage_model::{Act, Attachment, Ending, Ids, Message, Role, StopSession, Timestamp, VariableValue};
use serde_json::Value;
use std::sync::Arc;

impl Reader<'_> {
    pub(crate) fn act(&mut self, text: &str) -> Act {
        let (verb, rest) = cut(text);
        let (first, second) = cut(rest);
        let (name, text) = (first.to_owned(), second.to_owned());
        match verb {
            "value" => Act::SetValue { key: name, value: json(second) },
            "env" => Act::SetVariable { name, value: VariableValue::text(text) },
            "secret" => Act::SetVariable { name, value: VariableValue::secret(text) },
            "inject" => Act::InjectMessage(Arc::new(Message { role: role(first), ..self.new_message(second) })),
            "replace" => Act::ReplaceMessage(Arc::new(Message { content: text, ..self.line(first) })),
            "delete" => Act::DeleteMessage { id: self.line(first).id },
            "queue" => self.queue(first, second),
            "notify" => Act::NotifyParent { text: rest.to_owned() },
            "status" => Act::SetStatus { status: rest.to_owned() },
            "put" => Act::PutFile(file(first)),
            "remove" => Act::RemoveFile { path: name },
            "call" => Act::QueueTool { name: first.into(), arguments: text },
            "emit" => Act::Emit { name, data: json(second) },
            "end" => stop(ending(rest), None, false),
            "end_quietly" => stop(ending(rest), None, true),
            "end_as" => stop(ending(second), Some(name), false),
            "read" => Act::ReadRun { run: self.names.run_named(first) },
            _ => {
                assert_eq!(verb, "terminate", "no such act");
                Act::Terminate { thread: self.names.thread_named(first) }
            }
        }
    }

    fn queue(&mut self, to: &str, text: &str) -> Act {
        let to = self.names.thread_named(to);
        let Ending { text, attachments, .. } = ending(&format!("done {text}"));
        let files = attachments.iter().map(|Attachment { path, .. }| file(path)).collect();
        let message = Message { attachments, ..self.new_message(&text) };
        Act::QueueMessage { to, message: Arc::new(message), files }
    }

    /// Later lines have later ids.
    fn new_message(&self, text: &str) -> Message {
        let id = Ids::new(Timestamp(0), 500 + self.transcript.len() as u64).message();
        Message { id, ..message(text) }
    }

    fn line(&self, number: &str) -> Message {
        let number: usize = number.parse().expect("the number of a line");
        (*self.transcript[number]).clone()
    }
}

fn stop(ending: Ending, status: Option<String>, quiet: bool) -> Act {
    Act::StopSession(Box::new(StopSession { ending, status, quiet }))
}

fn role(word: &str) -> Role {
    serde_json::from_value(word.into()).expect("a role")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
