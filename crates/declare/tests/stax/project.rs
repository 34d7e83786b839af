//! A project out of files, and what is made of it.

use entourage_declare::{Loaded, MemoryFiles, Project, Wishes, load};
use entourage_model::{Name, Severity};
use entourage_script::NoMemory;
use std::collections::BTreeSet;

/// The seed's own example, completed by what it leaves out.
pub(crate) const AGENT: &str = r#"import { defineAgent } from "stax";
import codex from "@stax/codex";

export default defineAgent({
  name: "backend-engineer",
  version: "1.0.0",
  adapter: codex({}),
  subagents: "./subagents.ts",
});
"#;

pub(crate) const SUBAGENTS: &str = r#"import { defineSubagents } from "stax";

export default defineSubagents({
  agents: {
    reviewer: {
      description: "Reviews code changes for correctness and regressions",
      invocation: "manual",
      instructions: "./subagents/reviewer.md",
      model: "gpt-5-codex",
      handoff: {
        allowedFrom: ["primary"],
        returnMode: "report",
      },
    },
    debugger: {
      description: "Investigates failing builds and runtime errors",
      invocation: "delegate",
      instructions: "./subagents/debugger.md",
    },
  },
});
"#;

/// The seed's example with `files` added, or put in place of its own.
pub(crate) fn seed(files: &[(&str, &str)]) -> Loaded {
    let own = [
        ("agent.ts", AGENT),
        ("subagents.ts", SUBAGENTS),
        ("subagents/reviewer.md", "Review code for correctness, regressions, and missing tests.\n"),
        ("subagents/debugger.md", "Find the cause.\n"),
    ];
    project(&[&own, files].concat())
}

pub(crate) fn project(files: &[(&str, &str)]) -> Loaded {
    let files: MemoryFiles = files.iter().map(|(path, text)| (*path, *text)).collect();
    let tools: BTreeSet<Name> = ["read_file", "write_file"].map(Name::from).into();
    load(&Project {
        files: &files,
        home: None,
        profile_folders: &[],
        settings: &Wishes::default(),
        tools: &tools,
        memory: &NoMemory,
    })
}

/// `error[D051] agent.ts:8:3 what | hint`.
pub(crate) fn lines(loaded: &Loaded) -> Vec<String> {
    let line = |report: &entourage_model::Report| {
        let word = if report.severity == Severity::Error { "error" } else { "warning" };
        let place = report.place.as_ref().map(ToString::to_string).unwrap_or_default();
        let hint = report.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{word}[{}] {place} {}{hint}", report.code.0, report.what)
    };
    loaded.reports.iter().map(line).collect()
}
