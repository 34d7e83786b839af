//! Evaluated definitions, kept in the caller's memory.
//!
//! An evaluation is a function of its entry, of every file that it looked at (those that were not there included) and of
//! the modules that come with the program. The last belong to the key; the files are named in what is kept, because
//! nobody knows them before.

use crate::evaluate::Evaluated;
use crate::fault::{Fault, Spot};
use crate::limits::{ENDLESS_KEPT, VALUE_DEPTH_MAX};
use crate::located::{Found, Located};
use crate::modules;
use crate::outline::Double;
use crate::project::is_absent;
use crate::sources::{Memory, Sources};
use entourage_model::{Digest, Program};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;
use std::time::Instant;

/// Changes with the stored form, and with anything that makes another value of the same files.
const FORM: &str = concat!("entourage definition 5, ", env!("CARGO_PKG_VERSION"));

/// Every path that was looked at, with what lay there.
pub(crate) type Seen = BTreeMap<String, Option<Digest>>;

/// A definition that did not end in time, and every file that it had looked at by then.
///
/// Whoever keeps it for longer than one reading of a project spares everybody the wait, until one of the files changes.
#[derive(Clone, Debug)]
pub struct Endless {
    fault: Fault,
    seen: Seen,
    since: Instant,
}

impl Endless {
    pub(crate) fn new(fault: Fault, seen: Seen) -> Self {
        Self { fault, seen, since: Instant::now() }
    }

    /// Why it gave no value, as long as that still holds: a busy machine may have been to blame, so that it is tried
    /// again some time.
    pub(crate) fn fault(self, sources: &dyn Sources) -> Option<Fault> {
        let holds = self.since.elapsed() < ENDLESS_KEPT && self.seen.iter().all(|seen| is_same(seen, sources));
        holds.then_some(self.fault)
    }
}

/// The files of a project, with what was read of them.
pub(crate) struct Watched<'a> {
    sources: &'a dyn Sources,
    seen: RefCell<Seen>,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(sources: &'a dyn Sources) -> Self {
        Self { sources, seen: RefCell::default() }
    }

    pub(crate) fn into_seen(self) -> Seen {
        self.seen.into_inner()
    }
}

impl Sources for Watched<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let read = self.sources.read(path);
        self.seen.borrow_mut().insert(path.to_owned(), read.as_ref().ok().map(|bytes| Digest::of(bytes)));
        read
    }
}

/// Whether a path leads to what it led to.
fn is_same((path, expected): (&String, &Option<Digest>), sources: &dyn Sources) -> bool {
    match sources.read(path) {
        Ok(bytes) => *expected == Some(Digest::of(&bytes)),
        Err(error) => expected.is_none() && is_absent(&error),
    }
}

/// What was kept under the key of the definition at `path`, if all that it was made of is still the same.
pub(crate) fn recall(key: &Digest, path: &str, sources: &dyn Sources, memory: &dyn Memory) -> Option<Evaluated> {
    let bytes = memory.recall(key)?;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    // The entry is named in the key.
    if !record.seen.iter().filter(|(seen, _)| *seen != path).all(|seen| is_same(seen, sources)) {
        return None;
    }
    let mut parts = record.value.into_iter();
    let value = assemble(&mut parts, 0)?;
    parts.next().is_none().then_some(Evaluated { value, doubles: record.doubles, program: record.program })
}

/// Keeps a definition.
pub(crate) fn keep(path: &str, evaluated: &Evaluated, seen: Seen, memory: &dyn Memory) {
    let Some(Some(entry)) = seen.get(path) else { return };
    let key = key(path, entry);
    let mut value = Vec::new();
    disassemble(&evaluated.value, &mut value);
    let record = Record { seen, value, doubles: evaluated.doubles.clone(), program: evaluated.program.clone() };
    if let Ok(bytes) = serde_json::to_vec(&record) {
        memory.keep(&key, &bytes);
    }
}

/// What a definition is kept under: its path, its text, and the modules that come with the program.
pub(crate) fn key(path: &str, entry: &Digest) -> Digest {
    static OURS: OnceLock<Digest> = OnceLock::new();
    let ours = OURS.get_or_init(|| {
        let mut all = String::from(FORM);
        for (name, source) in modules::all() {
            all.extend(["\0", name, "\0", source]);
        }
        Digest::of(all.as_bytes())
    });
    Digest::of(format!("{ours}\0{path}\0{entry}").as_bytes())
}

#[derive(Serialize, Deserialize)]
struct Record {
    seen: Seen,
    /// In the order in which they are written. A tree of them would be deeper than a reader of JSON goes.
    value: Vec<Part>,
    doubles: Vec<Double>,
    program: Program,
}

/// Where it lies, and what is there.
#[derive(Serialize, Deserialize)]
struct Part(Spot, Kind);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Null,
    Flag(bool),
    Number(serde_json::Number),
    Text(String),
    /// As many of the following parts are its items.
    List(usize),
    /// The following parts are its members.
    Object(Vec<String>),
    Function,
    Alien(String),
}

fn disassemble(value: &Located, parts: &mut Vec<Part>) {
    let kind = match &value.found {
        Found::Null => Kind::Null,
        Found::Flag(flag) => Kind::Flag(*flag),
        Found::Number(number) => Kind::Number(number.clone()),
        Found::Text(text) => Kind::Text(text.clone()),
        Found::List(items) => Kind::List(items.len()),
        Found::Object(members) => Kind::Object(members.iter().map(|(name, _)| name.clone()).collect()),
        Found::Function => Kind::Function,
        Found::Alien(what) => Kind::Alien(what.clone()),
    };
    parts.push(Part(value.spot, kind));
    match &value.found {
        Found::List(items) => items.iter().for_each(|item| disassemble(item, parts)),
        Found::Object(members) => members.iter().for_each(|(_, member)| disassemble(member, parts)),
        Found::Null | Found::Flag(_) | Found::Number(_) | Found::Text(_) | Found::Function | Found::Alien(_) => {}
    }
}

/// Nothing if the parts do not fit, as when somebody else wrote them.
fn assemble(parts: &mut std::vec::IntoIter<Part>, depth: usize) -> Option<Located> {
    if depth > VALUE_DEPTH_MAX {
        return None;
    }
    let Part(spot, kind) = parts.next()?;
    let found = match kind {
        Kind::Null => Found::Null,
        Kind::Flag(flag) => Found::Flag(flag),
        Kind::Number(number) => Found::Number(number),
        Kind::Text(text) => Found::Text(text),
        Kind::List(count) => Found::List((0..count).map(|_| assemble(parts, depth + 1)).collect::<Option<_>>()?),
        Kind::Object(names) => {
            let members = names.into_iter().map(|name| Some((name, assemble(parts, depth + 1)?)));
            Found::Object(members.collect::<Option<_>>()?)
        }
        Kind::Function => Found::Function,
        Kind::Alien(what) => Found::Alien(what),
    };
    Some(Located { spot, found })
}
