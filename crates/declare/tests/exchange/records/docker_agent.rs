//! Files of Docker Agent.

use super::files;
use crate::kit::{exported, imported, lines, lost_by_agent, only_file, page, team, yaml};
use entourage_declare::{Format, MemoryFiles, export, import, import_beside};
use entourage_model::Name;
use serde_json::{Value, json};

fn check(text: &str, expected: &[&str]) {
    let imported = import("a.yaml", text.as_bytes(), Some(Format::DockerAgent));
    assert_eq!(lines(&imported.reports), expected, "{text}");
}

#[test]
fn a_fault_has_its_place_and_says_what_to_do() {
    check("version: '2'", &["error[D005] a.yaml:1:1 `agents` is missing | add `agents`"]);
    check("agents: [a]", &["error[D006] a.yaml:1:1 `agents` must be an object, not an array | write an object"]);
    let blank = "error[D006] a.yaml:2:3 an agent's name must not be blank | name it by its key under `agents`";
    check("agents:\n  ' ': {model: openai/gpt-5}", &[blank]);
    check("agents:\n  a: 1", &["error[D006] a.yaml:2:3 `agents.a` must be an object, not `1` | write an object"]);
    check(
        "version: '99'\nagents:\n  a: {}",
        &[
            "warning[D130] a.yaml:1:1 `version` is the string `99`, which is not known here | the versions are \"0\" to \"16\"",
        ],
    );
    for version in ["'0'", "16", "v2"] {
        check(&format!("version: {version}\nagents:\n  a: {{}}"), &[]);
    }
    check(
        "agents:\n  a:\n    max_iterations: many\n    toolsets: shell\n    sub_agents: b\n    instructions: x\n",
        &[
            "warning[D007] a.yaml:6:5 the field `agents.a.instructions` is unknown and has no effect | did you mean `instruction`?",
            "error[D006] a.yaml:3:5 `agents.a.max_iterations` must be a positive integer, not the string `many` | write a positive integer",
            "error[D006] a.yaml:4:5 `agents.a.toolsets` must be an array, not the string `shell` | write an array",
            "error[D006] a.yaml:5:5 `agents.a.sub_agents` must be an array of strings, not the string `b` | write an array of strings",
        ],
    );
    check(
        "model: x\nmodels:\n  big: { modle: y }\nagents:\n  a:\n    toolsets:\n      - { type: shell, cmd: x }",
        &[
            "warning[D007] a.yaml:1:1 the field `model` is unknown and has no effect | did you mean `models`?",
            "warning[D007] a.yaml:3:10 the field `models.big.modle` is unknown and has no effect | did you mean `model`?",
            "warning[D007] a.yaml:7:24 the field `agents.a.toolsets.cmd` is unknown and has no effect | did you mean `command`?",
        ],
    );
}

