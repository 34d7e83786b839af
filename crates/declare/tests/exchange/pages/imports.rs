//! Files as they come in: what a project keeps of them, and what is wrong with them.

use super::declared::body;
use crate::kit::{exported, imported, lines, loaded, lost, page};
use entourage_declare::{Format, export, import, import_beside};
use entourage_declare::{MemoryFiles, Written};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

#[test]
fn a_project_keeps_everything_that_the_file_said() {
    let text = "---\nname: mender\ndescription: Mends\nmaxTurns: 3\nodd: [1, x]\n---\n\r\nBody\n---\nmore";
    let imported = imported(".claude/agents/deep/mender.md", text);
    let [agent] = imported.agents.as_slice() else { panic!("{imported:?}") };
    assert_eq!(
        (agent.name.as_str(), agent.format, agent.path.as_str()),
        ("mender", Format::ClaudeCode, ".agents/agents/mender.md")
    );
    let expected = "---\nname: mender\ndescription: Mends\nx-claude-code:\n  name: mender\n  description: Mends\n  maxTurns: 3\n  odd:\n  - 1\n  - x\n---\n\r\nBody\n---\nmore";
    assert_eq!(agent.text, expected);
    let unknown = "warning[D007] .claude/agents/deep/mender.md:5:1 the field `odd` is unknown and has no effect | did you mean `model`?";
    assert_eq!(lines(&imported.reports), [unknown]);
}

/// Name, format and keys of what is kept.
fn kept(path: &str, text: &str) -> Vec<(String, Format, Value, String)> {
    let imported = imported(path, text);
    let kept = imported.agents.iter().map(|agent| {
        let (mut keys, body) = page(&agent.text);
        let said = keys.remove(&agent.format.vendor_key()).unwrap_or_default();
        (agent.name.to_string(), agent.format, said, body.to_owned())
    });
    kept.collect()
}

#[test]
fn a_file_may_hold_several_agents() {
    let claude = r#"{ "one": { "description": "First", "prompt": "Do one.", "tools": ["Read"] }, "two": { "description": "Second", "prompt": "Do two." } }"#;
    let expected = [
        (
            "one".to_owned(),
            Format::ClaudeCode,
            json!({ "description": "First", "tools": ["Read"] }),
            "Do one.".to_owned(),
        ),
        ("two".to_owned(), Format::ClaudeCode, json!({ "description": "Second" }), "Do two.".to_owned()),
    ];
    let imported = import("agents.json", claude.as_bytes(), Some(Format::ClaudeCode));
    assert_eq!(lines(&imported.reports), Vec::<String>::new());
    let names: Vec<_> = imported.agents.iter().map(|agent| agent.name.to_string()).collect();
    assert_eq!(names, expected.clone().map(|(name, ..)| name));
    let keys: Vec<_> = imported.agents.iter().map(|agent| page(&agent.text).0["x-claude-code"].clone()).collect();
    assert_eq!(keys, expected.map(|(_, _, keys, _)| keys));

    let opencode = "{\n  // The team.\n  \"model\": \"openai/gpt-5\",\n  \"agent\": {\n    \"one\": { \"prompt\": \"Do one.\", \"steps\": 3, },\n    \"two\": { \"system\": \"Do two.\", \"disabled\": true },\n  },\n}\n";
    let expected = [
        ("one".to_owned(), Format::Opencode, json!({ "steps": 3 }), "Do one.".to_owned()),
        ("two".to_owned(), Format::Opencode, json!({ "disabled": true }), "Do two.".to_owned()),
    ];
    assert_eq!(kept("opencode.jsonc", opencode), expected);
}

#[test]
fn a_prompt_may_lie_in_a_file_beside() {
    let text = r#"{ "agent": { "one": { "prompt": "{file:./prompts/one.txt}" } } }"#;
    let beside = MemoryFiles::from_iter([("prompts/one.txt", "Do one.\n")]);
    let imported = import_beside("there/opencode.json", text.as_bytes(), None, Some(&beside));
    assert_eq!(lines(&imported.reports), Vec::<String>::new());
    assert_eq!(page(&imported.agents[0].text).1, "Do one.\n");
    let imported = import("there/opencode.json", text.as_bytes(), None);
    assert_eq!(imported.agents, []);
    assert_eq!(imported.reports.len(), 1);
}

