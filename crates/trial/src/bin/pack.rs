//! `cargo x bench pack`: how long a bundle of many subagents takes, and how much memory a large one.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark writes the project and starts what it measures")]

use clap::Parser;
use entourage_testkit::{Access, RealRegistry};
use serde_json::{Map, json};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FILES: u64 = 4;
const MIB: u64 = 1 << 20;

/// Builds and materialises a bundle of many subagents; builds, pushes and pulls one with much knowledge.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, default_value_t = 1000)]
    subagents: usize,
    #[arg(long, default_value_t = 200)]
    knowledge_mib: u64,
}

/// What a command took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    time: Duration,
    memory_kib: u64,
}

fn main() -> anyhow::Result<()> {
    let Arguments { rounds, subagents, knowledge_mib } = Arguments::parse();
    let many = tempfile::tempdir()?;
    team(many.path(), subagents)?;
    let (mut builds, mut written) = (Vec::new(), Vec::new());
    // All are removed at the end: a file system that has just lost thousands of files is slow to make new ones.
    let places = (0..rounds).map(|_| tempfile::tempdir()).collect::<Result<Vec<_>, _>>()?;
    for place in &places {
        let (data, out) = (shown(&place.path().join("data")), shown(&place.path().join("out")));
        builds.push(run(many.path(), &["--data", &data, "build"])?);
        written.push(run(many.path(), &["--data", &data, "materialize", "--adapter", "claude-code", "--out", &out])?);
    }
    tell(&format!("build of {subagents} subagents"), &mut builds);
    tell(&format!("materialize of {subagents} subagents"), &mut written);
    let registry = RealRegistry::start(Access::Everybody);
    for mib in [1, knowledge_mib] {
        let large = tempfile::tempdir()?;
        knowledge(large.path(), mib)?;
        let reference = format!("{}/large:{mib}", registry.host());
        tell(&format!("build of {mib} MiB of knowledge"), &mut [run(large.path(), &["build"])?]);
        tell(&format!("push of {mib} MiB of knowledge"), &mut [run(large.path(), &["push", &reference])?]);
        let there = tempfile::tempdir()?;
        tell(&format!("pull of {mib} MiB of knowledge"), &mut [run(there.path(), &["pull", &reference])?]);
    }
    Ok(())
}

fn team(root: &Path, count: usize) -> anyhow::Result<()> {
    let mut agents = Map::new();
    std::fs::create_dir(root.join("subagents"))?;
    for number in 0..count {
        let name = format!("agent-{number}");
        let path = format!("./subagents/{name}.md");
        std::fs::write(root.join(&path), format!("# Agent {number}\n\n{}\n", "You look at one thing. ".repeat(80)))?;
        let agent = json!({
            "description": format!("Looks at \"{number}\": nothing else"),
            "instructions": path,
            "invocation": "delegate",
            "tags": ["one", "two"],
            "handoff": { "allowedFrom": ["primary"], "returnMode": "report" },
            "metadata": { "number": number.to_string() },
        });
        agents.insert(name, agent);
    }
    std::fs::write(root.join("subagents.json"), json!({ "agents": agents }).to_string())?;
    define(root, "subagents", "./subagents.json")
}

/// What cannot be compressed, so that every byte of it moves.
fn knowledge(root: &Path, mib: u64) -> anyhow::Result<()> {
    std::fs::create_dir(root.join("knowledge"))?;
    let mut dice = fastrand::Rng::with_seed(7);
    let mut piece = vec![0; 1 << 16];
    for number in 0..FILES {
        let mut file = std::fs::File::create(root.join(format!("knowledge/{number}.bin")))?;
        for _ in 0..mib * MIB / FILES / piece.len() as u64 {
            dice.fill(&mut piece);
            file.write_all(&piece)?;
        }
    }
    define(root, "knowledge", "./knowledge")
}

fn define(root: &Path, key: &str, path: &str) -> anyhow::Result<()> {
    let adapter = json!({
        "type": "claude-code", "runtime": "claude-code", "adapterVersion": "1.0.0", "config": {}, "features": {},
    });
    let definition = json!({ "name": "bench", "version": "1.0.0", "adapter": adapter, key: path });
    Ok(std::fs::write(root.join("agent.json"), definition.to_string())?)
}

fn run(project: &Path, arguments: &[&str]) -> anyhow::Result<Cost> {
    let program = std::env::current_exe()?.with_file_name("entourage");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project).env("HOME", project.join("home")).env_remove("XDG_CACHE_HOME");
    let began = Instant::now();
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut memory_kib = 0;
    let status = loop {
        memory_kib = memory_kib.max(peak_kib(process.id()).unwrap_or_default());
        match process.try_wait()? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    anyhow::ensure!(status.success(), "`entourage {}` ended with {status}", arguments.join(" "));
    Ok(Cost { time: began.elapsed(), memory_kib })
}

/// The most that a process had in memory so far. Absent: it has ended.
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn tell(what: &str, costs: &mut [Cost]) {
    costs.sort_unstable_by_key(|cost| cost.time);
    let (median, best, worst) = (costs[costs.len() / 2].time, costs[0].time, costs[costs.len() - 1].time);
    let memory = costs.iter().map(|cost| cost.memory_kib).max().unwrap_or_default() / 1024;
    println!("{what}: median {median:.1?}, best {best:.1?}, worst {worst:.1?}; at most {memory} MiB in memory");
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
