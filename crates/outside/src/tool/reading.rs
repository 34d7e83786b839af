//! A built-in tool that only reads the workspace.

use super::background::in_background;
use super::{Call, Output, Tool};
use crate::workspace::Stop;
use async_trait::async_trait;
use entourage_model::{EffectClass, ToolSpec};
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Reading {
    spec: Arc<ToolSpec>,
    read: Read,
    at_once: Option<ReadAtOnce>,
}

/// Gives a text or a refusal, and ends soon after it is told to stop.
type Read = fn(Call, &Stop) -> Result<String, Output>;

/// Gives what [`Read`] would give, if it can be had without waiting.
type ReadAtOnce = fn(&Call) -> Option<String>;

impl Reading {
    pub(super) fn new(name: &str, description: &str, parameters: Value, read: Read) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            description: description.to_owned(),
            parameters: Arc::new(parameters),
            class: EffectClass::Pure,
        };
        Self { spec: Arc::new(spec), read, at_once: None }
    }

    /// Handing a call to another thread costs more than a little work that does not wait: that is tried first.
    pub(super) fn first_at_once(self, read: ReadAtOnce) -> Self {
        Self { at_once: Some(read), ..self }
    }
}

#[async_trait]
impl Tool for Reading {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        if let Some(text) = self.at_once.and_then(|read| read(&call)) {
            return Output::success(text);
        }
        let read = self.read;
        in_background(move |stop| read(call, stop)).await
    }
}
