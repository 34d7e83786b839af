//! What a harness said of an agent, on its way through a bundle.

use crate::kit::{front, lost, planned, text, told, with_subagents};
use entourage_bundle::materialize::{Adapter, plan};
use serde_json::{Value, json};

fn auditor() -> Value {
    json!({
        "auditor": {
            "description": "Audits",
            "instructions": "You audit.\n",
            "tags": ["safe"],
            "x-claude-code": {
                "name": "auditor",
                "description": "Audits",
                "tools": "Read, Grep",
                "color": "cyan",
                "hooks": { "Stop": [] },
                "futureKey": [1],
            },
        },
    })
}

#[test]
fn it_is_restored_for_that_harness() {
    let plan = planned(&with_subagents("generic", &json!({}), &auditor()), Adapter::ClaudeCode);
    let (mut keys, body) = front(text(&plan, ".claude/agents/auditor.md"));
    assert_eq!(keys.remove("x-stax"), Some(json!({ "tags": ["safe"] })));
    assert_eq!(Value::Object(keys), auditor()["auditor"]["x-claude-code"]);
    assert_eq!((body, lost(&plan)), ("You audit.\n", Vec::new()));
}

#[test]
fn a_strict_harness_gets_its_own_back_and_loses_the_rest() {
    let agents = json!({ "auditor": {
        "description": "Audits", "tags": ["safe"],
        "x-gemini": { "kind": "local", "name": "auditor", "description": "Audits", "max_turns": 9 },
    } });
    let plan = planned(&with_subagents("generic", &json!({}), &agents), Adapter::Gemini);
    assert_eq!(Value::Object(front(text(&plan, ".gemini/agents/auditor.md")).0), agents["auditor"]["x-gemini"]);
    assert_eq!(lost(&plan), ["auditor tags"]);
}

#[test]
fn it_is_translated_for_another_and_what_has_no_word_is_named() {
    let files = with_subagents("generic", &json!({}), &auditor());
    let plan = planned(&files, Adapter::Gemini);
    let (keys, _) = front(text(&plan, ".gemini/agents/auditor.md"));
    assert_eq!(keys["tools"], json!(["read_file", "grep_search"]));
    let vendors = ["color", "futureKey", "hooks"].map(|key| format!("auditor x-claude-code.{key}"));
    assert_eq!(lost(&plan), [&["auditor tags".to_owned()], vendors.as_slice()].concat());

    // A lax target keeps all of it, which has an effect no more than it had.
    let plan = planned(&files, Adapter::Cursor);
    let (keys, _) = front(text(&plan, ".cursor/agents/auditor.md"));
    assert_eq!(keys["x-stax"]["x-claude-code"], auditor()["auditor"]["x-claude-code"]);
    assert_eq!(keys["x-stax"]["tags"], json!(["safe"]));
    assert_eq!(keys["readonly"], true);
    let vendors = ["color", "futureKey", "hooks", "tools"].map(|key| format!("auditor x-claude-code.{key}"));
    assert_eq!(lost(&plan), vendors);
}

#[test]
fn what_the_definition_itself_says_counts() {
    let mut agents = auditor();
    agents["auditor"]["description"] = "Audits twice".into();
    let plan = planned(&with_subagents("generic", &json!({}), &agents), Adapter::ClaudeCode);
    assert_eq!(front(text(&plan, ".claude/agents/auditor.md")).0["description"], "Audits twice");
}

#[test]
fn what_its_harness_would_refuse_is_refused() {
    let agents = json!({ "auditor": { "description": "Audits", "x-gemini": { "kind": "elsewhere" } } });
    let fault = plan(&with_subagents("generic", &json!({}), &agents), Some(Adapter::Gemini)).unwrap_err();
    assert!(told(fault).starts_with("1: [D006] `kind` must be"), "it is a fault of the author");
}

#[test]
fn what_a_definition_only_repeats_is_not_kept_twice() {
    let said = json!({
        "description": "Audits", "metadata": { "team": "a" }, "disable-model-invocation": true, "user-invocable": false,
    });
    let agents = json!({ "auditor": {
        "description": "Audits", "metadata": { "team": "a" }, "invocation": "manual", "x-github-copilot": said,
    } });
    let plan = planned(&with_subagents("generic", &json!({}), &agents), Adapter::GithubCopilot);
    assert_eq!(Value::Object(front(text(&plan, ".github/agents/auditor.agent.md")).0), said);
    assert!(plan.is_exact(), "{:?}", plan.losses);
}
