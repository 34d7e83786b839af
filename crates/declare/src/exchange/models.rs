//! Models as harnesses spell them.

use crate::solo::ModelWish;

/// Our providers and what others call them, where they have a name of their own for one.
const PROVIDERS: [(&str, &str); 4] =
    [("openai", "openai"), ("anthropic", "anthropic"), ("gemini", "google"), ("ollama", "ollama")];

/// The providers that a reference such as `openai:gpt-5` may begin with.
pub(crate) const REFERENCES: [&str; 5] = ["openai", "anthropic", "gemini", "ollama", "script"];

/// How well-known models begin, and whose they are.
const BEGINNINGS: [(&str, &str); 7] = [
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("claude-", "anthropic"),
    ("gemini-", "gemini"),
];

/// A model by its id alone: its provider is known by how the id begins.
pub(crate) fn of_bare_id(text: &str) -> ModelWish {
    if text == "inherit" {
        return ModelWish::Inherit;
    }
    let provider = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, provider)| *provider);
    match provider {
        Some(provider) if !text.contains(char::is_whitespace) => named(provider, text),
        _ => ModelWish::Word(text.to_owned()),
    }
}

/// A model as `provider:model`, where the provider is ours.
fn of_reference(text: &str) -> Option<ModelWish> {
    let (provider, model) = text.split_once(':')?;
    (REFERENCES.contains(&provider) && !model.is_empty()).then(|| named(provider, model))
}

/// A model of Claude Code: the caller's, an id, or one of its own words. A reference of ours is none of its words.
pub(crate) fn of_claude(text: &str) -> ModelWish {
    if let Some(wish) = of_reference(text) {
        return wish;
    }
    match of_bare_id(text) {
        ModelWish::Named { provider, model } if provider == "anthropic" => named(&provider, &model),
        ModelWish::Inherit => ModelWish::Inherit,
        ModelWish::Named { .. } | ModelWish::Word(_) => ModelWish::Word(text.to_owned()),
    }
}

/// A model as `provider/model`.
pub(crate) fn of_path(text: &str) -> ModelWish {
    let ours = |theirs: &str| PROVIDERS.iter().find(|(ours, word)| theirs == *word || theirs == *ours);
    match text.split_once('/').and_then(|(provider, model)| Some((ours(provider)?.0, model))) {
        Some((provider, model)) if !model.is_empty() => named(provider, model),
        _ => ModelWish::Word(text.to_owned()),
    }
}

/// A model of stax, where it is free text: in any of these spellings, or as `provider:model`, whoever provides it.
pub(crate) fn stax_model(text: &str) -> ModelWish {
    let is_word = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    match text.split_once(':') {
        Some((provider, model)) if !provider.is_empty() && is_word(provider) && !model.is_empty() => {
            named(provider, model)
        }
        _ if text.contains('/') => of_path(text),
        _ => of_bare_id(text),
    }
}

fn named(provider: &str, model: &str) -> ModelWish {
    ModelWish::Named { provider: provider.to_owned(), model: model.to_owned() }
}

/// The id of a model of one provider, for a harness that has no other. Absent: it cannot name it.
pub(crate) fn id_of(wish: &ModelWish, only: &str) -> Option<String> {
    match wish {
        ModelWish::Named { provider, model } if provider == only => Some(model.clone()),
        ModelWish::Named { .. } | ModelWish::Inherit | ModelWish::Word(_) => None,
    }
}

/// How Claude Code names its own models beside their ids.
const CLAUDE_WORDS: [&str; 4] = ["sonnet", "opus", "haiku", "fable"];

/// The id or the word by which Claude Code knows a model. Absent: it cannot name it.
pub(crate) fn in_claude(wish: &ModelWish) -> Option<String> {
    match wish {
        ModelWish::Word(word) if CLAUDE_WORDS.contains(&word.as_str()) => Some(word.clone()),
        ModelWish::Word(_) | ModelWish::Named { .. } | ModelWish::Inherit => id_of(wish, "anthropic"),
    }
}

/// The id alone, for a harness that knows the models of all well-known providers. Absent: it would be another's.
pub(crate) fn bare_id(wish: &ModelWish) -> Option<String> {
    match wish {
        ModelWish::Named { model, .. } if of_bare_id(model) == *wish => Some(model.clone()),
        ModelWish::Named { .. } | ModelWish::Inherit | ModelWish::Word(_) => None,
    }
}

/// The model as `provider/model`. Absent: only the source's harness knows what its word means.
pub(crate) fn path(wish: &ModelWish) -> Option<String> {
    match wish {
        ModelWish::Named { provider, model } => {
            let (_, theirs) = PROVIDERS.iter().find(|(ours, _)| ours == provider)?;
            Some(format!("{theirs}/{model}"))
        }
        ModelWish::Word(_) | ModelWish::Inherit => None,
    }
}
