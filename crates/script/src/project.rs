//! The modules of a project behind one definition: found, read and stripped as they are asked for.

use crate::fault::{Fault, FaultKind, Spot};
use crate::limits::{MODULES_MAX, PATHS_MAX, SOURCE_BYTES_MAX};
use crate::outline::Outline;
use crate::remembered::Seen;
use crate::specifier::{self, Target};
use crate::strip::{Import, strip};
use crate::supply::Supply;
use entourage_model::{Digest, Program};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Reads a file of the project.
pub(crate) type Read = Box<dyn FnMut(&str) -> io::Result<Vec<u8>>>;

/// What has been read so far.
pub(crate) struct Project {
    read: Read,
    modules: BTreeMap<String, Module>,
    seen: Seen,
}

/// Why an import leads to nothing.
enum Stop {
    /// There is no room for it: the import itself is one too many.
    Full(String),
    /// What it leads to has a fault of its own, at its own place.
    Broken(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

struct Module {
    javascript: Arc<str>,
    imports: Vec<Import>,
}

impl Project {
    pub(crate) fn new(read: Read) -> Self {
        Self { read, modules: BTreeMap::new(), seen: Seen::new() }
    }

    /// Reads the module that everything begins with.
    pub(crate) fn enter(&mut self, path: &str) -> Result<Outline, Fault> {
        if !specifier::is_plain(path) {
            return Err(Fault::new(FaultKind::Read, path, "not a path inside the project"));
        }
        if !matches!(path.rsplit_once('.'), Some((_, "ts" | "mts" | "js" | "mjs"))) {
            let what = "a definition is a `.ts`, `.mts`, `.js` or `.mjs` file";
            return Err(Fault::new(FaultKind::Read, path, what));
        }
        let Some(text) = self.text(path)? else {
            return Err(Fault::new(FaultKind::Read, path, "no such file"));
        };
        self.add_script(path, &text)
    }

    /// Reads what may be imported later, by `import('…')` in a function that has not run yet.
    pub(crate) fn read_ahead(&mut self) -> Result<(), Fault> {
        let mut queue: Vec<String> = self.modules.keys().cloned().collect();
        while let Some(base) = queue.pop() {
            let imports = self.modules.get(&base).map(|module| module.imports.as_slice()).unwrap_or_default();
            let specifiers: Vec<_> = imports.iter().map(|import| import.specifier.clone()).collect();
            for specifier in specifiers {
                let known = self.modules.len();
                let path = self.resolve(&base, &specifier)?;
                if self.modules.len() > known {
                    queue.push(path);
                }
            }
        }
        Ok(())
    }

    /// Everything that was read, to be run without the files.
    pub(crate) fn program(&self, entry: &str) -> Program {
        let modules = self.modules.iter().map(|(path, module)| (path.clone(), Arc::clone(&module.javascript)));
        Program { entry: entry.to_owned(), modules: modules.collect() }
    }

    /// Every path that was looked at, with what lay there. An evaluation is a function of these.
    pub(crate) fn take_seen(&mut self) -> Seen {
        std::mem::take(&mut self.seen)
    }

    /// The text at a path, without its byte order mark; nothing where there is no file.
    fn text(&mut self, path: &str) -> Result<Option<String>, Fault> {
        let refuse = |what: String| Err(Fault::new(FaultKind::Read, path, what));
        let bytes = match (self.read)(path) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => {
                self.seen.insert(path.to_owned(), None);
                return Ok(None);
            }
            Err(error) => return refuse(format!("cannot be read: {error}")),
        };
        if bytes.len() > SOURCE_BYTES_MAX {
            return refuse(format!("has more than {} MiB", SOURCE_BYTES_MAX >> 20));
        }
        self.seen.insert(path.to_owned(), Some(Digest::of(&bytes)));
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))),
            Err(_) => refuse("is not UTF-8".to_owned()),
        }
    }

    fn add_script(&mut self, path: &str, text: &str) -> Result<Outline, Fault> {
        let stripped = strip(path, text)?;
        for import in &stripped.imports {
            let refuse = |what| Fault::new(FaultKind::Import, path, what).at(import.spot);
            specifier::target(path, &import.specifier).map_err(refuse)?;
        }
        let module = Module { javascript: stripped.javascript.into(), imports: stripped.imports };
        self.modules.insert(path.to_owned(), module);
        Ok(stripped.outline)
    }

    fn add_data(&mut self, path: &str, text: &str) -> Result<(), Fault> {
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).max(1);
            let spot = Spot { line: count(error.line()), column: count(error.column()) };
            let words = error.to_string();
            // The place is said beside it.
            let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
            return Err(Fault::new(FaultKind::Syntax, path, format!("not JSON: {words}")).at(spot));
        }
        // As a text, because an object literal would take `__proto__` for something else.
        let javascript = format!("export default JSON.parse({});\n", serde_json::Value::from(text));
        self.modules.insert(path.to_owned(), Module { javascript: javascript.into(), imports: Vec::new() });
        Ok(())
    }

    /// Reads the first of some paths that exists.
    fn find(&mut self, candidates: &[String]) -> Result<Option<String>, Stop> {
        for path in candidates {
            if self.modules.contains_key(path) {
                return Ok(Some(path.clone()));
            }
            if self.seen.contains_key(path) {
                continue;
            }
            if self.seen.len() == PATHS_MAX {
                let what = format!("more than {PATHS_MAX} paths were looked at for one definition");
                return Err(Stop::Full(what));
            }
            let Some(text) = self.text(path)? else { continue };
            if self.modules.len() == MODULES_MAX {
                let what = format!("more than {MODULES_MAX} modules of the project belong to one definition");
                return Err(Stop::Full(what));
            }
            if path.ends_with(".json") {
                self.add_data(path, &text)?;
            } else {
                self.add_script(path, &text)?;
            }
            return Ok(Some(path.clone()));
        }
        Ok(None)
    }

    fn import(&self, base: &str, specifier: &str) -> Option<&Import> {
        self.modules.get(base)?.imports.iter().find(|import| import.specifier == specifier)
    }
}

