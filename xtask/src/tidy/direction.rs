//! Which crate may use which: the picture of ARCHITECTURE.md as data. Tests may use what they like.

use super::{
    House, Report,
    manifest::{Manifest, crate_name},
};

const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("schema", &[]),
    ("mcp", &[]),
    ("engine", &["model", "schema"]),
    ("script", &["model"]),
    ("bundle", &["model", "script", "declare"]),
    ("store", &["model"]),
    ("store-sqlite", &["model", "store"]),
    ("store-postgres", &["model", "store"]),
    ("declare", &["model", "script"]),
    ("outside", &["model", "bundle", "mcp", "schema", "script"]),
    ("runtime", &["model", "engine", "store", "outside", "bundle"]),
    ("serve", &["mcp", "model", "runtime"]),
    ("cli", SHIPPED),
    // Nobody that ships lists these two, so they are only ever a dependency of tests.
    ("testkit", SHIPPED),
    ("trial", TESTED),
];

const TESTED: &[&str] =
    &["model", "engine", "store", "store-sqlite", "store-postgres", "outside", "runtime", "testkit"];

const SHIPPED: &[&str] = &[
    "model",
    "schema",
    "mcp",
    "engine",
    "script",
    "bundle",
    "store",
    "store-sqlite",
    "store-postgres",
    "declare",
    "outside",
    "runtime",
    "serve",
];

pub(super) fn check(house: &House) -> Vec<Report> {
    house.manifests.iter().flat_map(check_one).collect()
}

fn check_one(manifest: &Manifest) -> Vec<Report> {
    let name = &manifest.name;
    let Some((_, allowed)) = MAY_USE.iter().find(|(user, _)| user == name) else {
        let what = format!("nobody said what crate `{name}` may use");
        return vec![manifest.report(1, what, "give it a row in xtask/src/tidy/direction.rs")];
    };
    let mut reports = Vec::new();
    for dependency in &manifest.dependencies {
        let Some(used) = crate_name(&dependency.package).filter(|used| !allowed.contains(used)) else { continue };
        let what = format!("crate `{name}` may not use `{used}`");
        reports.push(manifest.report(dependency.line, what, "turn the dependency round, or move the code"));
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    fn check_crate(package: &str, tables: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"{package}\"\n{tables}");
        complaints(check, &[("crates/x/Cargo.toml", &manifest)])
    }

    #[test]
    fn arrows_against_the_picture_are_refused() {
        let cases = [
            ("entourage-model", "entourage-engine", "model", "engine"),
            ("entourage-engine", "entourage-store", "engine", "store"),
            ("entourage-serve", "entourage-store", "serve", "store"),
            ("entourage-store", "entourage-store-sqlite", "store", "store-sqlite"),
            ("entourage-runtime", "entourage", "runtime", "cli"),
            ("entourage", "entourage-testkit", "cli", "testkit"),
        ];
        for (package, dependency, user, used) in cases {
            let complaints = check_crate(package, &format!("[dependencies]\n{dependency}.workspace = true"));
            assert_eq!(complaints, [format!("crates/x/Cargo.toml:4: crate `{user}` may not use `{used}`")]);
        }
    }

    #[test]
    fn arrows_of_the_picture_and_of_tests_are_fine() {
        let dependencies = "[dependencies]\nentourage-engine.workspace = true\nserde = \"1\"";
        assert_eq!(check_crate("entourage-runtime", dependencies), [""; 0]);
        let of_tests = "[dev-dependencies]\nentourage-testkit.workspace = true";
        assert_eq!(check_crate("entourage-model", of_tests), [""; 0]);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let expected = ["crates/x/Cargo.toml:1: nobody said what crate `novelty` may use"];
        assert_eq!(check_crate("entourage-novelty", ""), expected);
    }
}
