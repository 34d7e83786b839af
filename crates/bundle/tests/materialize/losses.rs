//! What a target cannot hold is named, and refused where nothing may be lost.

use crate::kit::{bundle, front, lost, paths, planned, text, told, with_subagents};
use entourage_bundle::materialize::{Adapter, refuse};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn rich() -> Value {
    json!({
        "fixer": { "description": "Mends" },
        "reviewer": {
            "description": "Checks diffs",
            "invocation": "manual",
            "tags": ["review", "review"],
            "handoff": { "allowedFrom": ["primary"], "returnMode": "report", "more": 1 },
            "metadata": { "team": "platform" },
            "x-acme": { "k": 1 },
        },
    })
}

#[test]
fn strict_targets_name_each_field_and_lax_ones_keep_it() {
    let files = with_subagents("codex", &json!({}), &rich());
    let all = ["reviewer handoff", "reviewer invocation", "reviewer metadata", "reviewer tags", "reviewer x-acme"];
    for adapter in [Adapter::Codex, Adapter::Gemini, Adapter::Opencode] {
        assert_eq!(lost(&planned(&files, adapter)), all, "{adapter}");
    }
    for (adapter, path) in
        [(Adapter::ClaudeCode, ".claude/agents/reviewer.md"), (Adapter::Cursor, ".cursor/agents/reviewer.md")]
    {
        let plan = planned(&files, adapter);
        assert!(plan.is_exact(), "{adapter}: {:?}", plan.losses);
        let mut kept = rich()["reviewer"].clone();
        kept.as_object_mut().unwrap().remove("description");
        assert_eq!(front(text(&plan, path)).0["x-stax"], kept, "{adapter}");
    }
    // GitHub Copilot has words for two of them.
    let plan = planned(&files, Adapter::GithubCopilot);
    let (keys, _) = front(text(&plan, ".github/agents/reviewer.agent.md"));
    assert!(plan.is_exact(), "{:?}", plan.losses);
    assert_eq!(keys["metadata"], json!({ "team": "platform" }));
    assert_eq!(keys["disable-model-invocation"], true);
    let kept: Vec<_> = keys["x-stax"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(kept, ["tags", "handoff", "x-acme"]);
    assert!(!text(&plan, ".github/agents/fixer.agent.md").contains("x-stax"));
}

#[test]
fn strict_files_hold_no_foreign_key() {
    let files = with_subagents("codex", &json!({}), &rich());
    let plan = planned(&files, Adapter::Codex);
    let table: toml::Table = toml::from_str(text(&plan, ".codex/agents/reviewer.toml")).unwrap();
    assert_eq!(table.keys().collect::<Vec<_>>(), ["description", "developer_instructions", "name"]);
    let plan = planned(&files, Adapter::Gemini);
    let (keys, _) = front(text(&plan, ".gemini/agents/reviewer.md"));
    assert_eq!(keys.keys().collect::<Vec<_>>(), ["kind", "name", "description"]);
}

#[test]
fn a_refusal_lists_every_loss() {
    let files = with_subagents("codex", &json!({}), &rich());
    let fault = refuse(&planned(&files, Adapter::Codex)).expect("something is lost");
    let expected = ["handoff", "invocation", "metadata", "tags", "x-acme"]
        .map(|field| format!("[B071] `{field}` of `reviewer` is lost in `codex`: Codex has no word for it"));
    assert_eq!(told(fault), format!("5: {}", expected.join("\n")));
    assert!(refuse(&planned(&files, Adapter::ClaudeCode)).is_none());
}

/// The targets that may name a model, in the order of the table below.
const NAMING: [Adapter; 6] =
    [Adapter::ClaudeCode, Adapter::Codex, Adapter::Cursor, Adapter::GithubCopilot, Adapter::Opencode, Adapter::Gemini];

/// Model, the bundle's own adapter, and what the file of each target says; `-` is a loss.
const MODELS: [(&str, &str, [&str; 6]); 5] = [
    (
        "claude-opus-4-1",
        "codex",
        ["claude-opus-4-1", "-", "claude-opus-4-1", "claude-opus-4-1", "anthropic/claude-opus-4-1", "-"],
    ),
    ("openai:gpt-5", "claude-code", ["-", "gpt-5", "gpt-5", "gpt-5", "openai/gpt-5", "-"]),
    // What is written for a harness is in its own words.
    ("opus", "codex", ["opus", "opus", "-", "-", "-", "-"]),
    ("composer-1", "cursor", ["-", "-", "composer-1", "-", "-", "-"]),
    ("gemini-3-pro", "gemini", ["-", "-", "gemini-3-pro", "gemini-3-pro", "google/gemini-3-pro", "gemini-3-pro"]),
];

#[test]
fn a_model_that_the_target_cannot_name_is_lost() {
    for (model, own, targets) in MODELS {
        let files = with_subagents(own, &json!({}), &json!({ "one": { "description": "One.", "model": model } }));
        for (adapter, expected) in NAMING.into_iter().zip(targets) {
            let plan = planned(&files, adapter);
            let keys = match adapter {
                Adapter::Codex => {
                    let table: toml::Table = toml::from_str(text(&plan, ".codex/agents/one.toml")).unwrap();
                    serde_json::to_value(table).unwrap()
                }
                _ => Value::Object(front(text(&plan, paths(&plan)[0])).0),
            };
            assert_eq!(keys.get("model").and_then(Value::as_str).unwrap_or("-"), expected, "{model} for {adapter}");
            let named: Vec<_> = (expected == "-").then(|| "one model".to_owned()).into_iter().collect();
            assert_eq!(lost(&plan), named, "{model} for {adapter}");
        }
    }
}

#[test]
fn harnesses_without_subagents_lose_every_one() {
    let files = with_subagents("codex", &json!({}), &json!({ "one": { "description": "One." } }));
    for (adapter, path) in [
        (Adapter::Windsurf, ".windsurf/workflows/one.md"),
        (Adapter::Openclaw, "subagents/one/AGENTS.md"),
        (Adapter::Generic, "subagents/one/INSTRUCTIONS.md"),
    ] {
        let plan = planned(&files, adapter);
        assert!(lost(&plan).contains(&"one subagent".to_owned()), "{adapter}: {:?}", plan.losses);
        assert!(text(&plan, path).ends_with("Work.\n"), "{adapter}");
        assert!(!plan.is_exact());
        assert!(
            plan.warnings.iter().any(|report| report.code.0 == "B086" && report.what.contains("`one`")),
            "{adapter}"
        );
    }
}

#[test]
fn subagents_that_are_not_to_be_written_are_lost() {
    for adapter in Adapter::ALL {
        let keys = json!({ "adapter": { "config": { "writeAgents": false } } });
        let plan = planned(&with_subagents(adapter.name(), &keys, &rich()), adapter);
        assert_eq!(lost(&plan), ["fixer subagent", "reviewer subagent"], "{adapter}");
        assert_eq!(paths(&plan), [""; 0], "{adapter}");
        assert!(plan.warnings.iter().any(|report| report.code.0 == "B086"), "{adapter}");
        // It is this adapter's own wish, and nobody else's.
        let other = if adapter == Adapter::Codex { Adapter::Gemini } else { Adapter::Codex };
        assert_eq!(paths(&planned(&with_subagents(adapter.name(), &keys, &rich()), other)).len(), 2);
    }
}

#[test]
fn what_is_about_the_bundle_itself_is_no_loss() {
    let keys = json!({
        "author": "Ada", "license": "MIT", "url": "https://example.com", "tags": ["a"],
        "hints": { "isolation": "container" }, "adapter": { "model": "claude-opus-4-1" },
    });
    for adapter in Adapter::ALL {
        assert_eq!(lost(&planned(&bundle("codex", &keys, &[]), adapter)), [""; 0], "{adapter}");
    }
    let keys = json!({ "x-acme": 1, "workspaceSources": [{ "id": "a", "ref": "r", "mountPath": "/a" }] });
    assert_eq!(lost(&planned(&bundle("codex", &keys, &[]), Adapter::Codex)), ["- workspaceSources", "- x-acme"]);
}

#[test]
fn a_thousand_subagents_are_planned_at_once() {
    let agent = |at: usize| (format!("agent-{at}"), json!({ "description": format!("Does {at}."), "tags": ["t"] }));
    let agents: serde_json::Map<_, _> = (0..1_000).map(agent).collect();
    let files = with_subagents("codex", &json!({}), &Value::Object(agents));
    for adapter in [Adapter::ClaudeCode, Adapter::Codex] {
        let begun = Instant::now();
        assert_eq!(planned(&files, adapter).documents.len(), 1_000);
        assert!(begun.elapsed() < Duration::from_secs(5), "{adapter}: {:?}, unoptimised", begun.elapsed());
    }
}
