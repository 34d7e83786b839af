//! What a client says of a task beside the work itself.

use entourage_model::Name;
use serde_json::Value;

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

    /// As a thread's tag; so it outlives a restart.
    const TAG: &'static str = "detail:";

    pub(super) fn of_tags(tags: &[String]) -> Self {
        tags.iter().find_map(|tag| tag.strip_prefix(Self::TAG)).map(Self::of).unwrap_or_default()
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) user_id: Option<String>,
    /// Tasks of one session are one conversation.
    session: Option<String>,
    detail: Option<String>,
    /// Tools that must not be called. A rule for some calls of a tool only is one for all of them here.
    pub(super) denied: Vec<Name>,
}

impl Context {
    /// What cannot be understood is left out: clients of other versions say other things.
    pub(super) fn read(context: Option<&Value>) -> Self {
        let text = |key: &str| {
            let text = context?.get(key)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let rules = context.and_then(|context| context.get("deny_rules")).and_then(Value::as_array);
        let is_deny = |rule: &&Value| {
            let behavior = rule.get("behavior").and_then(Value::as_str);
            behavior.is_none_or(|behavior| behavior.eq_ignore_ascii_case("deny"))
        };
        let denied = rules.into_iter().flatten().filter(is_deny);
        let denied = denied.filter_map(|rule| rule.get("tool_name")?.as_str()).map(Name::from).collect();
        Self { user_id: text("user_id"), session: text("session_id"), detail: text("detail"), denied }
    }

    pub(super) fn session_tag(&self) -> Option<String> {
        self.session.as_ref().map(|session| format!("session:{session}"))
    }

    pub(super) fn tags(&self) -> Vec<String> {
        let detail = self.detail.as_ref().map(|detail| format!("{}{detail}", Detail::TAG));
        self.session_tag().into_iter().chain(detail).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_context_is_read_as_far_as_it_is_understood() {
        let rules = json!([{"tool_name": "shell", "behavior": "DENY", "rule_content": "rm *"},
            {"tool_name": "read_file", "behavior": "ALLOW"}, {"behavior": "DENY"}, 7]);
        let context =
            json!({"user_id": "ann", "session_id": " s1 ", "detail": "FULL", "stream": true, "deny_rules": rules});
        let read = Context::read(Some(&context));
        assert_eq!((read.user_id.as_deref(), read.denied.clone()), (Some("ann"), vec![Name::from("shell")]));
        assert_eq!(read.tags(), ["session:s1", "detail:FULL"]);
        assert_eq!(Detail::of_tags(&read.tags()), Detail::Full);
        for odd in [None, Some(&json!("text")), Some(&json!({"user_id": 7, "deny_rules": "all"}))] {
            assert_eq!(Context::read(odd), Context::default());
        }
        assert_eq!(Detail::of_tags(&["detail:loud".to_owned()]), Detail::Status);
    }
}
