//! Arguments against the schema that an agent asks for.

use super::Refusal;
use entourage_schema::Schema;
use serde_json::Value;

/// How many faults of one call a model is told.
const FAULTS_MAX: usize = 5;

/// Whether the arguments are what the schema describes; otherwise every fault with its place, up to a few.
///
/// A schema that cannot be read refuses nothing: it was checked when the agent was declared.
pub(crate) fn check(schema: &Value, arguments: &Value) -> Result<(), Refusal> {
    let Ok(schema) = Schema::new(schema) else { return Ok(()) };
    let Some(misfits) = schema.misfits(arguments, FAULTS_MAX) else { return Ok(()) };
    let faults: Vec<String> = misfits
        .first
        .into_iter()
        .map(|misfit| match misfit.place.as_str() {
            "" => misfit.what,
            place => format!("`{}`: {}", place.trim_start_matches('/'), misfit.what),
        })
        .collect();
    Err(Refusal::invalid(format!("the arguments are wrong: {}", faults.join("; "))))
}
