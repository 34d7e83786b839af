//! Which foreign crates a layer must do without: the column "may not" of the picture, as far as a manifest shows it.

use super::{House, Report};

/// Pure layers have no I/O, no async, no clock and no dice.
const IMPURE: &[&str] = &["tokio", "reqwest", "rusqlite", "rand", "fastrand"];

const FORBIDDEN: &[(&str, &[&str])] = &[
    ("model", IMPURE),
    ("engine", IMPURE),
    ("script", &["reqwest", "hyper"]),
    ("bundle", &["reqwest", "hyper"]),
    ("store", &["rusqlite", "tokio-postgres"]),
];

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for manifest in &house.manifests {
        let forbidden = FORBIDDEN.iter().filter(|(name, _)| *name == manifest.name).flat_map(|(_, crates)| *crates);
        for package in forbidden {
            for dependency in manifest.dependencies.iter().filter(|dependency| dependency.package == *package) {
                let what = format!("crate `{}` must do without `{package}`", manifest.name);
                reports.push(manifest.report(dependency.line, what, "the layer above performs, this one decides"));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    #[test]
    fn a_pure_layer_with_an_impure_crate_is_refused() {
        let manifest = "[package]\nname = \"entourage-engine\"\n[dependencies]\nserde = \"1\"\ntokio = \"1\"\n\
                        [dev-dependencies]\nrand = \"1\"";
        let expected = ["crates/engine/Cargo.toml:5: crate `engine` must do without `tokio`"];
        assert_eq!(complaints(check, &[("crates/engine/Cargo.toml", manifest)]), expected);
    }

    #[test]
    fn other_layers_are_free() {
        let manifest = "[package]\nname = \"entourage-runtime\"\n[dependencies]\ntokio = \"1\"";
        assert_eq!(complaints(check, &[("crates/runtime/Cargo.toml", manifest)]), [""; 0]);
    }
}
