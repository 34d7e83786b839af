//! From the text that a model wrote to arguments that fit a tool's schema.

use super::Output;
use entourage_schema::Misfits;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// Enough to mend a call; a hostile one can have any number.
const VIOLATIONS_SHOWN: usize = 20;
/// A violation repeats the value that it is about.
const VIOLATION_CHARS_SHOWN: usize = 300;

/// A tool's schema, compiled when it is first needed: most tools of most processes are never called.
#[derive(Debug)]
pub(super) struct Schema {
    source: Arc<Value>,
    compiled: OnceLock<Result<entourage_schema::Schema, String>>,
}

impl Schema {
    pub(super) fn new(source: Arc<Value>) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// The arguments in `raw`, or what the model should mend.
    pub(super) fn arguments(&self, tool: &str, raw: &str) -> Result<Value, Output> {
        let (arguments, misfit) = self.compare(tool, raw)?;
        misfit.map_or(Ok(arguments), |misfit| Err(Output::error(misfit)))
    }

    /// The arguments in `raw`, and what the schema has against them.
    pub(super) fn compare(&self, tool: &str, raw: &str) -> Result<(Value, Option<String>), Output> {
        let arguments = parse(raw)
            .map_err(|error| Output::error(format!("The arguments of `{tool}` are not valid JSON: {error}")))?;
        let misfit = match self.compiled.get_or_init(|| entourage_schema::Schema::new(&self.source)) {
            Ok(schema) => schema.misfits(&arguments, VIOLATIONS_SHOWN).map(|misfits| refusal(tool, misfits)),
            Err(why) => Some(format!("`{tool}` cannot be called: its own schema is not valid: {why}")),
        };
        Ok((arguments, misfit))
    }
}

/// Checked arguments as the tool's own type. What a schema cannot say, such as the range of a number, still can fail.
pub(super) fn decode<T: DeserializeOwned>(arguments: Value) -> Result<T, Output> {
    serde_json::from_value(arguments).map_err(|error| Output::error(format!("The arguments do not fit: {error}")))
}

/// Nothing at all means no arguments, and so does `null`: providers differ.
fn parse(raw: &str) -> serde_json::Result<Value> {
    if raw.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value = serde_json::from_str(raw)?;
    Ok(if value == Value::Null { Value::Object(Map::new()) } else { value })
}

fn refusal(tool: &str, misfits: Misfits) -> String {
    let mut text = format!("The arguments of `{tool}` do not fit its schema:");
    let shown = misfits.first.len();
    for misfit in misfits.first {
        let mut message = misfit.what;
        if let Some((end, _)) = message.char_indices().nth(VIOLATION_CHARS_SHOWN) {
            message.truncate(end);
            message.push('…');
        }
        text.push_str(&format!("\narguments{}: {message}", misfit.place));
    }
    if misfits.count > shown {
        text.push_str(&format!("\n[cut: {shown} of {} violations shown]", misfits.count));
    }
    text
}
