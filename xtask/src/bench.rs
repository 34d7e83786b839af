//! `cargo x bench`: the benchmarks by name, over the release build.

use crate::{failure::Failure, step::Step, test::target_folder};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy)]
struct Bench {
    name: &'static str,
    about: &'static str,
    /// A binary of `testkit` or `trial`, then its arguments; the caller's come after them.
    command: &'static [&'static str],
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "children",
        about: "creating, messaging and listing with 10, 100 and 1,000 resumable children",
        command: &["children"],
    },
    Bench {
        name: "declarations",
        about: "`check` of one TypeScript agent and of 500 declarations in mixed formats, cold and warm",
        command: &["declarations"],
    },
    Bench {
        name: "fanout",
        about: "one parent and N durable children, against a bare client that makes the same requests",
        command: &["fanout"],
    },
    Bench {
        name: "inflight",
        about: "memory of 1,000 children that wait for a model of 2 s latency",
        command: &["fanout", "--latency-ms", "2000", "--rounds", "1", "--children", "1", "--children", "1000"],
    },
    Bench { name: "kill", about: "200 rounds of kill -9 under load, checked", command: &["kill"] },
    Bench {
        name: "nodes",
        about: "100 rounds of trouble for two and for three nodes on one PostgreSQL, checked",
        command: &["nodes"],
    },
    Bench {
        name: "pack",
        about: "a bundle of 1,000 subagents built and materialised; 200 MiB of knowledge built, pushed and pulled",
        command: &["pack"],
    },
    Bench { name: "parked", about: "start-up and memory with 100,000 parked threads", command: &["parked"] },
    Bench {
        name: "remote",
        about: "two servers, one remote for the other: 50 rounds of kill -9 of either, checked",
        command: &["remote"],
    },
    Bench {
        name: "runs",
        about: "200 background runs, and how long `task_list` and `subagent list` take meanwhile",
        command: &["runs"],
    },
    Bench {
        name: "server",
        about: "2,000 open event streams and 500 requests a second: what an answer takes, and memory",
        command: &["server"],
    },
    Bench { name: "start", about: "from process start to the first model request", command: &["start"] },
];

const BUILD: &str = "cargo build --release -p entourage -p entourage-testkit -p entourage-trial";

pub(crate) fn list() -> Result<(), Failure> {
    println!("usage: cargo x bench NAME [ARG…]\n\nbenchmarks:\n{}", table(BENCHES));
    Ok(())
}

pub(crate) fn run(root: &Path, name: &str, arguments: &[&str]) -> Result<(), Failure> {
    let bench = find(BENCHES, name)?;
    Step::new("release build", BUILD).run(root)?;
    let mut command = vec![release_folder()?.join(bench.command[0]).to_string_lossy().into_owned()];
    command.extend(bench.command[1..].iter().chain(arguments).map(|&word| word.to_owned()));
    Step { command, ..Step::new(bench.name, "") }.run(root)?;
    Ok(())
}

fn table(benches: &[Bench]) -> String {
    if benches.is_empty() {
        return "  none yet".to_owned();
    }
    benches.iter().map(|bench| format!("  {:<12} {}", bench.name, bench.about)).collect::<Vec<_>>().join("\n")
}

fn find<'b>(benches: &'b [Bench], name: &str) -> Result<&'b Bench, Failure> {
    benches.iter().find(|bench| bench.name == name).ok_or_else(|| {
        Failure::new(format!("there is no benchmark `{name}`")).hint(format!("known benchmarks:\n{}", table(benches)))
    })
}

/// Beside the folder of this very program, wherever the caller's settings put the target folder.
fn release_folder() -> Result<PathBuf, Failure> {
    let folder = target_folder()?;
    Ok(folder.parent().expect("cargo puts a binary two folders deep").join("release"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Bench] = &[
        Bench { name: "first", about: "the first one", command: &["bench-first"] },
        Bench { name: "second", about: "the second one", command: &["bench-second", "--many"] },
    ];

    #[test]
    fn a_benchmark_is_found_by_name() {
        assert_eq!(find(TWO, "second").expect("it is there").command, ["bench-second", "--many"]);
    }

    #[test]
    fn an_unknown_benchmark_lists_the_known_ones() {
        let failure = find(TWO, "third").expect_err("it is not there").to_string();
        assert!(failure.contains("`third`") && failure.contains("second       the second one"), "{failure}");
    }
}
