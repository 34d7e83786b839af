//! What a file is taken for, by its path or by what it says.

use crate::kit::{lines, loaded};
use entourage_declare::{Format, MemoryFiles, declared_as, declared_in, export, import, import_beside};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn a_path_tells_where_a_harness_keeps_its_agents() {
    for (path, expected) in [
        (".claude/agents/a.md", Some(Format::ClaudeCode)),
        (".claude/agents/team/deep/a.md", Some(Format::ClaudeCode)),
        ("/home/u/.claude/agents/a.md", Some(Format::ClaudeCode)),
        (".goose/agents/a.md", Some(Format::ClaudeCode)),
        (".agents/agents/a.md", Some(Format::ClaudeCode)),
        (".goose/recipes/a.yaml", Some(Format::Goose)),
        (".goose/recipes/a.json", Some(Format::Goose)),
        ("recipe.yaml", Some(Format::Goose)),
        (".codex/agents/a.toml", Some(Format::Codex)),
        (".codex/config.toml", Some(Format::Codex)),
        (".opencode/agents/a.md", Some(Format::Opencode)),
        (".opencode/agent/a.md", Some(Format::Opencode)),
        (".config/opencode/agents/a.md", Some(Format::Opencode)),
        ("opencode.json", Some(Format::Opencode)),
        (".github/agents/a.md", Some(Format::GithubCopilot)),
        (".github/chatmodes/a.chatmode.md", Some(Format::GithubCopilot)),
        ("anywhere/a.agent.md", Some(Format::GithubCopilot)),
        (".gemini/agents/a.md", Some(Format::Gemini)),
        (".cursor/agents/a.md", Some(Format::Cursor)),
        ("C:\\work\\.cursor\\agents\\a.md", Some(Format::Cursor)),
        (".dex/agents/a.md", Some(Format::Dex)),
        ("subagents/a.md", Some(Format::AgentScope)),
        ("../other/subagents/a.md", Some(Format::AgentScope)),
        ("team/docker-agent.yaml", Some(Format::DockerAgent)),
        // What only looks like it.
        (".claude/agents/a.txt", None),
        (".claude/a.md", None),
        ("x.claude/agents/a.md", None),
        (".codex/agents/a.md", None),
        ("docs/subagents/deep/a.md", None),
        ("config.toml", None),
        ("my-opencode.json", None),
        (".agent.md", None),
        ("team.yaml", None),
        ("", None),
    ] {
        assert_eq!(declared_as(path), expected, "{path}");
    }
}

#[test]
fn what_is_written_lies_where_it_is_looked_for() {
    for (from, to) in [
        (super::files::goose(), Format::Codex),
        (super::files::docker_agent(), Format::Goose),
        (super::files::goose(), Format::DockerAgent),
    ] {
        let written = crate::kit::exported("x.json", &from.to_string(), to);
        for (path, _) in &written.files {
            assert_eq!(declared_as(path), Some(to), "{path}");
        }
    }
}

/// The format of the agents that were found, or the only report.
fn check(path: &str, text: &str, expected: &str) {
    let imported = import(path, text.as_bytes(), None);
    let found = match imported.agents.first() {
        Some(agent) => agent.format.name().to_owned(),
        None => lines(&imported.reports).join("\n"),
    };
    assert_eq!(found, expected, "{path}");
}

