//! A built-in tool that reads or changes files of the workspace.

use super::background::in_background;
use super::{Call, Output, Tool};
use crate::workspace::Stop;
use async_trait::async_trait;
use entourage_model::{EffectClass, Fact, ToolSpec};
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct FileTool {
    spec: Arc<ToolSpec>,
    work: Work,
    at_once: Option<AtOnce>,
    fact: Option<Did>,
}

/// Gives a text or a refusal, and ends soon after it is told to stop.
type Work = fn(Call, &Stop) -> Result<String, Output>;

/// Gives what [`Work`] would give, if it can be had without waiting.
type AtOnce = fn(&Call) -> Option<String>;

/// What a call that succeeds did.
type Did = fn(&Call) -> Option<Fact>;

impl FileTool {
    pub(super) fn reading(name: &str, description: &str, parameters: Value, work: Work) -> Self {
        Self::new((name, EffectClass::Pure), description, parameters, work)
    }

    pub(super) fn new((name, class): (&str, EffectClass), description: &str, parameters: Value, work: Work) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            description: description.to_owned(),
            parameters: Arc::new(parameters),
            class,
        };
        Self { spec: Arc::new(spec), work, at_once: None, fact: None }
    }

    /// Handing a call to another thread costs more than a little work that does not wait: that is tried first.
    pub(super) fn first_at_once(self, work: AtOnce) -> Self {
        Self { at_once: Some(work), ..self }
    }

    pub(super) fn telling(self, fact: Did) -> Self {
        Self { fact: Some(fact), ..self }
    }
}

#[async_trait]
impl Tool for FileTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        let fact = self.fact.and_then(|fact| fact(&call));
        let output = match self.at_once.and_then(|work| work(&call)) {
            Some(text) => Output::success(text),
            None => {
                let work = self.work;
                in_background(move |stop| work(call, stop)).await
            }
        };
        output.having(fact)
    }
}
