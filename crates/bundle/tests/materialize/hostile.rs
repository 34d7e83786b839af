//! Texts that would break a file that is pasted together.

use crate::kit::{Folder, bundle, document, front, lax_json, planned, text, with_subagents};
use entourage_bundle::materialize::{Adapter, Content, OnClash};
use serde_json::{Map, Value, json};

const TEXTS: [(&str, &str); 14] = [
    ("quotes", "He said \"hi\": it's #1 \\ {a: b} [x], & *y | > %z @w !v"),
    ("lines", "first: line\nsecond line\n---\nfourth\n"),
    ("ticks", "`tick` $(rm -rf /) ${HOME} {{persona.name}} <b>&amp;</b>"),
    ("scripts", "café 日本語 😀 \u{202e} rtl \u{a0}nbsp \u{feff}mark"),
    ("controls", "tab\tcr\r\nbell\u{7} escape\u{1b} del\u{7f} nel\u{85} ls\u{2028} ps\u{2029} end"),
    ("nulls", "null"),
    ("digits", "123"),
    ("octal", "0o17"),
    ("truth", "yes"),
    ("dash", "- not: a list"),
    ("edges", "  spaced: both ends  "),
    ("toml", "'''triple''' \"\"\"triple\"\"\" = [x]\n[evil]\nk = 1"),
    ("document", "--- \n...\n%YAML 1.2\n--- {}"),
    ("last-line", "ends in a line break\n\n"),
];

fn team() -> Value {
    let agent = |text: &str| {
        json!({
            "description": text,
            "instructions": format!("---\nname: sneaky\n---\n{text}\r\n\n"),
            "metadata": { text: text },
            "x-acme": { "nested": [text] },
        })
    };
    Value::Object(TEXTS.iter().map(|(name, text)| ((*name).to_owned(), agent(text))).collect())
}

#[test]
fn descriptions_and_instructions_survive_every_harness() {
    let files = with_subagents("claude-code", &json!({}), &team());
    let cases = [
        (Adapter::ClaudeCode, ".claude/agents/", ".md"),
        (Adapter::Cursor, ".cursor/agents/", ".md"),
        (Adapter::GithubCopilot, ".github/agents/", ".agent.md"),
        (Adapter::Opencode, ".opencode/agents/", ".md"),
        (Adapter::Gemini, ".gemini/agents/", ".md"),
        (Adapter::Codex, ".codex/agents/", ".toml"),
        (Adapter::Windsurf, ".windsurf/workflows/", ".md"),
    ];
    for (adapter, folder, ending) in cases {
        let plan = planned(&files, adapter);
        for (name, expected) in TEXTS {
            let written = text(&plan, &format!("{folder}{name}{ending}"));
            let (keys, body) = match adapter {
                Adapter::Codex => toml_page(written),
                _ => {
                    let (keys, body) = front(written);
                    (keys, body.to_owned())
                }
            };
            assert_eq!(keys["description"], expected, "{adapter} {name}");
            assert_eq!(body, format!("---\nname: sneaky\n---\n{expected}\r\n\n"), "{adapter} {name}");
            if let Some(kept) = keys.get("x-stax") {
                assert_eq!(kept["x-acme"], json!({ "nested": [expected] }), "{adapter} {name}");
            }
        }
    }
}

fn toml_page(text: &str) -> (Map<String, Value>, String) {
    let table: toml::Table = toml::from_str(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let Ok(Value::Object(mut keys)) = serde_json::to_value(table) else { panic!("a table is an object") };
    let body = keys.remove("developer_instructions");
    (keys, body.and_then(|body| body.as_str().map(str::to_owned)).expect("there are instructions"))
}

#[test]
fn names_and_values_of_servers_survive_every_file_of_settings() {
    let servers: Map<_, _> = TEXTS
        .iter()
        .map(|(_, text)| ((*text).to_owned(), json!({ "command": text, "args": [text], "env": { "A": text } })))
        .collect();
    let mcp = json!({ "servers": servers }).to_string();
    let files = bundle("codex", &json!({ "mcp": "./mcp.json" }), &[("mcp.json", &mcp)]);
    let cases = [
        (Adapter::ClaudeCode, ".mcp.json", "mcpServers"),
        (Adapter::Cursor, ".cursor/mcp.json", "mcpServers"),
        (Adapter::GithubCopilot, ".vscode/mcp.json", "servers"),
        (Adapter::Opencode, "opencode.jsonc", "mcp"),
        (Adapter::Gemini, ".gemini/settings.json", "mcpServers"),
        (Adapter::Windsurf, ".codeium/windsurf/mcp_config.json", "mcpServers"),
        (Adapter::Generic, "mcp.json", "servers"),
        (Adapter::Codex, ".codex/config.toml", "mcp_servers"),
    ];
    for (adapter, path, key) in cases {
        let plan = planned(&files, adapter);
        // Into an empty folder, and into a file that somebody wrote.
        let users = "{\n  // mine\n  \"mine\": true,\n}\n";
        let theirs: &[(&str, &str)] = if adapter == Adapter::Codex { &[] } else { &[(path, users)] };
        for mut folder in [Folder::new(&[]), Folder::new(theirs)] {
            folder.take(&plan, OnClash::Refuse).unwrap();
            let written = parsed(folder.text(path));
            for (name, server) in &servers {
                let command = &written[key][name]["command"];
                let command = if adapter == Adapter::Opencode { &command[0] } else { command };
                assert_eq!(*command, server["command"], "{adapter} {name}");
            }
        }
    }
}

/// JSON with comments, or TOML.
fn parsed(text: &str) -> Value {
    match toml::from_str::<toml::Table>(text) {
        Ok(table) => serde_json::to_value(table).unwrap(),
        Err(_) => lax_json(text),
    }
}

#[test]
fn rules_survive_as_files() {
    for (name, said) in TEXTS.into_iter().filter(|(name, _)| *name != "edges") {
        // YAML takes JSON, but for a few characters that it wants escaped.
        let odd = |letter: char| matches!(letter, '\u{7f}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
        let escape = |letter: char| if odd(letter) { format!("\\u{:04x}", letter as u32) } else { letter.to_string() };
        let front_matter = json!({ "id": name, "scope": "auto", "description": said }).to_string();
        let front_matter: String = front_matter.chars().map(escape).collect();
        let rule = format!("---\n{front_matter}\n---\n{said}");
        let files = bundle("cursor", &json!({ "rules": "./rules" }), &[("rules/one.md", &rule)]);
        for (adapter, path) in [
            (Adapter::Cursor, format!(".cursor/rules/{name}.mdc")),
            (Adapter::Windsurf, format!(".windsurf/rules/{name}.md")),
            (Adapter::GithubCopilot, format!(".github/instructions/{name}.instructions.md")),
        ] {
            let plan = planned(&files, adapter);
            let (keys, body) = front(text(&plan, &path));
            assert_eq!(keys["description"], said, "{adapter} {name}");
            assert_eq!(body, format!("\n{said}"), "{adapter} {name}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_copied() {
    let mut files = bundle("codex", &json!({ "skills": "./skills" }), &[]);
    files.insert("skills/draw/SKILL.md", "---\nname: draw\ndescription: Draws.\n---\nDraw.\n", false);
    files.insert("skills/draw/model.bin", [0_u8, 255, 10, 13], false);
    let expected = Content::Whole { bytes: vec![0, 255, 10, 13], executable: false };
    assert_eq!(*document(&planned(&files, Adapter::Codex), ".agents/skills/draw/model.bin"), expected);
}