#[test]
fn a_value_with_a_colon_is_what_its_author_meant() {
    let text = "---\nname: mender\ndescription: Use it so: first this, then <b>Context: that</b>\nmaxTurns: 3\nbackground: true\ntools: Read, Grep\n---\nBody";
    let imported = imported(".claude/agents/mender.md", text);
    let said = &page(&imported.agents[0].text).0["x-claude-code"];
    assert_eq!(said["description"], "Use it so: first this, then <b>Context: that</b>");
    assert_eq!(imported.losses.iter().map(|loss| loss.field.as_str()).collect::<Vec<_>>(), ["background"]);
}

/// Path, text and reports.
const FAULTS: [(&str, &str, &[&str]); 12] = [
    (".claude/agents/a.md", "no front matter", &["error[D005] .claude/agents/a.md:1:1 `name` is missing | add `name`"]),
    (
        ".claude/agents/a.md",
        "---\nname: a\n",
        &["error[D113] .claude/agents/a.md:1:1 the front matter has no end | close it with a line `---`"],
    ),
    (
        ".claude/agents/a.md",
        "---\nname: a\nmaxTurns: many\ntools: [Read, 7]\n---\n",
        &[
            "error[D005] .claude/agents/a.md:2:1 `description` is missing | add `description`",
            "error[D006] .claude/agents/a.md:4:15 `tools[1]` must be a string, not `7` | write a string",
            "error[D006] .claude/agents/a.md:3:1 `maxTurns` must be a positive integer, not the string `many` | write a positive integer",
        ],
    ),
    (
        ".claude/agents/a.md",
        "---\nname: a\ndescription: b\nmaxturns: 3\n---\n",
        &[
            "warning[D007] .claude/agents/a.md:4:1 the field `maxturns` is unknown and has no effect | did you mean `maxTurns`?",
        ],
    ),
    (
        ".claude/agents/a.md",
        "---\nname: a\ndescription: b\npermissionMode: paln\n---\n",
        &[
            "warning[D132] .claude/agents/a.md:4:1 `permissionMode` must be one of `default`, `manual`, `acceptEdits`, `auto`, `dontAsk`, `bypassPermissions`, `plan`, not `paln`: it takes no right away | did you mean `plan`?",
        ],
    ),
    (
        ".claude/agents/a.md",
        "---\nname: a\ndescription: b\nmcpServers:\n  - 3\n  - s: { args: [] }\n---\n",
        &[
            "error[D006] .claude/agents/a.md:5:5 `mcpServers[0]` must be a server's name, or an object with a server, not `3` | write a server's name, or an object with a server",
            "error[D006] .claude/agents/a.md:6:5 `mcpServers[1].s` must be a server with `command` or `url`, not an object | write a server with `command` or `url`",
        ],
    ),
    (
        ".gemini/agents/a.md",
        "---\nkind: locale\nname: a\ndescription: b\n---\n",
        &[
            "error[D006] .gemini/agents/a.md:2:1 `kind` must be `local` or `remote`, not the string `locale` | did you mean `local`?",
        ],
    ),
    (
        ".gemini/agents/a.md",
        "---\nname: Big A\ndescription: b\ntemprature: 1\n---\n",
        &[
            "warning[D007] .gemini/agents/a.md:4:1 the field `temprature` is unknown and has no effect | did you mean `temperature`?",
            "warning[D115] .gemini/agents/a.md:2:1 Gemini CLI refuses the name `Big A` | use lower-case letters, digits, `-` and `_`",
        ],
    ),
    (
        ".github/agents/a.agent.md",
        "---\ntools: read\n---\n",
        &["error[D005] .github/agents/a.agent.md:2:1 `description` is missing | add `description`"],
    ),
    (
        ".opencode/agents/a.md",
        "---\npermission:\n  bash: never\n  edit: { '*': 3 }\ntools: { write: no }\n---\n",
        &[
            "error[D006] .opencode/agents/a.md:5:10 `tools.write` must be `true` or `false`, not the string `no` | write `true` or `false`",
            "error[D006] .opencode/agents/a.md:3:3 `permission.bash` must be `allow`, `ask` or `deny`, not the string `never` | write `allow`, `ask` or `deny`",
            "error[D006] .opencode/agents/a.md:4:11 `permission.edit.*` must be `allow`, `ask` or `deny`, not `3` | write `allow`, `ask` or `deny`",
        ],
    ),
    (
        "opencode.json",
        "{ \"model\": \"x\" }",
        &[
            "error[D116] opencode.json:1:1 this configuration has no agents | they are expected under `agent`, each under its name",
        ],
    ),
    (
        ".cursor/agents/a.md",
        "---\nreadonly: 1\n---\n",
        &[
            "error[D006] .cursor/agents/a.md:2:1 `readonly` must be `true` or `false`, not `1` | write `true` or `false`",
        ],
    ),
];

