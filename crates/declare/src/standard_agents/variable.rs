//! The `variables` that a definition asks for.

use crate::fields::Fields;
use entourage_model::Variable;
use serde_json::{Map, Value};

/// Whether a variable is secret.
const TYPES: [(&str, bool); 2] = [("text", false), ("secret", true)];

/// What is unknown in one of them is kept by its name.
pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<Variable> {
    let mut rests = Map::new();
    let mut variables = Vec::new();
    for (index, node) in fields.list("variables").unwrap_or_default().iter().enumerate() {
        let variable = fields.within(node, &format!("variables[{index}]")).and_then(|fields| read(fields, &mut rests));
        variables.extend(variable);
    }
    fields.keep_rest("variables", rests);
    variables
}

fn read(mut fields: Fields<'_>, rests: &mut Map<String, Value>) -> Option<Variable> {
    let name = fields.require_name("name");
    let secret = fields.choice("type", &TYPES).unwrap_or_default();
    let required = fields.flag("required").unwrap_or_default();
    let scoped = fields.flag("scoped").unwrap_or_default();
    let description = fields.text("description");
    let rest = fields.finish();
    let name = name?.value.to_string();
    if !rest.is_empty() {
        rests.insert(name.clone(), Value::Object(rest));
    }
    Some(Variable { name, secret, required, scoped, description })
}
