//! Standard Agents: one definition a file, in TypeScript or JSON, in the shape of 0.1.0 or 0.2.0.
//!
//! A definition of either shape is read by the same code. What only one of them has is taken where it can mean but one
//! thing; what would mean something else in the other is reported.

mod agent;
mod child;
mod hook;
mod model;
mod part;
mod prompt;
mod relationship;
mod side;
mod tool;
mod tool_entry;
mod variable;

pub(crate) use model::stranger;

use crate::draft::{AgentDraft, Declared, Drafts, HookDraft, ModelDraft, PromptDraft, ToolDraft};
use crate::faults::Faults;
use crate::fields::Fields;
use crate::files::{self, Files};
use crate::tree::{At, Node, Spot};
use crate::{json, typescript};
use entourage_model::{Name, Program, Report};
use entourage_script::Memory;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How many definitions are evaluated at once, of all kinds together: one that never ends holds up few others.
const AT_ONCE: usize = 8;

/// How many definitions may be given up, each after its own limits, before the rest of them is not evaluated: whatever a
/// project holds, reading it ends after about two such limits.
const GIVEN_UP_MAX: usize = 8;

pub(crate) fn read(files: &dyn Files, memory: &dyn Memory) -> Drafts {
    let given_up = AtomicUsize::new(0);
    let mut reader = Reader { files, memory, given_up, read: BTreeMap::new(), reports: Vec::new() };
    let folders = [AgentDraft::FOLDER, PromptDraft::FOLDER, ToolDraft::FOLDER, ModelDraft::FOLDER, HookDraft::FOLDER];
    let listed = folders.map(|folder| (folder, reader.list(folder)));
    reader.read_all(&listed);
    Drafts {
        agents: reader.folder::<AgentDraft>(),
        prompts: reader.folder::<PromptDraft>(),
        tools: reader.folder::<ToolDraft>(),
        models: reader.folder::<ModelDraft>(),
        hooks: reader.folder::<HookDraft>(),
        reports: reader.reports,
    }
}

/// One kind of definition.
trait Definition: Sized {
    /// Its files lie directly in here: what lies deeper belongs to them, and declares nothing.
    const FOLDER: &'static str;
    const NAMED: Named;

    /// Reads all but the name. Only TypeScript brings `code`.
    fn read(fields: Fields<'_>, code: Option<Arc<Program>>) -> Self;
}

/// Where a definition's name is.
#[derive(Clone, Copy)]
enum Named {
    ByField(&'static str),
    ByFile,
}

struct Reader<'a> {
    files: &'a dyn Files,
    memory: &'a dyn Memory,
    /// How many definitions reached a limit.
    given_up: AtomicUsize,
    /// What was read of each folder, in the order of the files' names.
    read: BTreeMap<&'static str, Vec<Definable>>,
    reports: Vec<Report>,
}

/// A file as it was read: its stem, its value, and what is wrong with it so far.
struct Definable {
    stem: String,
    value: Option<(Node, Option<Arc<Program>>)>,
    faults: Faults,
}

impl Reader<'_> {
    fn list(&mut self, folder: &'static str) -> Vec<String> {
        let names = self.files.list(folder).unwrap_or_else(|fault| {
            self.reports.push(files::unreadable(folder, &fault));
            Vec::new()
        });
        self.reports.extend(files::lost_links(self.files, folder, folder, &names, |name| stem(name).is_some()));
        for name in names.iter().filter(|name| has_other_ending(name)) {
            let report = Report::warning("D081", "this file declares nothing: no definition has a name that ends so");
            let place = Faults::new(format!("{folder}/{name}")).place(Spot::START);
            self.reports.push(report.at(place).hint("write it in TypeScript or JSON, and name it `.ts` or `.json`"));
        }
        names
    }

