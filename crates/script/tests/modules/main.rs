//! The modules that come with the program, seen by the definitions that import them.
#![expect(clippy::panic, reason = "a definition that cannot be read is a failed test, and the helpers say which")]

mod adapters;
mod definers;
mod globals;
mod state;
mod zod_errors;
mod zod_objects;
mod zod_parse;
mod zod_schema;
mod zod_strings;

use entourage_script::{Fault, Found, Located, NoMemory, Sources, evaluate};
use serde_json::Value;
use std::io;

/// A project of one file.
struct Only<'a>(&'a str);

impl Sources for Only<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            "definition.ts" => Ok(self.0.as_bytes().to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// The default export of a definition, or why there is none.
fn attempt(definition: &str) -> Result<Value, Fault> {
    evaluate("definition.ts", &Only(definition), &NoMemory).map(|evaluated| plain(evaluated.value))
}

/// The default export of a definition.
fn export(definition: &str) -> Value {
    attempt(definition).unwrap_or_else(|fault| panic!("{fault}\n{definition}"))
}

fn plain(located: Located) -> Value {
    match located.found {
        Found::Null => Value::Null,
        Found::Flag(flag) => flag.into(),
        Found::Number(number) => number.into(),
        Found::Text(text) => text.into(),
        Found::List(items) => items.into_iter().map(plain).collect(),
        Found::Object(members) => members.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        Found::Function => "(function)".into(),
        Found::Alien(what) => format!("({what})").into(),
    }
}

/// Evaluates expressions in one module, below `prelude`, and compares each with what it should give.
fn check(prelude: &str, cases: &[(&str, Value)]) {
    let list: Vec<_> = cases.iter().map(|(expression, _)| format!("  {expression},\n")).collect();
    let given = export(&format!("{prelude}\nexport default [\n{}];\n", list.concat()));
    for (index, (expression, wanted)) in cases.iter().enumerate() {
        assert_eq!(&given[index], wanted, "{expression}");
    }
}

/// Schemas, and the JSON Schema that a model is shown for each.
fn check_schemas(cases: &[(&str, Value)]) {
    check("import { z } from 'zod';", cases);
}

/// Expressions over `z`, with two functions: `taken(schema, value)` gives the parsed value, and `faults(schema, value)`
/// the faults, each as `path: message`.
fn check_parsing(cases: &[(&str, Value)]) {
    let prelude = "
import { z } from 'zod';
const taken = (schema: any, value?: unknown) => schema.parse(value);
const faults = (schema: any, value?: unknown) =>
  (schema.safeParse(value).error?.issues ?? []).map((issue: any) => `${issue.path.join('.')}: ${issue.message}`);
";
    check(prelude, cases);
}
