//! Recipes of goose.

use crate::kit::{exported, imported, lines, loaded, lost, lost_by_agent, only_file, page, yaml};
use entourage_declare::{Format, MemoryFiles, export, import, import_beside};
use serde_json::{Value, json};

fn check(path: &str, text: &str, expected: &[&str]) {
    let imported = import(path, text.as_bytes(), Some(Format::Goose));
    assert_eq!(lines(&imported.reports), expected, "{text}");
}

#[test]
fn a_fault_has_its_place_and_says_what_to_do() {
    check(
        "a.yaml",
        "title: a\n description: b",
        &[
            "error[D114] a.yaml:2:13 this is not valid YAML: mapping values are not allowed in this context | put a value that has \
         `: ` or begins with a sign in quotes",
        ],
    );
    check(
        "a.json",
        "{\"title\": 1,}",
        &[
            "error[D004] a.json:1:12 this is not valid JSON: trailing commas are not allowed | mend the text at the place shown",
        ],
    );
    check(
        "a.yaml",
        "title: a\ntitle: b",
        &[
            "error[D114] a.yaml:2:1 this is not valid YAML: the key `title` is in its mapping twice | remove one of the two",
        ],
    );
    check(
        "a.yaml",
        "title: a\ndescription: b\0",
        &["error[D114] a.yaml:2:15 this is not valid YAML: a NUL character is no text | remove the character"],
    );
    check(
        "a.yaml",
        &"[".repeat(80),
        &["error[D114] a.yaml:1:65 this is not valid YAML: recursion limit exceeded | write it with fewer levels"],
    );
    check("a.yaml", "- 1", &["error[D006] a.yaml:1:1 a declaration must be an object, not an array | write an object"]);
    check(
        "a.yaml",
        "version: 1.0.0",
        &[
            "error[D005] a.yaml:1:1 `title` is missing | add `title`",
            "error[D005] a.yaml:1:1 `description` is missing | add `description`",
            "error[D005] a.yaml:1:1 `instructions` is missing, and so is `prompt` | add `instructions`",
        ],
    );
    check(
        "a.yaml",
        "title: a\ndescription: b\nprompt: c\nsettings:\n  temperature: warm\n  max_turns: 0\nextensions: x\nparametres: []",
        &[
            "error[D006] a.yaml:5:3 `settings.temperature` must be a number, not the string `warm` | write a number",
            "error[D006] a.yaml:6:3 `settings.max_turns` must be a positive integer, not `0` | write a positive integer",
            "error[D006] a.yaml:7:1 `extensions` must be an array, not the string `x` | write an array",
            "warning[D007] a.yaml:8:1 the field `parametres` is unknown and has no effect | did you mean `parameters`?",
        ],
    );
}

#[test]
fn the_title_names_the_agent() {
    for (title, name) in [("Sec Auditor", "sec-auditor"), ("a", "a"), ("Größe & Maß", "gr-e-ma"), ("…", "agent")] {
        let text = json!({ "title": title, "description": "d", "prompt": "p" }).to_string();
        assert_eq!(imported("a.json", &text).agents[0].name.as_str(), name);
        let written = exported("a.json", &text, Format::Goose);
        assert_eq!(yaml(only_file(&written).1)["title"], title);
    }
}

#[test]
fn a_prompt_is_the_text_of_a_recipe_without_instructions_and_its_first_message_otherwise() {
    let text = |keys: &str| format!("title: a\ndescription: d\n{keys}");
    let claude = |keys: &str| {
        let written = exported("a.yaml", &text(keys), Format::ClaudeCode);
        let (keys, body) = page(only_file(&written).1);
        (body.to_owned(), keys.get("initialPrompt").cloned())
    };
    assert_eq!(claude("prompt: p"), ("p".to_owned(), None));
    assert_eq!(claude("instructions: i"), ("i".to_owned(), None));
    assert_eq!(claude("instructions: i\nprompt: p"), ("i".to_owned(), Some(Value::from("p"))));
    assert_eq!(claude("instructions: p\nprompt: p"), ("p".to_owned(), Some(Value::from("p"))));
}

#[test]
fn extensions_are_tools_and_servers() {
    let text = "\
title: a
description: d
instructions: i
extensions:
  - { type: builtin, name: developer }
  - { type: stdio, name: s, cmd: run, args: [-x], envs: { A: b }, available_tools: [one, two] }
  - { type: sse, name: old, uri: 'https://x/sse' }
";
    let written = exported("a.yaml", text, Format::ClaudeCode);
    let (keys, _) = page(only_file(&written).1);
    let tools =
        json!(["Read", "LS", "Glob", "Grep", "Write", "Edit", "Bash", "mcp__s__one", "mcp__s__two", "mcp__old__*"]);
    assert_eq!(keys["tools"], tools);
    let servers = json!([
        { "old": { "type": "sse", "url": "https://x/sse" } },
        { "s": { "command": "run", "args": ["-x"], "env": { "A": "b" } } }
    ]);
    assert_eq!(keys["mcpServers"], servers);
    assert_eq!(lost_by_agent(&written), Vec::<String>::new());
}