#[test]
fn what_is_wrong_is_said_at_its_place() {
    for (path, text, expected) in FAULTS {
        let imported = import(path, text.as_bytes(), None);
        assert_eq!(lines(&imported.reports), expected, "{path}\n{text}");
        let has_error = expected.iter().any(|line| line.starts_with("error"));
        assert_eq!(imported.agents.is_empty(), has_error, "{path}\n{text}");
    }
}

#[test]
fn no_file_is_too_strange_to_be_reported() {
    let check = |bytes: &[u8], from, expected: &str| {
        let imported = import("a.md", bytes, from);
        let found = lines(&imported.reports).join("\n");
        assert!(found.contains(expected), "{found}");
        assert_eq!(imported.agents, []);
    };
    let claude = Some(Format::ClaudeCode);
    check(&[b'-', b'-', b'-', b'\n', 0xff], claude, "error[D003] a.md:2:1 the file is not UTF-8 text");
    check(&vec![b'x'; (8 << 20) + 1], claude, "error[D002] a.md:1:1 the file is larger than 8 MiB");
    check(b"---\nname: [a\n---\n", Some(Format::Gemini), "error[D114] a.md:");
    check(
        b"---\n- a\n---\n",
        claude,
        "error[D006] a.md:2:1 a declaration must be an object, not an array | write an object",
    );
    check(b"text", Some(Format::Windsurf), "error[D112] a.md:1:1 no file of `windsurf` holds an agent by itself");
    check(b"text", None, "error[D126]");
}

#[test]
fn what_has_no_effect_here_is_named() {
    let text = "---\nname: a\ndescription: b\nmaxTurns: 2\nhooks: {}\nmemory: user\n---\n";
    let imported = imported(".claude/agents/a.md", text);
    let losses = Written { losses: imported.losses, ..Written::default() };
    assert_eq!(lost(&losses), ["hooks", "memory"]);
}

