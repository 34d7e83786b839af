//! What a tool looks like to a model and to the engine.

use crate::Name;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What may be done with a call of which nobody knows whether it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing outside: may start before it is recorded, and is simply done again.
    Pure,
    /// Recorded before it starts; done again with the same key.
    Idempotent,
    /// Recorded before it starts; never done again, its outcome is reported as unknown.
    AtMostOnce,
}

/// One tool as it is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: Name,
    pub description: String,
    /// The JSON Schema of its arguments: always an object.
    pub parameters: Arc<Value>,
    pub class: EffectClass,
}