#[test]
fn tools_and_servers_are_extensions() {
    let claude = |keys: &str| {
        let text = format!("---\nname: a\ndescription: d\n{keys}---\nx");
        let written = exported(".claude/agents/a.md", &text, Format::Goose);
        let extensions = yaml(only_file(&written).1).get("extensions").cloned();
        (extensions, lost_by_agent(&written))
    };
    let none = Vec::<String>::new;
    let developer = json!({ "type": "builtin", "name": "developer" });
    let server = "mcpServers:\n  - s: { command: run }\n";
    let written_server = json!({ "type": "stdio", "name": "s", "cmd": "run" });
    // Whoever has no list has what the user has.
    assert_eq!(claude(""), (None, none()));
    assert_eq!(claude(server), (Some(json!([developer, written_server])), none()));
    assert_eq!(claude("tools: Read, Bash\n"), (Some(json!([developer])), none()));
    // Reading alone is less than the extension allows, so that it is left out.
    assert_eq!(claude("tools: Read\n"), (Some(json!([])), vec!["a tools".to_owned()]));
    assert_eq!(claude("tools: []\n"), (Some(json!([])), none()));
    assert_eq!(
        claude(&format!("tools: mcp__s__one\n{server}")),
        (Some(json!([{ "type": "stdio", "name": "s", "cmd": "run", "available_tools": ["one"] }])), none())
    );
    // A server that no tool is allowed of, and one that is configured elsewhere.
    assert_eq!(claude(&format!("tools: Bash\n{server}")), (Some(json!([developer])), vec!["a mcpServers".to_owned()]));
    assert_eq!(claude("mcpServers: [far]\n"), (None, vec!["a mcpServers".to_owned()]));
    assert_eq!(claude("tools: Bash, Read\ndisallowedTools: Bash\n"), (Some(json!([])), vec!["a tools".to_owned()]));
}

#[test]
fn a_text_that_looks_like_a_template_stays_a_text() {
    let of = |body: &str| {
        let text = format!("---\nname: a\ndescription: d\n---\n{body}");
        let written = exported(".claude/agents/a.md", &text, Format::Goose);
        yaml(only_file(&written).1)["instructions"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(of("a { b } c"), "a { b } c");
    assert_eq!(of("say {{ x }}"), "{% raw %}say {{ x }}{% endraw %}");
    assert_eq!(of("{% endraw %} {x}"), "{{ '{' }}% endraw %} {{ '{' }}x}");
}

#[test]
fn children_that_are_written_with_it_are_called_by_their_files() {
    let written = exported("x.json", &super::files::docker_agent().to_string(), Format::Goose);
    let digger = written.files.iter().find(|(path, _)| path.ends_with("digger.yaml")).expect("it is written");
    assert_eq!(yaml(&digger.1)["sub_recipes"], json!([{ "name": "sorter", "path": "./sorter.yaml" }]));
}

#[test]
fn a_recipe_that_is_called_is_the_agent_of_its_title() {
    let files = MemoryFiles::from_iter([
        ("deep/child.yaml", "title: Deep Digger\ndescription: d\nprompt: p\n"),
        ("sorter.json", r#"{"recipe": {"title": "sorter", "description": "d", "prompt": "p"}}"#),
        ("odd.yaml", "- 1"),
    ]);
    let text = "title: a\ndescription: b\ninstructions: c\nsub_recipes:\n- name: digger\n  path: deep/child.yaml\n\
                - name: sorter\n  path: sorter.json\n";
    let imported = import_beside("a.yaml", text.as_bytes(), None, Some(&files));
    assert_eq!((lines(&imported.reports), imported.losses.len()), (Vec::new(), 0));
    let child = import("deep/child.yaml", b"title: Deep Digger\ndescription: d\nprompt: p\n", None).agents.remove(0);
    let sorter = import("sorter.yaml", b"title: sorter\ndescription: d\nprompt: p\n", None).agents.remove(0);
    let kept = [&imported.agents[0], &child, &sorter].map(|agent| (agent.path.as_str(), agent.text.as_str()));
    let loaded = loaded(&MemoryFiles::from_iter(kept));
    assert_eq!(lines(&loaded.reports), Vec::<String>::new());
    let tools = &loaded.team.agents["a"].side_a.prompt.tools;
    let children: Vec<_> = tools.iter().map(|tool| tool.name().as_str()).filter(|name| !name.contains('_')).collect();
    assert_eq!(children, ["shell", "deep-digger", "sorter"]);
    let back = export(&loaded.team, &["a".into()], Format::Goose).unwrap();
    assert_eq!((lost(&back).len(), yaml(only_file(&back).1)), (0, yaml(text)));
    let odd = import_beside("a.yaml", text.replace("sorter.json", "odd.yaml").as_bytes(), None, Some(&files));
    assert_eq!(odd.losses.iter().map(|loss| loss.field.as_str()).collect::<Vec<_>>(), ["sub_recipes"]);
}

#[test]
fn a_recipe_that_is_called_and_is_not_there_is_named() {
    let files = MemoryFiles::from_iter([("deep/child.yaml", "title: c\ndescription: d\nprompt: p\n")]);
    for (path, expected) in [
        ("deep/child.yaml", &[][..]),
        ("./deep/child.yaml", &[]),
        ("deep/gone.yaml", &["sub_recipes"]),
        ("../child.yaml", &["sub_recipes"]),
    ] {
        let text =
            format!("title: a\ndescription: b\ninstructions: c\nsub_recipes:\n  - name: child\n    path: {path}\n");
        let imported = import_beside("a.yaml", text.as_bytes(), None, Some(&files));
        assert_eq!(lines(&imported.reports), Vec::<String>::new());
        let fields: Vec<_> = imported.losses.iter().map(|loss| loss.field.as_str()).collect();
        assert_eq!(fields, expected, "{path}");
    }
}
