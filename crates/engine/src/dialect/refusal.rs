//! A call that cannot be granted, as the model is told.

use entourage_model::Dialect;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) enum Refusal {
    /// What is wrong and its code, with what belongs to it.
    Coded(Value),
    /// The whole answer.
    Plain(String),
}

impl Refusal {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self::Coded(json!({"error": {"code": code, "message": message.into()}}))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("subagent_arguments_invalid", message)
    }

    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        if let Self::Coded(told) = &mut self {
            told["error"][key] = value;
        }
        self
    }

    /// The same in the words of a dialect.
    #[must_use]
    pub(crate) fn spoken(self, dialect: Dialect) -> Self {
        match (self, dialect) {
            (Self::Coded(told), Dialect::AgentScope) => {
                let said = |key: &str| told["error"][key].as_str().unwrap_or_default().to_owned();
                Self::Plain(format!("Error: {}: {}", said("code"), said("message")))
            }
            (refusal, Dialect::Standard | Dialect::Dex | Dialect::AgentScope) => refusal,
        }
    }

    /// What is wrong, in words alone.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Coded(told) => told["error"]["message"].as_str().unwrap_or_default().to_owned(),
            Self::Plain(text) => text.clone(),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Coded(told) => told.to_string(),
            Self::Plain(text) => text.clone(),
        }
    }
}
