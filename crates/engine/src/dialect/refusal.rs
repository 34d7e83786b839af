//! A call that cannot be granted, as the model is told.

use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Refusal(Value);

impl Refusal {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self(json!({"error": {"code": code, "message": message.into()}}))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("subagent_arguments_invalid", message)
    }

    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.0["error"][key] = value;
        self
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }
}
