//! Between formats, every key is found again or named.

use super::declared::{Grammar, body, grammars};
use super::fixtures::{BODY, FILES, file};
use crate::kit::{exported, lost, page, text_of};
use entourage_declare::Format;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

const TARGETS: [Format; 14] = [
    Format::Dex,
    Format::AgentScope,
    Format::ClaudeCode,
    Format::Codex,
    Format::Opencode,
    Format::GithubCopilot,
    Format::Gemini,
    Format::Cursor,
    Format::Goose,
    Format::DockerAgent,
    Format::Windsurf,
    Format::Openclaw,
    Format::Generic,
    Format::Stax,
];

/// What a file of every key loses on its way to each of the others.
#[test]
fn what_is_lost_is_named_and_nothing_else() {
    use Format::{ClaudeCode, Cursor, Gemini, GithubCopilot, Opencode};
    for (from, to, expected) in [
        (
            ClaudeCode,
            Cursor,
            "color disallowedTools effort hooks initialPrompt isolation maxTurns mcpServers memory skills tools",
        ),
        (
            ClaudeCode,
            GithubCopilot,
            "background color disallowedTools effort hooks initialPrompt isolation maxTurns mcpServers memory permissionMode skills tools",
        ),
        (
            ClaudeCode,
            Gemini,
            "background color disallowedTools effort hooks initialPrompt isolation mcpServers memory model permissionMode skills",
        ),
        (ClaudeCode, Opencode, "background color effort hooks initialPrompt isolation mcpServers memory skills tools"),
        (Cursor, ClaudeCode, "model"),
        (Cursor, GithubCopilot, "is_background readonly"),
        (Cursor, Gemini, "is_background model readonly"),
        (Cursor, Opencode, "is_background"),
        (
            GithubCopilot,
            ClaudeCode,
            "argument-hint disable-model-invocation handoffs metadata model name target user-invocable",
        ),
        (
            GithubCopilot,
            Cursor,
            "agents argument-hint disable-model-invocation handoffs mcp-servers metadata model name target tools user-invocable",
        ),
        (
            GithubCopilot,
            Gemini,
            "agents argument-hint disable-model-invocation handoffs metadata model target user-invocable",
        ),
        (
            GithubCopilot,
            Opencode,
            "agents argument-hint disable-model-invocation handoffs mcp-servers metadata model name target",
        ),
        (Gemini, ClaudeCode, "display_name model name temperature timeout_mins"),
        (Gemini, Cursor, "display_name max_turns mcp_servers name temperature timeout_mins tools"),
        (Gemini, GithubCopilot, "max_turns temperature timeout_mins"),
        (Gemini, Opencode, "display_name mcp_servers timeout_mins"),
        (Opencode, ClaudeCode, "color disable hidden mode model options temperature textVerbosity top_p variant"),
        (
            Opencode,
            Cursor,
            "color disable hidden mode options permission reasoningEffort steps temperature textVerbosity top_p variant",
        ),
        (
            Opencode,
            GithubCopilot,
            "color disable mode options reasoningEffort steps temperature textVerbosity top_p variant",
        ),
        (Opencode, Gemini, "color disable hidden mode model options reasoningEffort textVerbosity top_p variant"),
    ] {
        let (path, text) = file(from);
        let written = exported(path, &text, to);
        assert_eq!(lost(&written).join(" "), expected, "{from} → {to}");
        let [(path, text)] = written.files.as_slice() else { panic!("{written:?}") };
        assert!(text.ends_with(&format!("---\n{BODY}")), "{path}: the body is another");
    }
}

/// What the same files look like in the other formats.
#[test]
fn what_has_a_word_in_the_other_format_is_written_with_it() {
    let shelf = json!({ "command": "shelf-server", "args": ["--read"], "env": { "SHELF": "3" } });
    for (from, to, expected) in [
        (
            Format::Gemini,
            Format::ClaudeCode,
            json!({
                "name": "mender-2", "description": "Mends tests", "tools": ["Read", "Edit", "Write", "mcp__shelf__*"],
                "maxTurns": 21, "mcpServers": [{ "shelf": shelf }],
            }),
        ),
        (
            Format::GithubCopilot,
            Format::Gemini,
            json!({
                "kind": "local", "name": "mender", "description": "Mends tests", "display_name": "The Mender",
                "tools": ["read_file", "write_file", "replace", "mcp_shelf_list"],
                "mcp_servers": { "far": { "type": "sse", "url": "https://far.example/sse" }, "shelf": shelf },
            }),
        ),
        (
            Format::Opencode,
            Format::GithubCopilot,
            json!({
                "description": "Mends tests", "tools": ["read", "edit", "shelf/*"], "model": "gpt-5",
                "user-invocable": false,
            }),
        ),
        (
            Format::Cursor,
            Format::Opencode,
            json!({
                "description": "Mends tests", "mode": "subagent", "model": "openai/gpt-5",
                "permission": { "edit": "deny", "bash": "deny" },
            }),
        ),
        (
            Format::ClaudeCode,
            Format::Cursor,
            json!({
                "name": "mender", "description": "Mends tests: the flaky ones first", "model": "claude-opus-4-1",
                "readonly": true, "is_background": true,
            }),
        ),
    ] {
        let (path, text) = file(from);
        let written = exported(path, &text, to);
        assert_eq!(Value::Object(page(&written.files[0].1).0), expected, "{from} → {to}");
    }
}

