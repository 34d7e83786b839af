//! Files of Codex, and roles of its configuration.

use crate::kit::{exported, imported, lines, loaded, lost_by_agent, only_file, page, toml};
use entourage_declare::{Format, MemoryFiles, import, import_beside};
use serde_json::{Value, json};

/// The reports about a file, a line each.
fn check(path: &str, text: &str, expected: &[&str]) {
    let imported = import(path, text.as_bytes(), None);
    assert_eq!(lines(&imported.reports), expected, "{text}");
}

#[test]
fn a_fault_has_its_place_and_says_what_to_do() {
    let path = ".codex/agents/a.toml";
    check(
        path,
        "name = ",
        &[
            "error[D127] .codex/agents/a.toml:1:8 this is not valid TOML: string values must be quoted, expected literal string | correct it there: a text stands in quotes, a table begins with `[name]`",
        ],
    );
    check(
        path,
        "model = 'x'",
        &[
            "error[D005] .codex/agents/a.toml:1:1 `name` is missing | add `name`",
            "error[D005] .codex/agents/a.toml:1:1 `developer_instructions` is missing | add `developer_instructions`",
            "error[D005] .codex/agents/a.toml:1:1 `description` is missing | add `description`",
        ],
    );
    check(
        path,
        "name = 'a'\ndescription = 1\ndeveloper_instructions = 'x'\nmodel = true",
        &[
            "error[D006] .codex/agents/a.toml:2:1 `description` must be a string, not `1` | write a string",
            "error[D006] .codex/agents/a.toml:4:1 `model` must be a string, not `true` | write a string",
        ],
    );
    check(
        path,
        "name = 'a'\ndescription = 'b'\ndeveloper_instructions = 'x'\nsandbox_mod = 'read-only'\n[mcp_servers.s]\ncommand = 'c'\narg = ['d']",
        &[
            "warning[D007] .codex/agents/a.toml:4:1 the field `sandbox_mod` is unknown and has no effect | did you mean `sandbox_mode`?",
            "warning[D007] .codex/agents/a.toml:7:1 the field `mcp_servers.s.arg` is unknown and has no effect | did you mean `args`?",
        ],
    );
}

#[test]
fn a_word_that_takes_no_right_away_is_told_of_when_it_comes_and_where_it_is_kept() {
    let text = "name = 'a'\ndescription = 'b'\ndeveloper_instructions = 'x'\nsandbox_mode = 'read-onyl'";
    let told = |place: &str| {
        format!(
            "warning[D132] {place} `sandbox_mode` must be one of `read-only`, `workspace-write`, `danger-full-access`, not \
             `read-onyl`: it takes no right away | did you mean `read-only`?"
        )
    };
    check(".codex/agents/a.toml", text, &[&told(".codex/agents/a.toml:4:1")]);
    let kept = imported(".codex/agents/a.toml", text).agents.remove(0);
    let loaded = loaded(&MemoryFiles::from_iter([(kept.path.as_str(), kept.text.as_str())]));
    assert_eq!(lines(&loaded.reports), [told(".agents/agents/a.md:7:3")]);
    for word in ["read-only", "workspace-write", "danger-full-access"] {
        check(".codex/agents/a.toml", &text.replace("read-onyl", word), &[]);
    }
}

#[test]
fn unknown_keys_are_kept_and_not_written_to_codex() {
    let text = "name = 'a'\ndescription = 'b'\ndeveloper_instructions = 'x'\nzest = 1\n[mcp_servers.s]\ncommand = 'c'\narg = 2";
    let imported = imported(".codex/agents/a.toml", text);
    let kept = page(&imported.agents[0].text).0;
    assert_eq!(kept["x-codex"]["zest"], 1);
    assert_eq!(kept["x-codex"]["mcp_servers"]["s"]["arg"], 2);
    let losses: Vec<_> = imported.losses.iter().map(|loss| loss.field.as_str()).collect();
    assert_eq!(losses, ["zest", "mcp_servers.s.arg"]);
    let written = exported(".codex/agents/a.toml", text, Format::Codex);
    assert_eq!(lost_by_agent(&written), ["a mcp_servers.s.arg", "a zest"]);
    let expected = json!({
        "name": "a", "description": "b", "developer_instructions": "x", "mcp_servers": { "s": { "command": "c" } }
    });
    assert_eq!(toml(only_file(&written).1), expected);
}

