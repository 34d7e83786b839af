//! A tool definition → draft. Its file's stem is its name.

use super::{Definition, Named, child, variable};
use crate::draft::ToolDraft;
use crate::fields::Fields;
use crate::tree::Tree;
use entourage_model::{Program, Report, Variable};
use serde_json::{Value, json};
use std::sync::Arc;

/// Who runs the tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    Local,
    Provider,
}

const RUNNERS: [(&str, Runner); 2] = [("local", Runner::Local), ("provider", Runner::Provider)];

impl Definition for ToolDraft {
    const FOLDER: &'static str = "agents/tools";
    const NAMED: Named = Named::ByFile;

    fn read(mut fields: Fields<'_>, code: Option<Arc<Program>>) -> Self {
        fields.require("description");
        let description = fields.text("description").unwrap_or_default();
        let runner = fields.choice("executionMode", &RUNNERS).unwrap_or(Runner::Local);
        fields.text("executionProvider");
        let program = match runner {
            Runner::Local => execute(&mut fields, code),
            Runner::Provider => {
                let said = fields.spot("executionMode").expect("only `executionMode` can have said so");
                let what = "a tool that the model's provider runs is not supported yet and has no effect";
                fields.report_at(said, Report::warning("D009", what).hint(child::IDLE));
                fields.node("execute");
                None
            }
        };
        let mut variables = variable::read_all(&mut fields);
        variables.extend(older_variables(&mut fields));
        let draft =
            Self { description, parameters: parameters(&mut fields), variables, uses: fields.names("uses"), program };
        fields.finish();
        draft
    }
}

/// The program, whose default export has a function `execute`. Absent: reported.
pub(super) fn execute(fields: &mut Fields<'_>, code: Option<Arc<Program>>) -> Option<Arc<Program>> {
    let node = fields.node("execute");
    match (node, code) {
        (Some(node), Some(code)) => match node.tree {
            Tree::Function => Some(code),
            _ => fields.wrong("execute", "a function", node),
        },
        (None, Some(_)) => fields.require("execute").and(None),
        (node, None) => {
            let report = Report::error("D005", "`execute` is missing, which only TypeScript can say");
            let report = report.hint("write the definition in a file that ends in `.ts`");
            match node {
                Some(node) => fields.report(node, report),
                None => fields.report_here(report),
            }
            None
        }
    }
}

fn parameters(fields: &mut Fields<'_>) -> Value {
    let none = || json!({ "type": "object", "properties": {} });
    let Some(node) = fields.node("args") else { return none() };
    match &node.tree {
        Tree::Null => none(),
        Tree::Object(_) if node.value().get("type").is_some_and(|said| said == "object") => node.value(),
        Tree::Object(_) => {
            let (found, hint) = match node.value().get("type").and_then(Value::as_str) {
                Some(kind) => {
                    (format!("the schema of `{kind}`"), "write `z.object({ … })`, with a property for each argument")
                }
                None => ("a plain object".to_owned(), "write `z.object({ … })` around it"),
            };
            let what = format!("`args` must be `null` or the schema of an object, not {found}");
            fields.report(node, Report::error("D006", what).hint(hint));
            none()
        }
        _ => {
            let expected = "`null` or the schema of an object, such as `z.object({ … })`";
            fields.wrong("args", expected, node).unwrap_or_else(none)
        }
    }
}

/// The variables that the tool reads, as an earlier specification had it: the schema of an object with a property for
/// each.
fn older_variables(fields: &mut Fields<'_>) -> Vec<Variable> {
    let Some(node) = fields.node("tenvs") else { return Vec::new() };
    let schema = node.value();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return fields.wrong("tenvs", "the schema of an object, such as `z.object({ … })`", node).unwrap_or_default();
    };
    let is_required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
    };
    let variable = |(name, property): (&String, &Value)| Variable {
        name: name.clone(),
        secret: false,
        required: is_required(name),
        scoped: false,
        description: property.get("description").and_then(Value::as_str).map(str::to_owned),
    };
    properties.iter().map(variable).collect()
}