#[test]
fn what_only_its_own_harness_can_fill_in_or_understand_is_lost() {
    for (server, expected) in [
        (json!({ "command": "s", "env": { "KEY": "plain" } }), vec![]),
        (json!({ "command": "s", "env": { "KEY": "${{ secrets.KEY }}" } }), vec!["mcp-servers"]),
        (json!({ "command": "s", "tools": ["*"], "type": "stdio" }), vec![]),
        (json!({ "command": "s", "tools": ["one"] }), vec!["mcp-servers"]),
        (json!({ "command": "s", "args": [["odd"]] }), vec!["mcp-servers"]),
        (json!({ "url": "https://s.example", "type": "sse" }), vec![]),
        (json!({ "url": "https://s.example", "oauth": {} }), vec!["mcp-servers"]),
    ] {
        let keys = Map::from_iter([
            ("description".to_owned(), json!("d")),
            ("mcp-servers".to_owned(), json!({ "s": server })),
        ]);
        let written = exported(".github/agents/a.agent.md", &text_of(&keys, ""), Format::ClaudeCode);
        assert_eq!(lost(&written), expected, "{keys:?}");
    }
}

#[test]
fn a_loss_is_named_as_the_source_spells_it() {
    let gemini = "---\nname: a\ndescription: d\nmcpServers: { s: { command: c } }\n---\n";
    let copilot = "---\ndescription: d\nuser-invokable: false\ninfer: false\n---\n";
    let opencode = "---\nmaxSteps: 3\ntools: { bash: false }\n---\n";
    for (path, text, to, expected) in [
        (".gemini/agents/a.md", gemini, Format::Cursor, "mcpServers"),
        (".gemini/agents/a.md", gemini, Format::ClaudeCode, ""),
        (".github/agents/a.md", copilot, Format::Cursor, "infer user-invokable"),
        (".opencode/agents/a.md", opencode, Format::Cursor, "maxSteps tools"),
        (".opencode/agents/a.md", opencode, Format::ClaudeCode, ""),
    ] {
        assert_eq!(lost(&exported(path, text, to)).join(" "), expected, "{path} → {to}");
    }
}

/// The keys that say what holds without them anyway.
fn says_nothing(key: &str, value: &Value) -> bool {
    match key {
        "kind" => value == "local",
        "model" => value == "inherit",
        "background" | "readonly" | "is_background" | "hidden" | "disable-model-invocation" => value == false,
        "user-invocable" | "infer" => value == true,
        // Where agents are listed, there are none without a list.
        "agents" => *value == json!([]),
        "description" | "name" | "display_name" => value.as_str().is_some_and(|text| text.trim().is_empty()),
        _ => false,
    }
}

/// A key that is not named makes a difference: without it another text would be written.
fn check_key(
    grammar: &Grammar,
    least: &Map<String, Value>,
    key: &str,
    value: &Value,
    to: Format,
) -> Result<(), TestCaseError> {
    let mut keys = least.clone();
    keys.insert(key.to_owned(), value.clone());
    let without = exported(grammar.path, &text_of(least, "Body"), to);
    let with = exported(grammar.path, &text_of(&keys, "Body"), to);
    let is_named = lost(&with).iter().any(|field| field.split('.').next() == Some(key));
    let is_found = with.files != without.files;
    prop_assert!(is_named || is_found || says_nothing(key, value), "{} → {to}: `{key}: {value}`", grammar.format);
    prop_assert!(is_named || lost(&with) == lost(&without), "{} → {to}: {:?}", grammar.format, lost(&with));
    Ok(())
}

proptest! {
    #[test]
    fn no_key_gets_lost_unseen(
        grammar in select(FILES.iter().map(|(format, ..)| *format).collect::<Vec<_>>()),
        to in select(TARGETS.to_vec()),
        which: proptest::sample::Index,
        seed: u64,
    ) {
        let grammar = Grammar::of(grammar);
        let (key, value) = &grammar.optional[which.index(grammar.optional.len())];
        if to != grammar.format {
            let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng(seed));
            let value = value.new_tree(&mut runner).expect("there is a value").current();
            let least = Map::from_iter([("name".to_owned(), json!("mender-9")), ("description".to_owned(), json!("Mends."))]);
            let least = least.into_iter().filter(|(name, _)| name != key).collect();
            check_key(&grammar, &least, key, &value, to)?;
        }
    }

    #[test]
    fn every_body_arrives_whole(from in select(FILES.to_vec()), to in select(&TARGETS[2..8]), body in body()) {
        if to != Format::Codex {
            let written = exported(from.1, &format!("---\n{}---\n{body}", from.2), to);
            prop_assert!(page(&written.files[0].1).1 == body);
        }
    }
}

fn rng(seed: u64) -> proptest::test_runner::TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    proptest::test_runner::TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &bytes)
}

#[test]
fn every_grammar_has_a_fixture_with_each_of_its_keys() {
    for grammar in grammars() {
        let (_, text) = file(grammar.format);
        let keys = page(&text).0;
        for (key, _) in grammar.required.iter().chain(&grammar.optional) {
            let is_other_spelling =
                matches!(*key, "unheard-of" | "infer" | "maxSteps" | "tools" | "request" | "permissions");
            assert!(keys.contains_key(*key) || is_other_spelling, "{}: {key}", grammar.format);
        }
    }
}
