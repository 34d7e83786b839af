//! A file that comes in and goes out in its own format says the same.

use super::declared::{Grammar, body};
use crate::kit::{exported, lost, page, text_of};
use entourage_declare::{Format, Written};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The one file of what was written.
fn only(written: &Written) -> (&str, Map<String, Value>, &str) {
    let (path, text) = written.files.first().filter(|_| written.files.len() == 1).expect("one file was written");
    let (keys, body) = page(text);
    (path, keys, body)
}

fn check(format: Format, path: &str, keys: &Map<String, Value>, body: &str) -> Result<(), TestCaseError> {
    let written = exported(path, &text_of(keys, body), format);
    let (_, written_keys, written_body) = only(&written);
    prop_assert_eq!(&written_keys, keys);
    prop_assert_eq!(written_body, body);
    prop_assert_eq!(lost(&written), Vec::<&str>::new());
    Ok(())
}

proptest! {
    #[test]
    fn claude_code_says_the_same(keys in Grammar::of(Format::ClaudeCode).keys(), body in body()) {
        check(Format::ClaudeCode, ".claude/agents/deep/file.md", &keys, &body)?;
    }

    #[test]
    fn cursor_says_the_same(keys in Grammar::of(Format::Cursor).keys(), body in body()) {
        check(Format::Cursor, ".cursor/agents/file.md", &keys, &body)?;
    }

    #[test]
    fn github_copilot_says_the_same(keys in Grammar::of(Format::GithubCopilot).keys(), body in body()) {
        check(Format::GithubCopilot, ".github/agents/file.agent.md", &keys, &body)?;
    }

    #[test]
    fn gemini_says_the_same(keys in Grammar::of(Format::Gemini).keys(), body in body()) {
        check(Format::Gemini, ".gemini/agents/file.md", &keys, &body)?;
    }

    #[test]
    fn opencode_says_the_same(keys in Grammar::of(Format::Opencode).keys(), body in body()) {
        check(Format::Opencode, ".opencode/agents/file.md", &keys, &body)?;
    }
}

#[test]
fn a_file_lies_where_its_harness_looks_for_it() {
    let front = "---\nname: a\ndescription: b\n---\n";
    for (path, format, expected) in [
        (".claude/agents/deep/x.md", Format::ClaudeCode, ".claude/agents/a.md"),
        (".cursor/agents/x.md", Format::Cursor, ".cursor/agents/a.md"),
        (".github/agents/x.agent.md", Format::GithubCopilot, ".github/agents/x.agent.md"),
        (".github/agents/x.md", Format::GithubCopilot, ".github/agents/x.agent.md"),
        (".github/chatmodes/x.chatmode.md", Format::GithubCopilot, ".github/agents/x.agent.md"),
        (".gemini/agents/x.md", Format::Gemini, ".gemini/agents/a.md"),
        (".opencode/agents/x.md", Format::Opencode, ".opencode/agents/x.md"),
    ] {
        assert_eq!(only(&exported(path, front, format)).0, expected, "{path}");
    }
}

#[test]
fn other_line_ends_and_marks_change_nothing() {
    let text = "\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nBody\r\n";
    for (path, format) in [(".claude/agents/a.md", Format::ClaudeCode), (".gemini/agents/a.md", Format::Gemini)] {
        let written = exported(path, text, format);
        let (_, keys, body) = only(&written);
        assert_eq!(Value::Object(keys), json!({ "name": "a", "description": "b" }));
        assert_eq!(body, "Body\r\n");
    }
}

#[test]
fn a_name_that_its_own_harness_refuses_is_changed() {
    let written = exported(".gemini/agents/a.md", "---\nname: Big A\ndescription: b\n---\n", Format::Gemini);
    let (path, keys, _) = only(&written);
    assert_eq!((path, &keys["name"]), (".gemini/agents/big-a.md", &json!("big-a")));
    assert_eq!(lost(&written), ["name"]);
}

#[test]
fn what_a_strict_harness_would_refuse_is_left_out_and_named() {
    let text = "---\nkind: local\nname: a\ndescription: b\ncolour: red\nmcpServers:\n  s: { command: c, shell: sh }\n---\nBody";
    let written = exported(".gemini/agents/a.md", text, Format::Gemini);
    let expected =
        json!({ "kind": "local", "name": "a", "description": "b", "mcp_servers": { "s": { "command": "c" } } });
    assert_eq!(Value::Object(only(&written).1), expected);
    assert_eq!(lost(&written), ["colour", "mcpServers.s.shell"]);
}

#[test]
fn each_remote_agent_of_an_array_gets_a_file() {
    let text = "---\n- kind: remote\n  name: one\n  agent_card_url: https://one.example\n- kind: remote\n  name: two\n  description: The second\n  agent_card_json: '{}'\n  auth: { type: http, scheme: Bearer, token: $T }\n---\n";
    let written = exported(".gemini/agents/far.md", text, Format::Gemini);
    let files: Vec<_> = written.files.iter().map(|(path, text)| (path.as_str(), Value::Object(page(text).0))).collect();
    let one = json!({ "kind": "remote", "name": "one", "agent_card_url": "https://one.example" });
    let two = json!({
        "kind": "remote", "name": "two", "description": "The second", "agent_card_json": "{}",
        "auth": { "type": "http", "scheme": "Bearer", "token": "$T" },
    });
    assert_eq!(files, [(".gemini/agents/one.md", one), (".gemini/agents/two.md", two)]);
    assert_eq!(lost(&written), Vec::<&str>::new());
}
