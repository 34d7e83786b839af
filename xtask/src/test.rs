//! `cargo x test`: the gate. Set up, then every step in order, until one is red.

use crate::{
    doc_tests,
    failure::Failure,
    fuzz_api,
    postgres::{self, Postgres},
    setup,
    step::{Step, succeeds},
    tidy::House,
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// Lets tests that run in memory otherwise run on another store; `testkit` knows it by the same name.
const STORE: &str = "ENTOURAGE_TEST_STORE";

/// The tests that run on any store: those of the runtime and of the server, and of the binary what works with threads.
/// Without a space, at which commands are split.
const ON_POSTGRES: &str = "binary(=runtime)+binary(=serve)+\
    (binary(=binary)&test(/^(agentscope|dex|hooks|interrupts|run|serve|tasks|threads|through_server|two_servers)::/))";

/// How the names of steps begin that run tests.
const TESTS: &str = "tests";

/// Lets the compiler that builds our crates look at their lints as well. `cargo clippy` would do it apart, and for that
/// compile every dependency a second time: seven minutes of a gate that starts from nothing.
const LINTED: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Everything,
    /// Without lints, documentation tests and the heavy tests of `.config/nextest.toml`.
    Fast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Nextest,
    /// Plain `cargo test`: the same tests, without time limits and groups.
    Cargo,
}

/// What decides the steps.
#[derive(Debug, Clone, Copy)]
struct Situation {
    extent: Extent,
    runner: Runner,
    has_doc_tests: bool,
}

pub(crate) fn run(root: &Path, extent: Extent) -> Result<(), Failure> {
    let begin = Instant::now();
    setup::run(root)?;
    let has_doc_tests = House::read(root)?.sources.iter().any(|source| doc_tests::has_any(&source.text));
    let steps = steps(Situation { extent, runner: find_runner(), has_doc_tests });
    let mut server = None;
    for (index, step) in steps.iter().enumerate() {
        perform(root, step, &mut server).map_err(|failure| Failure {
            what: format!("{}{}", failure.what, not_run(&steps[index + 1..])),
            ..failure
        })?;
    }
    if extent == Extent::Everything {
        fuzz_api::run(root, fuzz_api::Need::IfPossible)?;
    }
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    eprintln!("green: {} in {:.1} s", names.join(", "), begin.elapsed().as_secs_f32());
    Ok(())
}

/// Tests find a PostgreSQL, which is started for the first of them and ends with the last.
fn perform(root: &Path, step: &Step, server: &mut Option<Postgres>) -> Result<(), Failure> {
    if !step.name.starts_with(TESTS) {
        return step.run(root).map(drop);
    }
    let server = match server {
        Some(server) => server,
        None => server.insert(Postgres::start(&target_folder()?)?),
    };
    step.clone().with(postgres::VARIABLE, &server.url).run(root).map(drop)
}

/// Where cargo has put this very program, and everything that was built with it.
pub(crate) fn target_folder() -> Result<PathBuf, Failure> {
    let program =
        std::env::current_exe().map_err(|fault| Failure::new(format!("cannot find the target folder: {fault}")))?;
    Ok(program.parent().expect("a program lies in a folder").to_owned())
}

fn find_runner() -> Runner {
    if succeeds(&["cargo", "nextest", "--version"]) {
        return Runner::Nextest;
    }
    eprintln!("note: cargo-nextest is not installed, so `cargo test` runs, without time limits for each test");
    Runner::Cargo
}

/// All in one profile and one target folder. The build names the tests as well as the binaries: without them
/// cargo would choose other features for shared crates and build these twice.
fn steps(situation: Situation) -> Vec<Step> {
    let Situation { extent, runner, has_doc_tests } = situation;
    let lints = extent == Extent::Everything;
    let build = if lints { "lints and build" } else { "build" };
    let mut steps = vec![
        Step::new("format", "cargo fmt --all --check"),
        Step::new(build, "cargo build --workspace --bins --tests"),
    ];
    steps.push(match (runner, extent) {
        (Runner::Nextest, Extent::Everything) => Step::new("tests", "cargo nextest run --workspace"),
        (Runner::Nextest, Extent::Fast) => Step::new("tests", "cargo nextest run --workspace --profile fast"),
        (Runner::Cargo, _) => Step::new("tests", "cargo test --workspace --tests"),
    });
    if extent == Extent::Everything {
        // The same tests once more, on the store of many nodes.
        let again = match runner {
            Runner::Nextest => format!("cargo nextest run --workspace --profile postgres -E {ON_POSTGRES}"),
            Runner::Cargo => "cargo test --workspace --test runtime --test serve".to_owned(),
        };
        steps.push(Step::new("tests on PostgreSQL", &again).with(STORE, "postgres"));
    }
    if has_doc_tests && extent == Extent::Everything {
        steps.push(Step::new("documentation tests", "cargo test --workspace --doc"));
    }
    // Every step alike: a cargo without the wrapper would build our crates again.
    let linted = |step: Step| LINTED.into_iter().fold(step, |step, (name, value)| step.with(name, value));
    if lints { steps.into_iter().map(linted).collect() } else { steps }
}

fn not_run(rest: &[Step]) -> String {
    if rest.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = rest.iter().map(|step| step.name).collect();
    format!("; not run: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Situation = Situation { extent: Extent::Everything, runner: Runner::Nextest, has_doc_tests: true };

    fn check(situation: Situation, expected: &[&str]) {
        let commands: Vec<String> = steps(situation).iter().map(|step| step.command.join(" ")).collect();
        assert_eq!(commands, expected);
    }

    #[test]
    fn the_gate_formats_lints_builds_and_tests() {
        let expected = [
            "cargo fmt --all --check",
            "cargo build --workspace --bins --tests",
            "cargo nextest run --workspace",
            &format!("cargo nextest run --workspace --profile postgres -E {ON_POSTGRES}"),
            "cargo test --workspace --doc",
        ];
        check(WHOLE, &expected);
        check(Situation { has_doc_tests: false, ..WHOLE }, &expected[..4]);
        let is_linted = |step: &Step| step.environment.iter().any(|(name, _)| *name == LINTED[0].0);
        assert!(steps(WHOLE).iter().all(is_linted));
        assert!(!steps(Situation { extent: Extent::Fast, ..WHOLE }).iter().any(is_linted));
    }

    #[test]
    fn a_fast_gate_lints_nothing_and_leaves_heavy_tests_out() {
        let expected = [
            "cargo fmt --all --check",
            "cargo build --workspace --bins --tests",
            "cargo nextest run --workspace --profile fast",
        ];
        check(Situation { extent: Extent::Fast, ..WHOLE }, &expected);
    }

    #[test]
    fn without_nextest_cargo_runs_the_tests() {
        let expected =
            ["cargo fmt --all --check", "cargo build --workspace --bins --tests", "cargo test --workspace --tests"];
        check(Situation { extent: Extent::Fast, runner: Runner::Cargo, ..WHOLE }, &expected);
    }

    #[test]
    fn a_red_step_names_what_did_not_run() {
        assert_eq!(not_run(&[Step::new("build", "b"), Step::new("tests", "t")]), "; not run: build, tests");
        assert_eq!(not_run(&[]), "");
    }
}
