//! Which settings there are, and what each of them must look like.

/// What a value must look like.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    /// A whole number that is not negative.
    Count,
    /// A whole number above zero.
    Some,
    Flag,
    Texts,
    /// A list of these words.
    Words(&'static [&'static str]),
    /// `provider:model`.
    Model,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table with these keys.
    Table(&'static [(&'static str, Shape)]),
    /// A table whose keys are the author's own names.
    Named(&'static Shape),
    /// A table that is looked at by whoever uses it. These keys of it have variables.
    Open(&'static [(&'static str, Shape)]),
}

impl Shape {
    /// Completes the sentence "`key` must be …".
    pub(super) fn words(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Count => "a whole number, neither negative nor too large".to_owned(),
            Self::Some => "a whole number above zero, and not too large".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Model => "a model reference such as `openai:gpt-5`".to_owned(),
            Self::Word(words) => format!("one of {}", listed(words)),
            Self::Words(words) => format!("a list of {}", listed(words)),
            Self::Table(_) | Self::Named(_) | Self::Open(_) => "a table".to_owned(),
        }
    }
}

impl Shape {
    pub(super) fn is_table(&self) -> bool {
        match self {
            Self::Table(_) | Self::Named(_) | Self::Open(_) => true,
            Self::Text
            | Self::Count
            | Self::Some
            | Self::Flag
            | Self::Texts
            | Self::Words(_)
            | Self::Model
            | Self::Word(_) => false,
        }
    }

    /// What somebody who wrote these words probably meant.
    pub(super) fn meant<'a>(&self, written: impl IntoIterator<Item = &'a str>) -> Option<String> {
        match self {
            Self::Word(words) | Self::Words(words) => {
                let wrong = written.into_iter().find(|word| !words.contains(word))?;
                let meant = entourage_model::meant(wrong, words.iter().copied())?;
                Some(format!("did you mean `{meant}`?"))
            }
            Self::Model => {
                let name = written.into_iter().next().filter(|name| !name.is_empty() && !name.contains(':'))?;
                Some(format!("perhaps `openai:{name}` or `ollama:{name}`"))
            }
            Self::Text
            | Self::Count
            | Self::Some
            | Self::Flag
            | Self::Texts
            | Self::Table(_)
            | Self::Named(_)
            | Self::Open(_) => None,
        }
    }

    /// A value as a file holds it; nothing for a table.
    pub(super) fn example(&self) -> Option<String> {
        let first = |words: &[&str]| words.first().map(|word| format!("{word:?}"));
        match self {
            Self::Text => Some("\"a text\"".to_owned()),
            Self::Count | Self::Some => Some("3".to_owned()),
            Self::Flag => Some("true".to_owned()),
            Self::Texts => Some("[\"one\", \"another\"]".to_owned()),
            Self::Model => Some("\"openai:gpt-5\"".to_owned()),
            Self::Word(words) => first(words),
            Self::Words(words) => first(words).map(|word| format!("[{word}]")),
            Self::Table(_) | Self::Named(_) | Self::Open(_) => None,
        }
    }
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// How an agent may drive children.
const DIALECTS: Shape = Shape::Words(&["standard", "dex", "agentscope"]);

/// Everything that `entourage.toml` may say.
pub(super) const ROOT: &[(&str, Shape)] = &[
    ("model", Shape::Model),
    ("dialects", DIALECTS),
    ("limits", Shape::Table(LIMITS)),
    ("env", Shape::Named(&Shape::Text)),
    ("users", Shape::Named(&Shape::Table(USER))),
    ("agents", Shape::Named(&Shape::Table(AGENT))),
    ("subagents", Shape::Named(&Shape::Open(SUBAGENT))),
    ("mcp", Shape::Named(&Shape::Table(MCP))),
    ("dex", Shape::Table(&[("profile_dirs", Shape::Texts)])),
    ("agentscope", Shape::Table(&[("general_purpose", Shape::Flag), ("task_files", Shape::Flag)])),
    ("shell", Shape::Table(SHELL)),
    ("signatures", Shape::Table(SIGNATURES)),
    ("providers", Shape::Table(PROVIDERS)),
];

/// The names of `entourage_model::Limits`, which a test holds together. None at all makes sense of children and of what
/// is shown or kept, and not of what every run needs.
pub(super) const LIMITS: &[(&str, Shape)] = &[
    ("depth", Shape::Count),
    ("children_live", Shape::Count),
    ("children_total", Shape::Count),
    ("steps", Shape::Some),
    ("session_turns", Shape::Some),
    ("run_seconds", Shape::Some),
    ("first_byte_seconds", Shape::Some),
    ("stall_seconds", Shape::Some),
    ("model_attempts", Shape::Some),
    ("queue_messages", Shape::Some),
    ("message_bytes", Shape::Some),
    ("tool_output_bytes", Shape::Count),
    ("http_body_bytes", Shape::Some),
    ("script_bytes", Shape::Some),
    ("script_seconds", Shape::Some),
    ("shell_seconds", Shape::Some),
    ("shell_bytes", Shape::Some),
    ("artifact_bytes", Shape::Some),
    ("variables_seconds", Shape::Count),
];

const USER: &[(&str, Shape)] = &[("env", Shape::Named(&Shape::Text))];

const AGENT: &[(&str, Shape)] = &[("dialects", DIALECTS)];

/// What an AgentScope declaration may say, of which files are read where declarations are.
const SUBAGENT: &[(&str, Shape)] = &[
    ("description", Shape::Text),
    ("body", Shape::Text),
    ("url", Shape::Text),
    ("headers", Shape::Named(&Shape::Text)),
    ("workspace", Shape::Table(&[("mode", Shape::Text), ("path", Shape::Text)])),
    ("mode", Shape::Text),
    ("model", Shape::Text),
    ("tools", Shape::Texts),
    ("skills", Shape::Texts),
    ("steps", Shape::Some),
    ("maxIters", Shape::Some),
    ("temperature", Shape::Text),
    ("top_p", Shape::Text),
    ("hidden", Shape::Flag),
];

const MCP: &[(&str, Shape)] = &[
    ("command", Shape::Text),
    ("args", Shape::Texts),
    ("env", Shape::Named(&Shape::Text)),
    ("url", Shape::Text),
    ("headers", Shape::Named(&Shape::Text)),
];

const SHELL: &[(&str, Shape)] =
    &[("sandbox", Shape::Word(&["auto", "bubblewrap", "landlock", "none"])), ("network", Shape::Flag)];

/// What becomes of bundles that no known key has signed, and the files of those keys.
const SIGNATURES: &[(&str, Shape)] = &[("policy", Shape::Word(&["none", "warn", "require"])), ("keys", Shape::Texts)];

const PROVIDERS: &[(&str, Shape)] = &[
    ("openai", Shape::Table(PROVIDER)),
    ("anthropic", Shape::Table(PROVIDER)),
    ("gemini", Shape::Table(PROVIDER)),
    ("ollama", Shape::Table(PROVIDER)),
];

/// Keys are not among them: they come from variables only, so that no file holds one.
const PROVIDER: &[(&str, Shape)] = &[("base_url", Shape::Text), ("stream", Shape::Flag), ("concurrency", Shape::Some)];

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::Limits;

    #[test]
    fn the_known_limits_are_those_of_the_model() {
        let model = serde_json::to_value(Limits::default()).unwrap();
        let model: Vec<_> = model.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(LIMITS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), model);
    }
}
