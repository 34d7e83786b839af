//! Keeping the values of secret and scoped variables from whoever reads what code says: a tool or hook may read them, models, people
//! and journals may not.
//!
//! Two things are the code's own affair, since it has to read them again as they are: what it puts aside for itself
//! (values, variables) and what it writes to files.

use super::door::ThreadDoor;
use entourage_model::{Act, Fact, Message, StopSession};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is shorter could be anything, and is no secret worth the name.
const SECRET_BYTES_MIN: usize = 6;

/// The values that nobody may read, and what is read in their place. A longer one comes first: it may hold a shorter one,
/// whose mark would leave the rest of it to be read.
struct Secrets(Vec<(String, String)>);

impl Secrets {
    fn new(held: impl Iterator<Item = (String, String)>) -> Self {
        let mut held: Vec<_> = held.map(|(name, value)| (value, format!("[the secret {name}]"))).collect();
        held.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(held)
    }

    /// The values are looked for as they are and as JSON writes them.
    fn hidden(&self, text: String) -> String {
        self.0.iter().fold(text, |text, (value, mark)| {
            let escaped = Value::from(value.as_str()).to_string();
            text.replace(&escaped[1..escaped.len() - 1], mark).replace(value.as_str(), mark)
        })
    }

    fn hidden_in(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hidden(text)),
            Value::Array(list) => list.into_iter().map(|value| self.hidden_in(value)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(key, value)| (self.hidden(key), self.hidden_in(value))).collect()
            }
            Value::Number(number) => self.mark_of(&number.to_string()).map_or(Value::Number(number), Value::from),
            same @ (Value::Null | Value::Bool(_)) => same,
        }
    }

    /// What is read in the place of a text that is a secret as a whole.
    fn mark_of(&self, text: &str) -> Option<&str> {
        self.0.iter().find(|(value, _)| value == text).map(|(_, mark)| mark.as_str())
    }

    fn hidden_in_message(&self, message: Arc<Message>) -> Arc<Message> {
        let mut message = Arc::unwrap_or_clone(message);
        message.content = self.hidden(message.content);
        message.metadata = message.metadata.into_iter().map(|(key, value)| (key, self.hidden_in(value))).collect();
        Arc::new(message)
    }

    fn hidden_in_act(&self, act: Act) -> Act {
        match act {
            Act::InjectMessage(message) => Act::InjectMessage(self.hidden_in_message(message)),
            Act::ReplaceMessage(message) => Act::ReplaceMessage(self.hidden_in_message(message)),
            Act::QueueMessage { to, message, files } => {
                Act::QueueMessage { to, message: self.hidden_in_message(message), files }
            }
            Act::NotifyParent { text } => Act::NotifyParent { text: self.hidden(text) },
            Act::SetStatus { status } => Act::SetStatus { status: self.hidden(status) },
            // The model reads the call.
            Act::QueueTool { name, arguments } => Act::QueueTool { name, arguments: self.hidden(arguments) },
            Act::Emit { name, data } => Act::Emit { name, data: self.hidden_in(data) },
            Act::StopSession(stop) => {
                let StopSession { mut ending, status, quiet } = *stop;
                ending.text = self.hidden(ending.text);
                let status = status.map(|status| self.hidden(status));
                Act::StopSession(Box::new(StopSession { ending, status, quiet }))
            }
            own @ (Act::SetValue { .. } | Act::SetVariable { .. } | Act::PutFile(_)) => own,
            mute @ (Act::DeleteMessage { .. }
            | Act::RemoveFile { .. }
            | Act::AskPrompt { .. }
            | Act::Terminate { .. }
            | Act::ReadRun { .. }
            | Act::NoteHookFailure { .. }) => mute,
        }
    }
}

impl ThreadDoor {
    /// A text of the code, such as what it gives back or throws, as others may read it.
    pub(super) fn without_secrets(&self, text: String) -> String {
        match self.secrets() {
            Some(secrets) => secrets.hidden(text),
            None => text,
        }
    }

    /// The same for what a hook gives.
    pub(super) fn value_without_secrets(&self, value: Value) -> Value {
        match self.secrets() {
            Some(secrets) => secrets.hidden_in(value),
            None => value,
        }
    }

    /// The same for what the code does.
    pub(super) fn act_without_secrets(&self, act: Act) -> Act {
        match self.secrets() {
            Some(secrets) => secrets.hidden_in_act(act),
            None => act,
        }
    }

    /// The same for what it had others do.
    pub(super) fn fact_without_secrets(&self, fact: Fact) -> Fact {
        match fact {
            Fact::ReadFile { path } => Fact::ReadFile { path: self.without_secrets(path) },
            Fact::ChangedFile { path } => Fact::ChangedFile { path: self.without_secrets(path) },
            Fact::RanCommand { command, exit_code } => {
                Fact::RanCommand { command: self.without_secrets(command), exit_code }
            }
        }
    }

    fn secrets(&self) -> Option<Secrets> {
        let names = self.secret_names();
        if names.is_empty() {
            return None;
        }
        let known = self.variables(&self.desk().state);
        let held = known.into_iter().filter(|(name, value)| names.contains(name) && value.len() >= SECRET_BYTES_MIN);
        Some(Secrets::new(held))
    }

    /// The variables that the team hides, and those that were given or set as secrets, whatever is declared.
    fn secret_names(&self) -> BTreeSet<String> {
        let desk = self.desk();
        let set = desk.state.variables.iter().filter(|(_, value)| value.is_secret()).map(|(name, _)| name.as_str());
        self.team.hidden().chain(set).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets(held: &[(&str, &str)]) -> Secrets {
        Secrets::new(held.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn of_a_secret_that_holds_another_nothing_is_left() {
        let secrets = secrets(&[("A", "hunter2"), ("B", "hunter2-and-more"), ("C", "of hunter2")]);
        let told = secrets.hidden("hunter2-and-more, of hunter2, hunter2".to_owned());
        assert_eq!(told, "[the secret B], [the secret C], [the secret A]");
    }

    #[test]
    fn a_secret_is_no_number_either() {
        let secrets = secrets(&[("PIN", "4711001"), ("RATE", "12.5001")]);
        let told = secrets.hidden_in(json!({ "pin": 4_711_001, "rate": [12.5001], "other": 4711, "yes": true }));
        let expected = json!({ "pin": "[the secret PIN]", "rate": ["[the secret RATE]"], "other": 4711, "yes": true });
        assert_eq!(told, expected);
    }
}
