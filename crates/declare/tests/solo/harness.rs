//! Agents of other harnesses, read where they lie.

use super::{agent, body, check, children_of, declared, project, tools_of};

#[test]
fn the_agents_of_both_folders_and_of_those_within_are_read() {
    let loaded = check(
        "
-- .claude/agents/team/sec.md
---
name: sec-auditor
description: Finds injection.
tools: Read, Grep, mcp__github__*
model: sonnet
---
Look.
-- .agents/agents/plain.md
---
description: d
---
-- .agents/agents/kept.md
---
name: kept
description: d
x-cursor:
  readonly: true
---
Kept.
-- .claude/agents/README.md
# Not an agent
-- .claude/agents/late.md

---
name: late
description: d
---
-- .claude/agents/.draft/x.md
---
name: x
---
-- .claude/settings.json
{}
",
        &[
            "warning[D081] .claude/agents/late.md:1:1 this file declares nothing: its front matter does not begin in the first line | remove what stands before `---`",
            "warning[D095] .claude/agents/team/sec.md:4:1 agent `sec-auditor` may use tool `mcp__github__*`, but there is no MCP server `github` | add `[mcp.github]` to `entourage.toml`",
        ],
    );
    assert_eq!(
        declared(&loaded),
        [
            "kept cursor .agents/agents/kept.md",
            "plain claude-code .agents/agents/plain.md",
            "sec-auditor claude-code .claude/agents/team/sec.md",
        ]
    );
    let auditor = agent(&loaded, "sec-auditor");
    assert_eq!((body(&auditor).as_str(), &auditor.side_a.prompt.model), ("Look.\n", &None));
    assert_eq!(tools_of(&auditor), ["grep_files", "read_file"]);
    assert_eq!((auditor.side_a.steps_max, &auditor.workspace), (None, &None));
    assert_eq!(tools_of(&agent(&loaded, "kept")), ["find_files", "grep_files", "list_files", "read_file"]);
}

#[test]
fn descriptions_with_colons_are_fine() {
    let loaded = check(
        "
-- .claude/agents/a.md
---
name: a
description: Use it when asked. Examples: <example>Context: x. user: \"y\"</example>
---
",
        &[],
    );
    assert!(agent(&loaded, "a").description.ends_with("user: \"y\"</example>"));
}

