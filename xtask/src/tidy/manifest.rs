//! One crate's `Cargo.toml`: its name and what it depends on outside of tests.

use super::Report;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) path: String,
    /// As in the picture of the crates: `cli`, `store-sqlite`.
    pub(super) name: String,
    /// Those of tests are left out: they are free.
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) package: String,
    pub(super) line: usize,
}

impl Manifest {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, Report> {
        let line_of = |offset: usize| text[..offset].matches('\n').count() + 1;
        let form: Form = toml::from_str(text).map_err(|fault| Report {
            path: path.to_owned(),
            line: fault.span().map_or(1, |span| line_of(span.start)),
            what: format!("this is not a manifest: {}", fault.message()),
            hint: "make cargo read it",
        })?;
        let of_targets = form.target.into_values().flat_map(|tables| [tables.dependencies, tables.build_dependencies]);
        let tables = [form.dependencies, form.build_dependencies].into_iter().chain(of_targets);
        let dependencies = tables.flatten().map(|(key, value)| Dependency {
            package: value.get("package").and_then(Value::as_str).unwrap_or(key.get_ref()).to_owned(),
            line: line_of(key.span().start),
        });
        let name = crate_name(&form.package.name).unwrap_or(&form.package.name).to_owned();
        Ok(Self { path: path.to_owned(), name, dependencies: dependencies.collect() })
    }

    pub(super) fn report(&self, line: usize, what: String, hint: &'static str) -> Report {
        Report { path: self.path.clone(), line, what, hint }
    }
}

/// The crate's name in the picture, if the package is one of ours.
pub(super) fn crate_name(package: &str) -> Option<&str> {
    if package == "entourage" { Some("cli") } else { package.strip_prefix("entourage-") }
}

/// Values are kept with the place of their key.
type Table = BTreeMap<Spanned<String>, Value>;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Form {
    package: Package,
    #[serde(default)]
    dependencies: Table,
    #[serde(default)]
    build_dependencies: Table,
    #[serde(default)]
    target: BTreeMap<String, Tables>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Tables {
    #[serde(default)]
    dependencies: Table,
    #[serde(default)]
    build_dependencies: Table,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_counts_but_that_of_tests_and_a_renamed_package_keeps_its_name() {
        let text = "
[package]
name = \"entourage\"
[dependencies]
serde.workspace = true
web = { package = \"reqwest\", version = \"1\" }
[dev-dependencies]
tempfile = \"3\"
[build-dependencies]
cc = \"1\"
[target.'cfg(unix)'.dependencies]
rustix = \"1\"
";
        let manifest = Manifest::parse("crates/cli/Cargo.toml", text).expect("it is a manifest");
        let mut found: Vec<(&str, usize)> =
            manifest.dependencies.iter().map(|dependency| (dependency.package.as_str(), dependency.line)).collect();
        found.sort_unstable();
        assert_eq!(manifest.name, "cli");
        assert_eq!(found, [("cc", 10), ("reqwest", 6), ("rustix", 12), ("serde", 5)]);
    }

    #[test]
    fn a_text_that_is_no_manifest_is_a_report() {
        let report = Manifest::parse("crates/a/Cargo.toml", "[package]\nname = 1").expect_err("a name is a text");
        assert_eq!((report.path.as_str(), report.line), ("crates/a/Cargo.toml", 2));
    }
}