#[test]
fn what_a_servers_entry_says_without_effect_is_named() {
    let codex = "name = 'a'\ndescription = 'b'\ndeveloper_instructions = 'x'\n[mcp_servers.s]\ncommand = 'c'\ncwd = '/x'\n\
                 enabled = true\nenabled_tools = ['a']\ndisabled_tools = ['b']\ntools = { a = { approval_mode = 'auto' } }\n\
                 [mcp_servers.t]\nurl = 'https://x'\nbearer_token_env_var = 'T'\nenv_http_headers = { A = 'B' }\n";
    let gemini = "---\nname: a\ndescription: b\nmcp_servers:\n  s: {command: c, include_tools: [a], timeout: 5, trust: true}\n---\n";
    let copilot = "---\ndescription: b\nmcp-servers:\n  s: {type: sse, url: 'https://x', tools: []}\n---\n";
    let claude = "---\nname: a\ndescription: b\nmcpServers:\n  - known\n  - s: {type: http, url: 'https://x', headers: {A: b}}\n---\n";
    for (path, text, expected) in [
        (
            ".codex/agents/a.toml",
            codex,
            "mcp_servers.s.cwd mcp_servers.s.tools mcp_servers.t.bearer_token_env_var mcp_servers.t.env_http_headers",
        ),
        (".gemini/agents/a.md", gemini, "mcp_servers.s.timeout mcp_servers.s.trust"),
        (".github/agents/a.agent.md", copilot, "mcp-servers.s.type"),
        (".claude/agents/a.md", claude, ""),
    ] {
        let losses = Written { losses: imported(path, text).losses, ..Written::default() };
        assert_eq!(lost(&losses).join(" "), expected, "{path}");
    }
}

#[test]
fn a_file_that_a_project_keeps_can_be_imported_again() {
    let text = "---\nkind: local\nname: a\ndescription: b\nmax_turns: 3\n---\nBody";
    let first = imported(".gemini/agents/a.md", text);
    let again = imported(".agents/agents/a.md", &first.agents[0].text);
    assert_eq!(again.agents, first.agents);
}

#[test]
fn a_server_that_had_no_effect_in_a_file_has_none_where_it_is_kept() {
    let text =
        "---\ndescription: d\nurl: http://127.0.0.1:9\nheaders:\n  X: ${Y}\nmodel: openai:gpt-5\n---\nWork here.\n";
    let found = imported("subagents/r.md", text);
    let kept = &found.agents[0];
    let loaded = loaded(&MemoryFiles::from_iter([(kept.path.as_str(), kept.text.as_str())]));
    assert_eq!(lines(&loaded.reports), [""; 0]);
    let agent = loaded.team.agent(&kept.name).unwrap();
    assert_eq!((&agent.remote, agent.side_a.prompt.instructions.0.len()), (&None, 1), "{}", kept.text);
    let losses = Written { losses: found.losses, ..Written::default() };
    assert_eq!(lost(&losses), ["url", "headers"]);
    assert_eq!(imported(".agents/agents/r.md", &kept.text).agents, found.agents);
    let back = export(&loaded.team, std::slice::from_ref(&kept.name), Format::AgentScope).unwrap();
    assert_eq!((lost(&back), page(&back.files[0].1)), (vec![], page(text)));
}

#[test]
fn the_prompt_of_a_folder_comes_along() {
    let defined = |mode: &str| format!("---\ndescription: d\nworkspace:\n  mode: {mode}\n  path: ./defs/r\n---\n");
    let files = MemoryFiles::from_iter([("defs/r/AGENTS.md", "You review.\n")]);
    let none = MemoryFiles::default();
    for (mode, files, body, lost) in [
        ("shared", &files, "You review.\n", &[][..]),
        ("isolated", &files, "You review.\n", &["workspace.path"]),
        ("shared", &none, "", &["workspace.path"]),
    ] {
        let found = import_beside("subagents/r.md", defined(mode).as_bytes(), None, Some(files));
        let (keys, kept) = page(&found.agents[0].text);
        let has_path = keys["x-agentscope"]["workspace"].get("path").is_some();
        assert_eq!((kept, has_path), (body, body.is_empty()), "{mode}");
        assert_eq!(found.losses.iter().map(|loss| loss.field.as_str()).collect::<Vec<_>>(), lost, "{mode}");
    }
}

#[test]
fn a_prompt_that_a_harness_would_refuse_is_named() {
    let text = |length: usize| format!("---\nname: a\ndescription: b\n---\n{}", "é".repeat(length));
    for (length, expected) in [(30_000, vec![]), (30_001, vec!["body"])] {
        let written = exported(".claude/agents/a.md", &text(length), Format::GithubCopilot);
        assert_eq!(lost(&written), expected, "{length}");
    }
}