const CONFIGURATION: &str = r#"
model = "gpt-5"
[agents]
max_threads = 4
[agents.reviewer]
description = "Reviews"
config_file = "./agents/reviewer.toml"
nickname_candidates = ["Rae"]
[agents.plain]
description = "Plain"
"#;

fn beside(files: &[(&str, &str)]) -> MemoryFiles {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_role_is_its_file_with_what_the_configuration_says_on_top() {
    let files = beside(&[(
        "agents/reviewer.toml",
        "name = 'other'\ndescription = 'Old'\nmodel = 'gpt-5-mini'\ndeveloper_instructions = 'You review.'",
    )]);
    let imported = import_beside(".codex/config.toml", CONFIGURATION.as_bytes(), None, Some(&files));
    assert_eq!(lines(&imported.reports), Vec::<String>::new());
    let agents: Vec<_> = imported.agents.iter().map(|agent| (agent.name.as_str(), page(&agent.text))).collect();
    let expected = json!({ "model": "gpt-5-mini", "description": "Reviews", "nickname_candidates": ["Rae"] });
    assert_eq!(agents[0].0, "reviewer");
    assert_eq!(agents[0].1.0["x-codex"], expected);
    assert_eq!(agents[0].1.1, "You review.");
    assert_eq!((agents[1].0, agents[1].1.1), ("plain", ""));
}

#[test]
fn a_role_whose_file_cannot_be_read_is_left_out_with_a_report() {
    let role = |path: &str| format!("[agents.a]\ndescription = 'b'\nconfig_file = {}", Value::from(path));
    for (path, files, expected) in [
        (
            "x.toml",
            vec![],
            "error[D129] .codex/config.toml:3:1 `agents.a.config_file` is `x.toml`, which is not there | correct the path, or \
             put the text in its place",
        ),
        (
            "../x.toml",
            vec![("../x.toml", "")],
            "error[D129] .codex/config.toml:3:1 `agents.a.config_file` is `../x.toml`, which leads out of the file's own \
             folder | name a file below the one that names it",
        ),
        (
            "/etc/x.toml",
            vec![],
            "error[D129] .codex/config.toml:3:1 `agents.a.config_file` is `/etc/x.toml`, which leads out of the file's own \
             folder | name a file below the one that names it",
        ),
        (
            "x.toml",
            vec![("x.toml", "a = 1\nb = ")],
            "error[D127] .codex/config.toml:3:1 the file of role `a` is not valid TOML: string values must be quoted, expected \
             literal string | mend line 2, column 5 of that file",
        ),
    ] {
        let files = beside(&files);
        let imported = import_beside(".codex/config.toml", role(path).as_bytes(), None, Some(&files));
        assert_eq!(lines(&imported.reports), [expected]);
        assert!(imported.agents.is_empty());
    }
    check(
        ".codex/config.toml",
        "[agents.a]\ndescription = 'b'\nconfig_file = 1",
        &[
            "error[D006] .codex/config.toml:3:1 `agents.a.config_file` must be a path, not `1` | write the path of a file beside this one",
        ],
    );
    check(
        ".codex/config.toml",
        "[agents]\nmax_threads = 2",
        &[
            "warning[D128] .codex/config.toml:1:1 this configuration names no agent | give a file of `.codex/agents`, or one with \
         `[agents.<name>]`",
        ],
    );
}

#[test]
fn another_formats_agent_becomes_what_codex_understands() {
    let text = "---\nname: a\ndescription: b\nmodel: claude-opus-4-1\npermissionMode: acceptEdits\neffort: max\nmcpServers:\n  - s:\n      url: https://x\n      headers: {A: b}\ntools: Read\n---\nBody ''' \"\"\" \\ \r\nend";
    let written = exported(".claude/agents/a.md", text, Format::Codex);
    let expected = json!({
        "name": "a", "description": "b", "model_reasoning_effort": "xhigh", "sandbox_mode": "read-only",
        "mcp_servers": { "s": { "url": "https://x", "http_headers": { "A": "b" } } },
        "developer_instructions": "Body ''' \"\"\" \\ \r\nend"
    });
    assert_eq!(toml(only_file(&written).1), expected);
    assert_eq!(lost_by_agent(&written), ["a model", "a permissionMode", "a tools"]);
    let text = "---\nname: a\ndescription: b\npermissionMode: acceptEdits\n---\nWork.";
    let written = exported(".claude/agents/a.md", text, Format::Codex);
    assert_eq!(toml(only_file(&written).1)["sandbox_mode"], "workspace-write");
    assert_eq!(lost_by_agent(&written), Vec::<String>::new());
}
