//! What a client says of a task beside the work itself.

use crate::fault::Fault;
use crate::label;
use entourage_model::{Message, Name};
use entourage_runtime::Outgoing;
use serde_json::Value;

/// What a message calls the context that came with it.
const BESIDE: &str = "context";

/// How much of what happens a client wants to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    #[default]
    Status,
    Full,
    Verbose,
}

impl Detail {
    const ALL: [(&'static str, Self); 3] = [("status", Self::Status), ("full", Self::Full), ("verbose", Self::Verbose)];

    /// A word that nobody knows asks for the least.
    pub(super) fn of(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, detail)| detail).unwrap_or_default()
    }

    /// What the client of a task has said beside its request.
    pub(super) fn of_request(message: &Message) -> Self {
        let context = message.metadata.get(BESIDE).and_then(|context| text(context, "detail"));
        context.as_deref().map(Self::of).unwrap_or_default()
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) user_id: Option<String>,
    /// Tasks of one session are one conversation.
    session: Option<String>,
    /// Tools that must not be called. A rule for some calls of a tool only is one for all of them here.
    pub(super) denied: Vec<Name>,
    /// As it was given.
    given: Option<Value>,
}

impl Context {
    /// What cannot be understood is left out: clients of other versions say other things.
    pub(super) fn read(context: Option<&Value>) -> Self {
        let said = |key: &str| text(context?, key);
        let rules = context.and_then(|context| context.get("deny_rules")).and_then(Value::as_array);
        let is_deny = |rule: &&Value| {
            let behavior = rule.get("behavior").and_then(Value::as_str);
            behavior.is_none_or(|behavior| behavior.eq_ignore_ascii_case("deny"))
        };
        let denied = rules.into_iter().flatten().filter(is_deny);
        let denied = denied.filter_map(|rule| rule.get("tool_name")?.as_str()).map(Name::from).collect();
        Self { user_id: said("user_id"), session: said("session_id"), denied, given: context.cloned() }
    }

    /// By what its thread will be found.
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.user_id.iter().try_for_each(|user| label::check(label::USER, user))?;
        self.session_tag().iter().try_for_each(|tag| label::check("`session_id`", tag))
    }

    /// The input as the message that asks for it. The context goes with it, so that it outlives a restart and every task of
    /// a conversation has its own.
    pub(super) fn beside(&self, input: String) -> Outgoing {
        let given = self.given.iter().map(|context| (BESIDE.to_owned(), context.clone()));
        Outgoing { metadata: given.collect(), ..Outgoing::user(input) }
    }

    pub(super) fn session_tag(&self) -> Option<String> {
        self.session.as_ref().map(|session| format!("session:{session}"))
    }
}

fn text(context: &Value, key: &str) -> Option<String> {
    let text = context.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Ids, Timestamp};
    use serde_json::json;

    #[test]
    fn a_context_is_read_as_far_as_it_is_understood() {
        let rules = json!([{"tool_name": "shell", "behavior": "DENY", "rule_content": "rm *"},
            {"tool_name": "read_file", "behavior": "ALLOW"}, {"behavior": "DENY"}, 7]);
        let context =
            json!({"user_id": "ann", "session_id": " s1 ", "detail": "FULL", "stream": true, "deny_rules": rules});
        let read = Context::read(Some(&context));
        assert_eq!((read.user_id.as_deref(), read.denied.clone()), (Some("ann"), vec![Name::from("shell")]));
        assert_eq!(read.session_tag().as_deref(), Some("session:s1"));
        for odd in [None, Some(&json!("text")), Some(&json!({"user_id": 7, "deny_rules": "all"}))] {
            assert_eq!(Context::read(odd), Context { given: odd.cloned(), ..Context::default() });
        }
    }

    #[test]
    fn a_request_brings_how_much_its_client_wants_to_be_told() {
        for (context, detail) in [
            (Some(json!({"detail": "FULL"})), Detail::Full),
            (Some(json!({"detail": "loud"})), Detail::Status),
            (Some(json!("full")), Detail::Status),
            (None, Detail::Status),
        ] {
            let words = Context::read(context.as_ref()).beside("dig".to_owned());
            let mut message =
                Message::new(Ids::new(Timestamp(0), 1).message(), words.role, words.content, Timestamp(0));
            message.metadata = words.metadata;
            assert_eq!(Detail::of_request(&message), detail, "{context:?}");
        }
    }
}
