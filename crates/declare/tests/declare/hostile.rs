//! Whatever a file holds, loading it ends, and ends well.

use super::{names, tools};
use entourage_declare::{Loaded, MemoryFiles, load};
use entourage_model::{Severity, ToolEntry};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Loads both kinds of file with the same bytes, and holds what is promised about every result.
fn check(agent: &[u8], prompt: &[u8]) {
    let files = MemoryFiles::from_iter([
        ("AGENTS.md", agent),
        ("agents/agents/a.json", agent),
        ("agents/agents/b.json", prompt),
        ("agents/prompts/p.json", prompt),
        ("agents/prompts/q.json", agent),
    ]);
    let Loaded { team, reports } = load(&files, &tools());
    for agent in team.agents.values() {
        for side in [Some(&agent.side_a), agent.side_b.as_ref()].into_iter().flatten() {
            for entry in &side.prompt.tools {
                match entry {
                    ToolEntry::Tool(tool) => assert!(tools().contains(tool)),
                    ToolEntry::Child(child) => assert!(team.agents.contains_key(&child.agent)),
                }
            }
        }
    }
    assert!(reports.is_sorted_by_key(|report| report.place.clone()));
    let again = load(&files, &tools());
    assert_eq!((&again.team, &again.reports), (&team, &reports));
    let has_error = reports.iter().any(|report| report.severity == Severity::Error);
    assert!(has_error || !names(&again).is_empty(), "nothing is left out without an error");
}

const AGENT: &str = r#"{"name": "a", "type": "dual_ai", "exposeAsTool": true, "maxSessionTurns": 3,
  "sideA": {"prompt": "p", "sessionStop": {"name": "read_file", "messageProperty": "m"}},
  "sideB": {"prompt": "p", "stopTool": "read_file", "stopOnResponse": false}}"#;

const PROMPT: &str = r#"{"name": "p", "model": "openai:x", "prompt": [{"type": "text", "content": "é"}],
  "tools": ["read_file", {"name": "a", "resumable": {"receives_messages": "side_b", "maxInstances": 2}}]}"#;

/// Keys and texts that mean something are drawn often.
fn word() -> impl Strategy<Value = String> {
    let words = "name type sideA sideB prompt tools dual_ai ai_human a p q content text include env property resumable \
                 receives_messages side_a sessionStop sessionFail stopTool maxSteps exposeAsTool model openai:x \
                 read_file blocking immediate optional reasoning requiredSchema hooks icon";
    let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
    prop_oneof![4 => proptest::sample::select(words), 1 => any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..3u8).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..10)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// An object that says its name, so that the rest of it is looked at.
fn named(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec((word(), value()), 0..10).prop_map(move |entries| {
        let mut map: Map<String, Value> = entries.into_iter().collect();
        map.insert("name".to_owned(), Value::from(name));
        Value::Object(map).to_string().into_bytes()
    })
}

proptest! {
    #[test]
    fn bytes_never_panic(agent: Vec<u8>, prompt: Vec<u8>) {
        check(&agent, &prompt);
    }

    #[test]
    fn json_never_panics(agent in value(), prompt in value()) {
        check(agent.to_string().as_bytes(), prompt.to_string().as_bytes());
    }

    #[test]
    fn definitions_never_panic(agent in named("a"), prompt in named("p")) {
        check(&agent, &prompt);
    }

    #[test]
    fn a_damaged_definition_never_panics(
        in_agent: bool,
        at: proptest::sample::Index,
        length in 0..20usize,
        wedge: Vec<u8>,
    ) {
        let (mut agent, mut prompt) = (AGENT.as_bytes().to_vec(), PROMPT.as_bytes().to_vec());
        let damaged = if in_agent { &mut agent } else { &mut prompt };
        let start = at.index(damaged.len());
        let end = (start + length).min(damaged.len());
        damaged.splice(start..end, wedge);
        check(&agent, &prompt);
    }
}
