//! A project in memory, and the ways in which the tests look at what a definition gave.

use entourage_script::{Evaluated, Fault, FaultKind, Found, Located, NoMemory, Sources, evaluate};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

/// Files by path, and the paths that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) texts: BTreeMap<String, Vec<u8>>,
    pub(crate) asked: RefCell<Vec<String>>,
}

impl Files {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let texts = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Self { texts: texts.collect(), asked: RefCell::default() }
    }
}

impl Sources for Files {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.asked.borrow_mut().push(path.to_owned());
        let folder = format!("{path}/");
        match self.texts.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None if self.texts.keys().any(|known| known.starts_with(&folder)) => {
                Err(io::ErrorKind::IsADirectory.into())
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Evaluates the first of some files.
pub(crate) fn run(files: &[(&str, &str)]) -> Result<Evaluated, Fault> {
    evaluate(files[0].0, &Files::of(files), &NoMemory)
}

/// Evaluates one module.
pub(crate) fn run_text(text: &str) -> Result<Evaluated, Fault> {
    run(&[("agents/agent.ts", text)])
}

/// The fault of some files: its kind, a part of what it says, and its place as `file:line:column`.
pub(crate) fn refused(files: &[(&str, &str)], kind: FaultKind, what: &str, place: &str) {
    let fault = fault_of(files, kind, what);
    assert_eq!(place_of(&fault), place, "{fault}\n{}", shown(files));
}

/// The same, wherever it lies.
pub(crate) fn fault_of(files: &[(&str, &str)], kind: FaultKind, what: &str) -> Fault {
    match run(files) {
        Ok(evaluated) => panic!("no fault, but {:.200}\n{}", plain(&evaluated.value).to_string(), shown(files)),
        Err(fault) => {
            assert_eq!(fault.kind, kind, "{fault}\n{}", shown(files));
            assert!(fault.what.contains(what), "{fault}\n{}", shown(files));
            fault
        }
    }
}

fn shown(files: &[(&str, &str)]) -> String {
    format!("{files:?}").chars().take(1000).collect()
}

/// The same for one module, whose place is `line:column` or nothing.
pub(crate) fn refused_text(text: &str, kind: FaultKind, what: &str, place: &str) {
    let colon = if place.is_empty() { "" } else { ":" };
    refused(&[("agents/agent.ts", text)], kind, what, &format!("agents/agent.ts{colon}{place}"));
}

pub(crate) fn place_of(fault: &Fault) -> String {
    [Some(fault.file.clone()), fault.line.map(|line| line.to_string()), fault.column.map(|column| column.to_string())]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(":")
}

/// A value without its places. A function is the text `<function>`.
pub(crate) fn plain(located: &Located) -> Value {
    match &located.found {
        Found::Null => Value::Null,
        Found::Flag(flag) => json!(flag),
        Found::Number(number) => Value::Number(number.clone()),
        Found::Text(text) => json!(text),
        Found::List(items) => items.iter().map(plain).collect(),
        Found::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        Found::Function => json!("<function>"),
        Found::Alien(what) => json!(format!("<{what}>")),
    }
}
