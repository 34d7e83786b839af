//! Everything the checks look at, read once.

use super::{Report, manifest::Manifest, source::Source};
use crate::failure::Failure;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub(super) const ERRORS: &str = "docs/errors.md";
pub(super) const PROMISES: &str = "docs/standard-agents.md";

#[derive(Default)]
pub(crate) struct House {
    /// Every Rust file of `crates` and `xtask`, in the order of their paths.
    pub(crate) sources: Vec<Source>,
    /// One for each folder of `crates`.
    pub(super) manifests: Vec<Manifest>,
    /// The text of `docs/errors.md`, empty when there is none.
    pub(super) errors: String,
    /// The text of the page that names a test for each of its statements, empty when there is none.
    pub(super) promises: String,
    /// A report for each file that is not what its name says.
    pub(super) unreadable: Vec<Report>,
}

impl House {
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let failure = |fault| Failure::new(format!("cannot read `{}`: {fault}", root.display()));
        let mut paths = vec![root.join(ERRORS), root.join(PROMISES)];
        for folder in ["crates", "xtask"] {
            collect(&root.join(folder), &mut paths).map_err(failure)?;
        }
        let mut files = Vec::new();
        for path in paths.into_iter().filter(|path| path.exists()) {
            let text = fs::read_to_string(&path).map_err(failure)?;
            let path = path.strip_prefix(root).expect("it was found below the root");
            files.push((path.to_string_lossy().replace('\\', "/"), text));
        }
        files.sort();
        Ok(Self::of(files))
    }

    /// From paths, relative to the root, and texts.
    pub(super) fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut house = Self::default();
        for (path, text) in files {
            let read = if path == ERRORS {
                house.errors = text;
                Ok(())
            } else if path == PROMISES {
                house.promises = text;
                Ok(())
            } else if path.ends_with("/Cargo.toml") {
                Manifest::parse(&path, &text).map(|manifest| house.manifests.push(manifest))
            } else {
                Source::parse(path, text).map(|source| house.sources.push(source))
            };
            house.unreadable.extend(read.err());
        }
        house.mark_test_modules();
        house
    }

    /// `#[cfg(test)] mod case;` makes a test of the whole of `case.rs` and `case/`.
    fn mark_test_modules(&mut self) {
        let modules: Vec<String> = self.sources.iter().flat_map(Source::test_modules).collect();
        for source in &mut self.sources {
            source.in_tests |= modules.iter().any(|module| {
                source.path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            });
        }
    }
}

/// Rust files anywhere below, and the manifests of `crates/*`. Links are not followed.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, found)?;
        } else if kind.is_file() && (name.ends_with(".rs") || name == "Cargo.toml" && !folder.ends_with("xtask")) {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> House {
        House::of(files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())))
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_a_report_and_hides_no_other() {
        let house = of(&[("crates/a/src/lib.rs", "//! A.\nfn ("), ("crates/a/src/b.rs", "//! B.\n")]);
        let shown: Vec<(&str, usize)> = house.unreadable.iter().map(|r| (r.path.as_str(), r.line)).collect();
        assert_eq!(shown, [("crates/a/src/lib.rs", 2)]);
        assert_eq!(house.sources.len(), 1);
    }

    #[test]
    fn tests_are_known_by_their_folder_or_by_the_module_that_names_them() {
        let house = of(&[
            ("crates/a/src/case.rs", ""),
            ("crates/a/src/case/deep.rs", ""),
            ("crates/a/src/cases.rs", ""),
            ("crates/a/src/lib.rs", "#[cfg(test)] mod case; mod cases; #[cfg(any(test, unix))] mod both;"),
            ("crates/a/src/part.rs", "#[cfg(test)] mod tests;"),
            ("crates/a/src/part/tests.rs", ""),
            ("crates/a/src/both.rs", ""),
            ("crates/a/tests/whole.rs", ""),
            ("crates/a/benches/speed.rs", ""),
        ]);
        let tests: Vec<&str> = house.sources.iter().filter(|s| s.in_tests).map(|s| s.path.as_str()).collect();
        assert_eq!(
            tests,
            [
                "crates/a/src/case.rs",
                "crates/a/src/case/deep.rs",
                "crates/a/src/part/tests.rs",
                "crates/a/tests/whole.rs",
                "crates/a/benches/speed.rs",
            ]
        );
    }
}
