//! Arguments against the schema that an agent asks for.

use super::Refusal;
use serde_json::Value;

/// How many faults of one call a model is told.
const FAULTS_MAX: usize = 5;

/// Whether the arguments are what the schema describes; otherwise every fault with its place, up to a few.
///
/// A schema that cannot be read refuses nothing: it was checked when the agent was declared.
pub(crate) fn check(schema: &Value, arguments: &Value) -> Result<(), Refusal> {
    let Ok(validator) = jsonschema::validator_for(schema) else { return Ok(()) };
    let faults: Vec<String> = validator
        .iter_errors(arguments)
        .take(FAULTS_MAX)
        .map(|fault| match fault.instance_path().as_str() {
            "" => fault.to_string(),
            place => format!("`{}`: {fault}", place.trim_start_matches('/')),
        })
        .collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid(format!("the arguments are wrong: {}", faults.join("; "))))
    }
}
