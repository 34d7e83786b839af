//! Where a running script's modules come from.

use crate::fault::{Fault, FaultKind, Spot};
use crate::specifier::{self, Target};
use entourage_model::Program;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The project's modules, as the engine asks for them.
pub(crate) trait Supply {
    /// The name of the module that a specifier stands for in the module `base`: a path of the project, whose
    /// JavaScript is then there, or the name of a module that comes with the program.
    fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, Fault>;

    /// The JavaScript of a module that was resolved before.
    fn javascript(&self, path: &str) -> Option<Arc<str>>;

    /// Which module imports a name from another, and where.
    fn importer(&self, path: &str, name: &str) -> Option<(String, Spot)>;
}

/// Shared with whoever wants it back when the script has ended.
impl<S: Supply> Supply for Rc<RefCell<S>> {
    fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, Fault> {
        self.borrow_mut().resolve(base, specifier)
    }

    fn javascript(&self, path: &str) -> Option<Arc<str>> {
        self.borrow().javascript(path)
    }

    fn importer(&self, path: &str, name: &str) -> Option<(String, Spot)> {
        self.borrow().importer(path, name)
    }
}

impl Supply for Program {
    fn resolve(&mut self, base: &str, specifier: &str) -> Result<String, Fault> {
        let refuse = |what: String| Fault::new(FaultKind::Import, base, what);
        match specifier::target(base, specifier).map_err(refuse)? {
            Target::Ours => Ok(specifier.to_owned()),
            // What was found among the files is here; what would have come before it was not there and is not here.
            Target::Project(candidates) => {
                let found = candidates.into_iter().find(|path| self.modules.contains_key(path));
                let what = || refuse(format!("`{specifier}` was not part of the definition when it was read"));
                found.ok_or_else(what)
            }
        }
    }

    fn javascript(&self, path: &str) -> Option<Arc<str>> {
        self.modules.get(path).cloned()
    }

    fn importer(&self, _path: &str, _name: &str) -> Option<(String, Spot)> {
        // Its imports were checked when it was made.
        None
    }
}