#[test]
fn a_text_tells_what_its_path_does_not() {
    check("a.md", "---\nname: a\ndescription: b\npermissionMode: plan\n---\nx", "claude-code");
    check("a.md", "---\nname: a\ndescription: b\nis_background: true\n---\nx", "cursor");
    check("a.md", "---\nname: a\ndescription: b\nmax_turns: 3\n---\nx", "gemini");
    check("a.md", "---\ndescription: b\nargument-hint: c\n---\nx", "github-copilot");
    check("a.md", "---\ndescription: b\npermission: { edit: deny }\n---\nx", "opencode");
    check("a.toml", "name = 'a'\ndescription = 'b'\ndeveloper_instructions = 'c'", "codex");
    check("a.toml", "[agents.a]\ndescription = 'b'", "codex");
    check("a.yml", "title: A\ndescription: b\nprompt: c", "goose");
    check("a.json", r#"{"recipe": {"title": "A", "description": "b", "instructions": "c"}}"#, "goose");
    check("a.yaml", "agents: { a: { instruction: b } }", "docker-agent");
    check("../p/subagents/a.md", "---\ndescription: b\n---\nx", "agentscope");
    check("a.json", r#"{"agents": {"a": {"description": "b", "instructions": "c"}}}"#, "stax");
    check("a.json", r#"{"agents": {"a": {"description": "b", "instruction": "c"}}}"#, "docker-agent");
    check("a.json", r#"{"a": {"description": "b", "prompt": "c"}}"#, "claude-code");
}

#[test]
fn a_text_that_may_be_several_things_asks_which() {
    check(
        "a.md",
        "---\nname: a\ndescription: b\nmodel: sonnet\n---\nx",
        "error[D125] a.md `a.md` may be in any of these formats: `claude-code`, `github-copilot`, `gemini`, `cursor` | say \
         which with `--from FORMAT`: claude-code, github-copilot, gemini, cursor",
    );
    let known = "say which with `--from FORMAT`: stax, dex, agentscope, claude-code, codex, opencode, github-copilot, gemini, \
                 cursor, goose, docker-agent";
    for (path, text) in [
        ("a.md", "# Notes\n"),
        ("a.md", "---\nlayout: page\n---\nx"),
        ("a.toml", "[package]\nname = 'a'"),
        ("a.toml", "[agents]\nmax_threads = 2"),
        ("a.yaml", "- 1"),
        ("a.json", "{}"),
        ("a", ""),
    ] {
        check(path, text, &format!("error[D126] {path} `{path}` is in no format that is known here | {known}"));
    }
    check(
        "a.toml",
        "x = 1\ny = ",
        &format!(
            "error[D126] a.toml:2:5 the file's format cannot be told, since it cannot be read: string values must be \
             quoted, expected literal string | {known}"
        ),
    );
}

#[test]
fn whoever_says_the_format_is_believed() {
    let text = "---\nname: a\ndescription: b\n---\nx";
    for format in [Format::ClaudeCode, Format::Cursor, Format::Gemini, Format::GithubCopilot] {
        let imported = import("a.md", text.as_bytes(), Some(format));
        assert_eq!(imported.agents.first().map(|agent| agent.format), Some(format));
    }
}

/// A bundle of stax that names a file beside it.
const BUNDLE: &str = r#"{"specVersion": "1.0.0", "agents": {
  "reader": {"description": "Reads.", "instructions": "./subagents/reader.md", "model": "openai:gpt-5"},
  "writer": {"description": "Writes.", "instructions": "Write.", "invocation": "manual"}}}"#;

const AGENT: &str = r#"{"name": "root", "version": "1.0.0", "subagents": "./subagents.json",
  "adapter": {"type": "codex", "runtime": "codex", "adapterVersion": "1.0.0"}}"#;

#[test]
fn a_bundle_of_stax_is_imported_with_the_texts_that_it_names() {
    let files =
        MemoryFiles::from_iter([("subagents.json", BUNDLE), ("agent.json", AGENT), ("subagents/reader.md", "Read.\n")]);
    for from in [None, Some(Format::Stax)] {
        for (name, text, expected) in [
            ("subagents.json", BUNDLE, &["reader stax Read.\n", "writer stax Write."][..]),
            ("agent.json", AGENT, &["reader stax Read.\n", "writer stax Write.", "root stax "]),
        ] {
            let imported = import_beside(&format!("p/{name}"), text.as_bytes(), from, Some(&files));
            assert_eq!(lines(&imported.reports), Vec::<String>::new());
            let agents = imported.agents.iter();
            let agents =
                agents.map(|agent| format!("{} {} {}", agent.name, agent.format, crate::kit::page(&agent.text).1));
            assert_eq!(agents.collect::<Vec<_>>(), expected, "{name}");
            let losses: Vec<_> = imported.losses.iter().map(|loss| format!("{} {}", loss.agent, loss.field)).collect();
            let of_root: &[&str] = if name == "agent.json" { &["root subagents"] } else { &[] };
            assert_eq!(losses, of_root, "{name}");
        }
    }
    let alone = import("p/subagents.json", BUNDLE.as_bytes(), None);
    assert_eq!(
        lines(&alone.reports),
        [
            "error[D052] p/subagents.json:2:39 `agents.reader.instructions` is `./subagents/reader.md`, which does not exist | \
          write the file, or remove the key"
        ]
    );
    assert_eq!(alone.agents.len(), 1);
}

/// An agent of stax that names everything that there is beside it.
const WHOLE: &str = r#"{"name": "root", "version": "1.0.0", "prompt": "./prompt.md", "mcp": "./mcp.json",
  "skills": "./skills", "knowledge": "./knowledge", "secrets": [{"key": "TOKEN", "required": true}],
  "packages": ["ghcr.io/a/b:1.0.0"], "workspaceSources": [{"id": "w", "ref": "r", "mountPath": "/w"}],
  "adapter": {"type": "codex", "runtime": "codex", "adapterVersion": "1.0.0"}}"#;

const SERVERS: &str = r#"{"specVersion": "1.0.0", "servers": {
  "s": {"command": "c", "cwd": "/x", "enabledTools": ["a"]},
  "t": {"url": "https://x", "transport": "sse", "enabledTools": []}}}"#;

