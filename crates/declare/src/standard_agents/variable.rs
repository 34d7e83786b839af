//! The `variables` that a definition asks for.

use crate::fields::Fields;
use entourage_model::Variable;

/// Whether a variable is secret.
const TYPES: [(&str, bool); 2] = [("text", false), ("secret", true)];

pub(super) fn read_all(fields: &mut Fields<'_>) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (index, node) in fields.list("variables").unwrap_or_default().iter().enumerate() {
        variables.extend(fields.within(node, &format!("variables[{index}]")).and_then(read));
    }
    variables
}

fn read(mut fields: Fields<'_>) -> Option<Variable> {
    let name = fields.require_name("name");
    let secret = fields.choice("type", &TYPES).unwrap_or_default();
    let required = fields.flag("required").unwrap_or_default();
    let scoped = fields.flag("scoped").unwrap_or_default();
    let description = fields.text("description");
    fields.finish();
    Some(Variable { name: name?.value.to_string(), secret, required, scoped, description })
}