proptest! {
    #[test]
    fn whatever_a_file_holds_it_is_read_or_reported(
        front in "([a-z-]{1,12}: ?[a-z0-9\"'{}\\[\\],*&|>: -]{0,12}\n|  - ?[a-z:]{0,6}\n|\\PC{0,9}\n){0,6}",
        body in body(),
        format in select(Format::ALL.to_vec()),
        name in select(&["a.md", "a.toml", "a.json", "a.yaml", ".md", "", "a/"][..]),
    ) {
        for text in [format!("---\n{front}---\n{body}"), front, body] {
            let found = import(name, text.as_bytes(), Some(format));
            prop_assert!(!found.agents.is_empty() || !found.reports.is_empty() , "{name}: {text:?}");
            for agent in &found.agents {
                let again = import(".agents/agents/a.md", agent.text.as_bytes(), None);
                prop_assert_eq!(&again.agents, std::slice::from_ref(agent), "{:?}", lines(&again.reports));
            }
        }
    }
}

#[test]
fn what_a_bundle_left_in_a_file_is_no_declaration_of_its_own() {
    let text = "---\nname: mender\ndescription: Mends\nmodel: opus\nx-stax:\n  tags:\n  - a\n---\nMend.\n";
    let written = exported(".claude/agents/mender.md", text, Format::ClaudeCode);
    assert_eq!(written.files[0].1, text);
    let imported = imported(".claude/agents/mender.md", text);
    let (keys, body) = page(&imported.agents[0].text);
    assert_eq!((imported.agents[0].format, body), (Format::ClaudeCode, "Mend.\n"));
    assert_eq!(keys["x-claude-code"]["x-stax"]["tags"][0], "a");
}

#[test]
fn what_a_bundle_left_in_a_file_goes_back_to_its_place() {
    let left = json!({
        "invocation": "manual", "tags": ["a"], "metadata": { "k": "v" }, "x-own": [1],
        "handoff": { "allowedFrom": ["primary"], "returnMode": "report", "more": 1 },
    });
    for path in [".claude/agents/mender.md", ".cursor/agents/mender.md", ".github/agents/mender.agent.md"] {
        let text = format!("---\nname: mender\ndescription: Mends\nx-stax: {left}\n---\nMend.\n");
        let found = import(path, text.as_bytes(), None);
        assert_eq!(lines(&found.reports), [""; 0], "{path}");
        let written = exported(path, &text, Format::Stax);
        let document = written.files.iter().find(|(path, _)| path == "subagents.json").unwrap();
        let mut agent = serde_json::from_str::<Value>(&document.1).unwrap()["agents"]["mender"].take();
        let agent = agent.as_object_mut().unwrap();
        assert_eq!(
            (agent.shift_remove("description"), agent.shift_remove("instructions")),
            (Some(json!("Mends")), Some(json!("./subagents/mender.md")))
        );
        assert_eq!(Value::Object(agent.clone()), left, "{path}");
        let lost: Vec<_> =
            written.losses.iter().map(|loss| loss.field.as_str()).filter(|field| *field != "name").collect();
        assert_eq!(lost, [""; 0], "{path}");
    }
}

#[test]
fn what_a_bundle_left_and_somebody_spoilt_has_no_effect() {
    let text = "---\nname: mender\ndescription: Mends\nx-stax:\n  invocation: 7\n  handoff: all\n  subagents: {}\n---\nMend.\n";
    let written = exported(".claude/agents/mender.md", text, Format::Stax);
    let document = written.files.iter().find(|(path, _)| path == "subagents.json").unwrap();
    let agent = serde_json::from_str::<Value>(&document.1).unwrap()["agents"]["mender"].take();
    assert_eq!(agent, json!({ "description": "Mends", "instructions": "./subagents/mender.md" }));
    let lost: Vec<_> = written.losses.iter().map(|loss| loss.field.as_str()).collect();
    assert_eq!(lost, ["x-stax.handoff", "x-stax.invocation", "x-stax.subagents"]);
}