#[test]
fn one_broken_agent_does_not_stop_the_others() {
    let imported = import("a.yaml", b"agents:\n  a: 1\n  b: { instruction: x }", Some(Format::DockerAgent));
    let names: Vec<_> = imported.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn unknown_keys_are_kept_and_not_written_to_docker_agent() {
    let text = "x-note: 1\nagents:\n  a:\n    colour: red\n    toolsets:\n      - { type: shell, cmd: x }\n  b: {}\n";
    let kept = page(&imported("a.yaml", text).agents[0].text).0;
    assert_eq!(kept["x-docker-agent"]["colour"], "red");
    assert_eq!(kept["x-docker-agent"]["file"]["x-note"], 1);
    let written = exported("a.yaml", text, Format::DockerAgent);
    assert_eq!(
        yaml(only_file(&written).1),
        json!({ "agents": { "a": { "toolsets": [{ "type": "shell" }] }, "b": {} } })
    );
    assert_eq!(lost_by_agent(&written), ["a colour", "a toolsets.cmd", "a x-note", "b x-note"]);
}

#[test]
fn what_lies_around_the_agents_is_named_where_they_leave_it() {
    let text = "providers:\n  corp: { base_url: http://h }\nmcps:\n  s: { command: srv }\nrag:\n  docs: {}\ncommands:\n  c: go\n\
                toolsets:\n  t: { type: think }\nbudgets:\n  b: { max_cost: 1 }\nagents:\n  a:\n    toolsets:\n      - { type: mcp, ref: s }\n  b: {}\n";
    let around = ["budgets", "commands", "providers", "rag", "toolsets"];
    let expected: Vec<_> = ["a", "b"].iter().flat_map(|agent| around.map(|key| format!("{agent} {key}"))).collect();
    assert_eq!(lost_by_agent(&exported("a.yaml", text, Format::ClaudeCode)), expected);
    assert_eq!(lost_by_agent(&exported("a.yaml", text, Format::DockerAgent)), Vec::<String>::new());
}

#[test]
fn instructions_may_lie_in_files_beside() {
    let files = MemoryFiles::from_iter([("p/a.md", "One.\n"), ("b.md", "Two.")]);
    let text = "agents:\n  a: { instruction_file: ./p/a.md }\n  b: { instruction_file: [p/a.md, b.md] }\n  c: { instruction_file: c.md }";
    let imported = import_beside("a.yaml", text.as_bytes(), None, Some(&files));
    let bodies: Vec<_> = imported.agents.iter().map(|agent| page(&agent.text).1).collect();
    assert_eq!(bodies, ["One.\n", "One.\n\n\nTwo."]);
    assert_eq!(
        lines(&imported.reports),
        [
            "error[D129] a.yaml:4:8 `agents.c.instruction_file` is `c.md`, which is not there | correct the path, or put the text \
         in its place",
        ]
    );
}

#[test]
fn an_agent_takes_along_those_that_it_calls() {
    let team = team(&imported("x.json", &files::docker_agent().to_string()));
    let written = export(&team, &[Name::from("digger")], Format::DockerAgent).expect("it can be exported");
    assert_eq!(yaml(only_file(&written).1), files::docker_agent());
    let written = export(&team, &[Name::from("sorter")], Format::DockerAgent).expect("it can be exported");
    let agents = yaml(only_file(&written).1)["agents"].clone();
    assert_eq!(agents, json!({ "sorter": files::docker_agent()["agents"]["sorter"] }));
}

#[test]
fn agents_of_different_files_do_not_share_one() {
    let mut team = team(&imported("x.json", &files::docker_agent().to_string()));
    let other = json!({ "version": "2", "agents": { "other": { "instruction": "x" } } });
    team.agents.extend(crate::kit::team(&imported("y.json", &other.to_string())).agents);
    let foreign = "---\nname: foreign\ndescription: d\n---\nx";
    team.agents.extend(crate::kit::team(&imported(".claude/agents/f.md", foreign)).agents);
    let written = crate::kit::export_all(&team, Format::DockerAgent);
    let files: Vec<_> = written.files.iter().map(|(path, text)| (path.as_str(), yaml(text))).collect();
    let foreign = json!({ "version": "15", "agents": { "foreign": {
        "description": "d", "instruction": "x",
        "toolsets": [{ "type": "filesystem" }, { "type": "shell" }, { "type": "fetch" }, { "type": "todo" }]
    } } });
    assert_eq!(
        files,
        [
            ("digger/docker-agent.yaml", files::docker_agent()),
            ("foreign/docker-agent.yaml", foreign),
            ("other/docker-agent.yaml", other),
        ]
    );
}

#[test]
fn another_formats_agent_becomes_what_docker_agent_understands() {
    let text = "\
---
description: d
model: google/gemini-2.5-pro
temperature: 0.2
top_p: 0.9
steps: 7
color: red
---
You dig.
";
    let written = exported(".opencode/agents/a.md", text, Format::DockerAgent);
    let file = yaml(only_file(&written).1);
    assert_eq!(
        file["models"],
        json!({ "a": {
        "provider": "google", "model": "gemini-2.5-pro", "temperature": 0.2, "top_p": 0.9
    } })
    );
    assert_eq!(file["agents"]["a"]["model"], "a");
    assert_eq!(file["agents"]["a"]["max_iterations"], 7);
    assert_eq!(file["agents"]["a"]["instruction"], "You dig.\n");
    assert_eq!(lost_by_agent(&written), ["a color"]);
}

#[test]
fn toolsets_allow_no_more_than_the_list_of_tools() {
    let of = |keys: &str| {
        let text = format!("---\nname: a\ndescription: d\n{keys}---\nx");
        let written = exported(".claude/agents/a.md", &text, Format::DockerAgent);
        let toolsets = yaml(only_file(&written).1)["agents"]["a"].get("toolsets").cloned();
        (toolsets, lost_by_agent(&written))
    };
    let none = Vec::<String>::new;
    let looks = json!({ "type": "filesystem", "tools": ["read_file", "read_multiple_files", "search_files_content"] });
    assert_eq!(of("tools: Read, Grep\n"), (Some(json!([looks])), none()));
    assert_eq!(
        of("tools: Read, LS, Glob, Grep, Write, Edit, Bash\n"),
        (Some(json!([{ "type": "filesystem" }, { "type": "shell" }])), none())
    );
    assert_eq!(of("tools: []\n"), (None, none()));
    assert_eq!(of("tools: WebSearch\n"), (None, vec!["a tools".to_owned()]));
    assert_eq!(of("tools: Read, Bash, Grep\ndisallowedTools: Bash\n"), (Some(json!([looks])), none()));
    assert_eq!(
        of("tools: mcp__s__*\nmcpServers:\n  - s: { command: run, cwd: sub }\n"),
        (Some(json!([{ "type": "mcp", "name": "s", "command": "run", "working_dir": "sub" }])), none())
    );
}

#[test]
fn toolsets_become_tools_and_servers() {
    let of = |toolsets: Value| {
        let file = json!({
            "mcps": { "shared": { "command": "run", "tools": ["one"] } },
            "agents": { "a": { "instruction": "x", "description": "d", "toolsets": toolsets } }
        });
        let written = exported("a.json", &file.to_string(), Format::ClaudeCode);
        let (keys, _) = page(only_file(&written).1);
        (keys["tools"].clone(), keys.get("mcpServers").cloned(), lost_by_agent(&written))
    };
    let none = Vec::<String>::new;
    assert_eq!(of(json!([{ "type": "shell" }])), (json!(["Bash"]), None, none()));
    assert_eq!(
        of(json!([{ "type": "filesystem", "readonly": true }])),
        (json!(["Read", "LS", "Glob", "Grep"]), None, none())
    );
    assert_eq!(of(json!([{ "type": "filesystem", "tools": ["write_file"] }])), (json!(["Write"]), None, none()));
    assert_eq!(
        of(json!([{ "type": "mcp", "ref": "shared" }])),
        (json!(["mcp__shared__one"]), Some(json!([{ "shared": { "command": "run" } }])), none())
    );
    assert_eq!(
        of(json!([{ "type": "mcp", "remote": { "url": "https://x.example/mcp", "transport_type": "sse" } }])),
        (
            json!(["mcp__x-example__*"]),
            Some(json!([{ "x-example": { "type": "sse", "url": "https://x.example/mcp" } }])),
            none()
        )
    );
    assert_eq!(
        of(json!([{ "type": "script", "shell": {} }, { "type": "mcp", "ref": "docker:github" }])),
        (json!([]), None, ["a toolsets", "a toolsets.ref", "a toolsets.shell"].map(str::to_owned).into())
    );
}