#[test]
fn an_agent_of_stax_brings_its_servers_and_skills_and_names_what_stays_behind() {
    let skill = "---\nname: count\ndescription: Counts.\n---\nCount twice.\n";
    let mut files = MemoryFiles::from_iter([
        ("agent.json", WHOLE),
        ("prompt.md", "You work."),
        ("mcp.json", SERVERS),
        ("skills/count/SKILL.md", skill),
        ("knowledge/k.md", "K."),
    ]);
    let imported = |files: &MemoryFiles| import_beside("agent.json", WHOLE.as_bytes(), None, Some(files));
    let losses = |files: &MemoryFiles| {
        let fields: BTreeSet<_> = imported(files).losses.into_iter().map(|loss| loss.field).collect();
        fields.into_iter().collect::<Vec<_>>().join(" ")
    };
    let expected = "knowledge mcp.s.cwd mcp.t.transport packages secrets workspaceSources";
    assert_eq!(losses(&files), expected);
    let kept = imported(&files).agents.remove(0);
    assert!(kept.text.ends_with("You work.\n\n## Skill: count\n\nCounts.\n\nCount twice."), "{}", kept.text);
    let loaded = loaded(&MemoryFiles::from_iter([(kept.path.as_str(), kept.text.as_str())]));
    let servers: Vec<_> = loaded.servers.iter().map(|server| server.key.name.as_str()).collect();
    let prompt = &loaded.team.agent(&kept.name).unwrap().side_a.prompt;
    let tools = prompt.tools.iter().map(|tool| tool.name().as_str()).filter(|name| name.starts_with("mcp__"));
    assert_eq!((servers, tools.collect::<Vec<_>>()), (vec!["s", "t"], vec!["mcp__s__a"]));
    let written = export(&loaded.team, &[kept.name], Format::Stax).unwrap();
    let text = |path: &str| &written.files.iter().find(|(known, _)| known == path).unwrap().1;
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(json(text("mcp.json")), json(SERVERS));
    assert_eq!(json(text("agent.json"))["mcp"], "./mcp.json");
    assert_eq!(crate::kit::lost(&written), ["knowledge"]);
    files.insert("skills/count/run.sh", "true", true);
    assert_eq!(losses(&files), expected.replace("secrets", "secrets skills"));
}

#[test]
fn a_folder_is_judged_by_where_it_lies_and_by_what_its_files_say() {
    let check = |folder: &str, files: &[(&str, &str)], expected: &[&str]| {
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let files: MemoryFiles = files.iter().copied().collect();
        assert_eq!(declared_in(folder, &files, paths), expected, "{folder}");
    };
    let front = "---\ndescription: d\n---\n";
    check("/p/subagents", &[("a.md", front), ("notes.md", "Notes."), ("deep/a.md", front)], &["a.md"]);
    check("/p/.dex/agents", &[("a.md", front), ("a.txt", "")], &["a.md"]);
    check("/p/.claude/agents/", &[("a.md", front), ("deep/a.md", front)], &["a.md", "deep/a.md"]);
    check("/p", &[("a.md", front), ("subagents/a.md", front), ("subagents/plain.md", "x")], &["subagents/a.md"]);
    check("/p", &[("agent.json", "{}"), ("subagents/a.md", front)], &["subagents/a.md"]);
    for folder in [".claude/agents", ".dex/agents", ".gemini/agents", ".github/agents", "subagents"] {
        let files = [("README.md", "# Our agents\n"), ("a.md", front), ("late.md", "\n---\nname: b\n---\n")];
        check(&format!("/p/{folder}"), &files, &["a.md", "late.md"]);
    }
    for folder in [".cursor/agents", ".opencode/agents"] {
        let files = [("ReadMe.md", "# Our agents\n"), ("a.md", "You review.\n")];
        check(&format!("/p/{folder}"), &files, &["a.md"]);
    }
    let team = "agents:\n  root:\n    model: openai/gpt-5\n    instruction: Do.\n";
    let recipe = "title: A\ndescription: b\nprompt: c\n";
    let others = [("values.yaml", "agents:\n  replicas: 2\n"), ("crew.yaml", "agents:\n  a: {role: b, goal: c}\n")];
    let found = [("team.yaml", team), ("recipes/a.yml", recipe), ("empty.yaml", "agents: {}\n"), ("odd.yaml", "a: [")];
    check("/p", &[&found[..], &others[..]].concat(), &["team.yaml", "recipes/a.yml"]);
    let stax = [
        ("agent.json", AGENT),
        ("subagents.json", BUNDLE),
        ("subagents/other.md", front),
        ("subagents/reader.md", front),
    ];
    check("/p", &stax, &["agent.json", "subagents/other.md"]);
    check("/p", &stax[1..], &["subagents.json", "subagents/other.md"]);
}