    /// Reads the files of all folders side by side.
    fn read_all(&mut self, folders: &[(&'static str, Vec<String>)]) {
        let all: Vec<_> =
            folders.iter().flat_map(|(folder, names)| names.iter().map(move |name| (*folder, name))).collect();
        let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while let Some((folder, name)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Some(read) = stem(name).and_then(|stem| self.file(folder, name, stem)) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert((*folder, name.as_str()), read);
                }
            }
        };
        thread::scope(|scope| {
            (0..AT_ONCE.min(all.len())).for_each(|_| drop(scope.spawn(work)));
        });
        for ((folder, _), read) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.read.entry(folder).or_default().push(read);
        }
    }

    /// Absent: the file went away after the folder was listed.
    fn file(&self, folder: &str, name: &str, stem: &str) -> Option<Definable> {
        let path = format!("{folder}/{name}");
        let mut faults = Faults::new(&path);
        let value = self.value(&path, &mut faults);
        let is_there = value.is_some() || !faults.reports.is_empty();
        is_there.then(|| Definable { stem: stem.to_owned(), value, faults })
    }

    fn value(&self, path: &str, faults: &mut Faults) -> Option<(Node, Option<Arc<Program>>)> {
        if !path.ends_with(".json") {
            let (node, program) = self.evaluate(path, faults)?;
            return Some((node, Some(Arc::new(program))));
        }
        let text = files::text(self.files, path).map_err(|report| faults.reports.push(report)).ok()??;
        let parsed = json::parse(&text).map_err(|fault| {
            faults.push(fault.spot, fault.report());
        });
        Some((parsed.ok()?, None))
    }

    fn evaluate(&self, path: &str, faults: &mut Faults) -> Option<(Node, Program)> {
        if self.given_up.load(Ordering::Relaxed) >= GIVEN_UP_MAX {
            let what =
                format!("the definition was not evaluated: {GIVEN_UP_MAX} others reached their limits before it");
            faults.push(Spot::START, Report::error(typescript::GIVEN_UP, what).hint("mend those first"));
            return None;
        }
        let evaluated = typescript::evaluate(path, self.files, self.memory, faults);
        if faults.reports.iter().any(|report| report.code.0 == typescript::GIVEN_UP) {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
        evaluated
    }

    fn folder<D: Definition>(&mut self) -> Vec<Declared<D>> {
        self.read.remove(D::FOLDER).unwrap_or_default().into_iter().map(declared).collect()
    }
}

/// A definition of a kind, made of what its file holds.
fn declared<D: Definition>(Definable { stem, value, mut faults }: Definable) -> Declared<D> {
    let stem = |spot| At { value: Name::from(stem.as_str()), spot };
    let named = value.as_ref().and_then(|(node, code)| {
        let mut fields = Fields::of(node, "", &mut faults)?;
        let name = match D::NAMED {
            Named::ByField(key) => fields.require_name(key),
            Named::ByFile => Some(stem(node.spot)),
        };
        // Without a name the rest is still looked at, so that all faults are told at once.
        let draft = D::read(fields, code.clone());
        Some((name?, draft))
    });
    let (name, draft) = named.map_or((stem(Spot::START), None), |(name, draft)| (name, Some(draft)));
    Declared { name, faults, draft }
}

/// What a file's name begins with, if the file is a definition. Hidden files are none: editors and file systems leave
/// them about. Neither are types and tests, which lie beside the code that they belong to.
fn stem(name: &str) -> Option<&str> {
    let json = name.strip_suffix(".json");
    let code = || typescript::EXTENSIONS.iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !is_beside(stem));
    json.or_else(code).filter(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// What looks like a definition and is none, so that whoever wrote it waits for it in vain.
const OTHER_ENDINGS: [&str; 4] = [".tsx", ".cts", ".yaml", ".yml"];

fn has_other_ending(name: &str) -> bool {
    let stem = OTHER_ENDINGS.iter().find_map(|end| name.strip_suffix(end));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.') && !is_beside(stem))
}

fn is_beside(stem: &str) -> bool {
    [".d", ".test", ".spec"].iter().any(|end| stem.ends_with(end))
}