#[test]
fn what_a_harness_requires_is_required() {
    let loaded = check(
        "
-- .claude/agents/a.md
---
description: d
---
-- .claude/agents/b.md
---
name: b
---
-- .claude/agents/c.md
---
name: [
---
-- .claude/agents/d.md
---
name: d
",
        &[
            "error[D005] .claude/agents/a.md:2:1 `name` is missing | add `name`",
            "error[D005] .claude/agents/b.md:2:1 `description` is missing | add `description`",
            "error[D114] .claude/agents/c.md:2:7 this is not valid YAML: unclosed bracket '[' | put a value that has `: ` \
             or begins with a sign in quotes",
            "error[D113] .claude/agents/d.md:1:1 the front matter has no end | close it with a line `---`",
        ],
    );
    assert_eq!(declared(&loaded), [""; 0]);
}

#[test]
fn one_name_twice_in_a_folder_is_an_error_and_in_both_folders_a_warning_unless_they_are_the_same() {
    let file = |path: &str, text: &str| format!("-- {path}\n---\nname: x\ndescription: {text}\n---\n");
    let (one, two) = (file(".claude/agents/a/x.md", "one"), file(".claude/agents/b/x.md", "two"));
    let loaded = check(
        &format!("{one}{two}"),
        &["error[D010] .claude/agents/b/x.md:2:1 agent `x` is declared twice: in `.claude/agents/a/x.md` and in \
           `.claude/agents/b/x.md` | give one of them another name; until then `.claude/agents/b/x.md` counts"],
    );
    assert_eq!(declared(&loaded), ["x claude-code .claude/agents/b/x.md"]);
    let told = "warning[D084] .agents/agents/x.md:2:1 agent `x` is declared twice: in `.claude/agents/a/x.md` and in \
                `.agents/agents/x.md` | give one of them another name; until then `.agents/agents/x.md` counts";
    check(&format!("{one}{}", file(".agents/agents/x.md", "two")), &[told]);
    check(&format!("{one}{}", file(".agents/agents/x.md", "one")), &[]);
}

#[test]
fn children_are_those_that_are_declared() {
    let loaded = check(
        "
-- .claude/agents/boss.md
---
name: boss
description: d
tools: Read, Agent(worker, helpr, twin)
---
-- .claude/agents/worker.md
---
name: worker
description: d
---
-- .claude/agents/helper.md
---
name: helper
description: d
---
-- .claude/agents/twin.md
---
name: twin
description: d
---
-- subagents/twin.md
---
description: d
---
",
        &[
            "warning[D097] .claude/agents/boss.md:4:1 agent `boss` may start agent `helpr`, which is not declared | did you \
             mean `helper`?",
            "warning[D085] .claude/agents/twin.md:2:1 agent `twin` is declared twice: in `subagents/twin.md` and in \
             `.claude/agents/twin.md` | give one of them another name; until then the latter is called `claude-code/twin`",
        ],
    );
    assert_eq!(children_of(&agent(&loaded, "boss")), ["worker", "twin=claude-code/twin"]);
}

#[test]
fn folders_end_somewhere() {
    let deep = |depth: usize| {
        let folders: String = (0..depth).map(|index| format!("f{index}/")).collect();
        project(&format!("-- .claude/agents/{folders}x.md\n---\nname: x\ndescription: d\n---\n"))
    };
    assert_eq!(declared(&deep(7)).len(), 1);
    let loaded = deep(8);
    assert_eq!(declared(&loaded).len(), 0);
    assert_eq!((loaded.reports.len(), loaded.reports[0].code.0), (1, "D080"));
    let wide: String = (0..1_100).map(|index| format!("-- .claude/agents/f{index}/x.txt\n\n")).collect();
    assert_eq!(project(&wide).reports.len(), 1);
}

#[test]
fn an_imported_subagent_leads_nowhere_else_either() {
    let file = |name: &str| {
        format!(
            "-- .agents/agents/x.md\n---\nname: {name}\ndescription: d\nx-agentscope: {{ maxIters: 4 }}\n---\nBody.\n"
        )
    };
    let loaded = check(&file("fine"), &[]);
    assert_eq!(declared(&loaded), ["fine agentscope .agents/agents/x.md"]);
    assert_eq!(agent(&loaded, "fine").side_a.steps_max, Some(4));
    let loaded = project(&file("../x"));
    assert_eq!((loaded.reports.len(), loaded.reports[0].code.0), (1, "D089"));
    assert_eq!(declared(&loaded), [""; 0]);
}

#[test]
fn a_key_beside_what_the_source_said_has_no_effect_and_is_told() {
    check(
        "
-- .agents/agents/kept.md
---
name: kept
description: d
model: openai:gpt-5
x-cursor:
  readonly: true
x-gemini: {}
---
Kept.
",
        &[
            "warning[D119] .agents/agents/kept.md:4:1 `model` stands beside `x-cursor` and has no effect | write it inside \
             `x-cursor`, in that format's words",
            "warning[D119] .agents/agents/kept.md:7:1 `x-gemini` stands beside `x-cursor` and has no effect | write it inside \
             `x-cursor`, in that format's words",
        ],
    );
}

#[test]
fn a_reference_of_ours_names_a_model_in_the_files_of_other_harnesses_too() {
    for folder in [".claude/agents", ".agents/agents"] {
        for (model, expected) in [
            ("openai:other", Some("openai:other")),
            ("script:play", Some("script:play")),
            ("claude-opus-4-1", Some("anthropic:claude-opus-4-1")),
            ("sonnet", None),
            ("us.anthropic.claude-v2:0", None),
        ] {
            let loaded = check(&format!("-- {folder}/a.md\n---\nname: a\ndescription: d\nmodel: {model}\n---\n"), &[]);
            let found = agent(&loaded, "a").side_a.prompt.model.clone();
            assert_eq!(found.as_ref().map(|model| model.as_str()), expected, "{folder} {model}");
        }
    }
}
