//! The examples of the seeds, as they stand there.

use super::{agent, body, check, declared, tools_of};
use entourage_model::{ModelRef, Remote, WorkspaceMode, WorkspaceWish};
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn the_profile_of_dex_checks_clean() {
    let loaded = check(
        "
-- .dex/agents/research.md
---
id: research
name: Research
description: Gather information without modifying files.
tools:
- read
- search
disabledTools:
- bash
---
You are a focused research subagent.
",
        &[],
    );
    assert_eq!(declared(&loaded), ["research dex .dex/agents/research.md"]);
    let research = agent(&loaded, "research");
    assert_eq!(research.title.as_deref(), Some("Research"));
    assert_eq!(research.description, "Gather information without modifying files.");
    assert_eq!(body(&research), "You are a focused research subagent.\n");
    assert_eq!(tools_of(&research), ["grep_files", "read_file"]);
    assert_eq!(research.workspace, Some(WorkspaceWish { mode: WorkspaceMode::Shared, path: None }));
    let kept = json!({
        "id": "research", "name": "Research", "description": "Gather information without modifying files.",
        "tools": ["read", "search"], "disabledTools": ["bash"],
    });
    assert_eq!(research.extra["x-dex"], kept);
}

#[test]
fn the_declaration_of_agentscope_checks_clean_but_for_the_text_that_it_ignores() {
    let text = "
-- subagents/reviewer.md
---
description: Code review expert
workspace:
  mode: isolated # isolated | shared, defaults to isolated
  path: ./defs/reviewer # optional; relative to mainWorkspace or absolute
model: openai:gpt-4o-mini # optional
maxIters: 8 # optional, default 10
tools: [read_file, grep_files] # optional
---
You are a subagent focused on code review.
";
    let ignored = "warning[D087] subagents/reviewer.md:3:1 the text of this file is ignored, because `workspace.path` \
                   is set | put it into `defs/reviewer/AGENTS.md`, or remove `path`";
    let reviewer = agent(&check(text, &[ignored]), "reviewer");
    assert_eq!(reviewer.description, "Code review expert");
    assert_eq!(body(&reviewer), "");
    let workspace =
        |path: Option<&str>| Some(WorkspaceWish { mode: WorkspaceMode::Isolated, path: path.map(str::to_owned) });
    assert_eq!(reviewer.workspace, workspace(Some("defs/reviewer")));
    assert_eq!(reviewer.side_a.prompt.model, ModelRef::parse("openai:gpt-4o-mini"));
    assert_eq!(reviewer.side_a.steps_max, Some(8));
    assert_eq!(tools_of(&reviewer), ["grep_files", "read_file"]);
    assert_eq!(reviewer.extra["x-agentscope"]["body"], "You are a subagent focused on code review.\n");
    let without_path = text.replace("  path: ./defs/reviewer # optional; relative to mainWorkspace or absolute\n", "");
    let reviewer = agent(&check(&without_path, &[]), "reviewer");
    assert_eq!(body(&reviewer), "You are a subagent focused on code review.\n");
    assert_eq!(reviewer.workspace, workspace(None));
}

#[test]
fn the_programmatic_declarations_of_agentscope_check_clean_as_settings() {
    let loaded = check(
        r#"
-- entourage.toml
[subagents.reviewer]
description = "Code review expert"
workspace = { path = "./defs/reviewer", mode = "ISOLATED" }
model = "qwen3-max"
maxIters = 8
tools = ["read_file", "grep_files"]

[subagents.remote-researcher]
description = "Remote research subagent"
url = "http://agent-task-server:8080"
headers = { Authorization = "Bearer xxx" }
"#,
        &[],
    );
    assert_eq!(
        declared(&loaded),
        ["remote-researcher agentscope entourage.toml", "reviewer agentscope entourage.toml"]
    );
    let reviewer = agent(&loaded, "reviewer");
    assert_eq!((reviewer.side_a.steps_max, &reviewer.side_a.prompt.model), (Some(8), &None));
    let remote = agent(&loaded, "remote-researcher");
    let expected = Remote { url: "http://agent-task-server:8080".to_owned(), headers: BTreeMap::new() };
    assert_eq!(remote.remote, Some(expected));
    assert_eq!(loaded.headers["remote-researcher"]["Authorization"].reveal(), "Bearer xxx");
}