impl Supply for Project {
    fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, Fault> {
        let import = self.import(base, specifier);
        let spot = import.map(|import| import.spot);
        let asked = import.and_then(|import| import.asked.clone());
        let refuse = |what: String| {
            let fault = Fault::new(FaultKind::Import, base, what);
            spot.map_or(fault.clone(), |spot| fault.at(spot))
        };
        let candidates = match specifier::target(base, specifier).map_err(refuse)? {
            Target::Ours => return Ok(specifier.to_owned()),
            Target::Project(candidates) => candidates,
        };
        let found = self.find(&candidates).map_err(|stop| match stop {
            Stop::Full(what) => refuse(what),
            Stop::Broken(fault) => fault,
        })?;
        let Some(path) = found else {
            let tried: Vec<_> = candidates.iter().map(|path| format!("`{path}`")).collect();
            return Err(refuse(format!("`{specifier}` does not exist: tried {}", tried.join(", "))));
        };
        match asked.as_deref() {
            None => Ok(path),
            Some("json") if path.ends_with(".json") => Ok(path),
            Some(other) => Err(refuse(format!("`{specifier}` cannot be imported as `{other}`"))),
        }
    }

    fn javascript(&self, path: &str) -> Option<Arc<str>> {
        self.modules.get(path).map(|module| Arc::clone(&module.javascript))
    }

    fn importer(&self, path: &str, name: &str) -> Option<(String, Spot)> {
        self.modules.iter().find_map(|(base, module)| {
            module.imports.iter().find_map(|import| {
                let (_, spot) = import.names.iter().find(|(known, _)| known == name)?;
                let found = match specifier::target(base, &import.specifier).ok()? {
                    Target::Ours => import.specifier == path,
                    Target::Project(candidates) => candidates.iter().any(|candidate| candidate == path),
                };
                found.then(|| (base.clone(), *spot))
            })
        })
    }
}

/// Whether a path leads nowhere, rather than to something that cannot be read.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}
