//! Whatever a file holds, loading it ends, and ends well.

use super::{load, names, tools};
use entourage_declare::{Loaded, MemoryFiles};
use entourage_model::{Severity, ToolEntry};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Loads every kind of file with the same bytes, and holds what is promised about every result.
fn check(agent: &[u8], prompt: &[u8]) {
    check_files(&MemoryFiles::from_iter([
        ("AGENTS.md", agent),
        ("agents/agents/a.json", agent),
        ("agents/agents/b.json", prompt),
        ("agents/prompts/p.json", prompt),
        ("agents/prompts/q.json", agent),
        ("agents/tools/t.json", prompt),
        ("agents/models/m.json", agent),
        ("agents/hooks/h.json", prompt),
    ]));
}

/// A module as every kind of definition, beside prompts that could be its own.
fn check_module(text: &str) {
    let prompt = r#"{"name": "p", "prompt": "", "tools": ["t", {"name": "a"}], "model": "m"}"#;
    check_files(&MemoryFiles::from_iter([
        ("agents/agents/a.ts", text),
        ("agents/prompts/p.json", prompt),
        ("agents/prompts/q.mts", text),
        ("agents/tools/t.ts", text),
        ("agents/models/m.js", text),
        ("agents/hooks/h.mjs", text),
    ]));
}

fn check_files(files: &MemoryFiles) {
    let loaded = load(files, &tools());
    let Loaded { team, reports, .. } = &loaded;
    let own = team.agents.values().flat_map(|agent| agent.prompts());
    let prompts = own.chain(team.prompts.values().map(|prompt| &**prompt));
    for prompt in prompts {
        for entry in &prompt.tools {
            let exists = match entry {
                ToolEntry::Tool(tool) => tools().contains(tool) || team.tools.contains_key(tool),
                ToolEntry::Child(child) => team.agents.contains_key(&child.agent),
                ToolEntry::Handoff(handoff) => team.agents.contains_key(&handoff.agent),
                ToolEntry::Prompt(entry) => team.prompts.contains_key(&entry.prompt),
            };
            assert!(exists, "{entry:?}");
        }
        assert!(prompt.hooks.iter().all(|hook| team.hooks.contains_key(hook)));
    }
    assert!(reports.is_sorted_by_key(|report| report.place.clone()));
    let again = load(files, &tools());
    assert_eq!((&again.team, &again.reports), (team, reports));
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
                 read_file blocking immediate optional reasoning requiredSchema hooks icon human handler subagents \
                 agent as scopedEnv variables secret scoped tenvs parentHooks hook reason uses args execute description \
                 executionMode provider fallbacks m t h id filter_messages toolChoice function variable value";
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

/// Something that reads like a module, though it rarely is one. Nothing among it runs for long.
fn module() -> impl Strategy<Value = String> {
    let tokens = "export default import from const enum namespace interface type as satisfies async await function => \
                  defineAgent defineTool '@standardagents/builder' 'zod' './x' '../../x' z.object z.string ( ) { } [ ] \
                  , ; : = . ... ? ?? ! < > `${ ` / /* */ // 'a' 'p' \"q\" 0 1n -1 null undefined true NaN Symbol() \
                  new Proxy Promise.resolve throw eval globalThis name: sideA: prompt: tools: execute: args: description: \
                  \u{2028} é @ # \\";
    let tokens: Vec<_> = tokens.split_whitespace().chain([" ", "\n"]).map(str::to_owned).collect();
    proptest::collection::vec(proptest::sample::select(tokens), 0..60).prop_map(|tokens| tokens.join(" "))
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

const MODULE: &str = r#"import { defineAgent } from '@standardagents/builder';
import { z } from 'zod';
interface Wide<T> { a: T }
const side = { prompt: 'p', maxSteps: 3 as number };
export default defineAgent({
  name: 'a', id: 'h', hook: 'filter_messages', description: `é ${1 + 1}`, prompt: [{ type: 'text', content: 'x' }],
  sideA: { ...side, subagents: [{ agent: 'a', as: 'self' }] }, sideB: { prompt: 'p' },
  args: z.object({ city: z.string().optional() }), provider: 'openai', model: 'gpt', fallbacks: ['x:y'],
  async execute(state: unknown, args: Wide<string>) { return args.a; },
} satisfies object);
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_as_a_module_never_panics(text: String) {
        check_module(&text);
    }

    #[test]
    fn what_reads_like_a_module_never_panics(text in module()) {
        check_module(&text);
    }

    #[test]
    fn a_definition_s_values_never_panic(value in value()) {
        check_module(&format!("export default {value};"));
    }

    #[test]
    fn a_damaged_module_never_panics(at: proptest::sample::Index, length in 0..20usize, wedge in module()) {
        let mut text: Vec<char> = MODULE.chars().collect();
        let start = at.index(text.len());
        let end = (start + length).min(text.len());
        text.splice(start..end, wedge.chars().take(8));
        check_module(&text.into_iter().collect::<String>());
    }
}
