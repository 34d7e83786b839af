//! `stax` and its adapters, also against what the reference program's adapters give (`golden/`).

use crate::{check, export};
use serde_json::{Map, Value, json};

const ADAPTERS: [(&str, &str); 9] = [
    ("claude-code", "claudeCode"),
    ("codex", "codex"),
    ("cursor", "cursor"),
    ("gemini", "gemini"),
    ("generic", "generic"),
    ("github-copilot", "githubCopilot"),
    ("openclaw", "openclaw"),
    ("opencode", "opencode"),
    ("windsurf", "windsurf"),
];

fn configured(adapter: &str, options: &Value) -> Value {
    export(&format!("import adapter from '@stax/{adapter}';\nexport default adapter({options});"))
}

#[test]
fn every_adapter_names_itself_and_is_exported_both_ways() {
    for (name, export_name) in ADAPTERS {
        let text = format!(
            "import adapter, {{ {export_name} }} from '@stax/{name}';\nexport default [adapter === {export_name}, adapter(), adapter({{}})];"
        );
        let given = export(&text);
        assert_eq!(given[0], json!(true), "{name}");
        assert_eq!(given[1], given[2], "{name}");
        assert_eq!((&given[1]["type"], &given[1]["runtime"]), (&json!(name), &json!(name)));
        assert_eq!(given[1]["adapterVersion"], json!("1.0.0"), "{name}");
        assert!(given[1]["config"].is_object() && given[1]["features"].is_object(), "{name}");
    }
}

#[test]
fn options_go_to_the_configuration_and_models_to_the_top() {
    let given = configured(
        "codex",
        &json!({"model": "m", "modelParams": {"t": 1}, "approval": "never", "writeAgents": false, "exact": true}),
    );
    assert_eq!(given["model"], json!("m"));
    assert_eq!(given["modelParams"], json!({"t": 1}));
    assert_eq!(given["config"], json!({"scope": "project", "approval": "never", "writeAgents": false}));
    assert_eq!(given["fidelity"], json!("byte-exact"));
    assert_eq!(given.get("exact"), None);
}

#[test]
fn the_user_scope_changes_the_targets() {
    let given = configured("claude-code", &json!({"scope": "user"}));
    assert_eq!(given["config"]["scope"], json!("user"));
    assert_eq!(given["targets"][0]["path"], json!("~/.claude/CLAUDE.md"));
}

#[test]
fn a_generic_adapter_says_only_what_its_author_said() {
    assert_eq!(
        configured("generic", &json!({})),
        json!({"type": "generic", "runtime": "generic", "adapterVersion": "1.0.0", "config": {}, "features": {}})
    );
    let said = json!({"runtime": "mine", "importMode": "api", "fidelity": "best-effort", "targets": [{"kind": "file", "path": "X"}], "features": {"prompt": "native"}});
    let given = configured("generic", &said);
    for (name, value) in said.as_object().expect("an object") {
        assert_eq!(&given[name], value, "{name}");
    }
}

#[test]
fn stax_definers_state_the_version_where_the_author_did_not() {
    for definer in [
        "defineAgent",
        "definePackage",
        "definePersona",
        "defineMcp",
        "defineSubagents",
        "defineProfile",
        "defineSource",
    ] {
        check(
            &format!("import {{ {definer} as define }} from 'stax';"),
            &[
                ("define({ name: 'x' } as any)", json!({"name": "x", "specVersion": "1.0.0"})),
                ("define({ specVersion: '2.0.0', name: 'x' } as any)", json!({"specVersion": "2.0.0", "name": "x"})),
                ("define(null as any)", json!(null)),
                ("define([1] as any)", json!([1])),
                ("define('x' as any)", json!("x")),
            ],
        );
    }
}

#[test]
fn adapters_give_what_the_reference_gives() {
    let vectors: Value = serde_json::from_str(include_str!("golden/adapters.json")).expect("a vector is JSON");
    let adapters = vectors["adapters"].as_object().expect("adapters by name");
    assert_eq!(adapters.len(), 7);
    for (name, vector) in adapters {
        let defaults = &vector["defaults"];
        assert_eq!(&configured(name, &json!({})), defaults, "{name}");
        assert_eq!(configured(name, &json!({"exact": true}))["fidelity"], vector["exact_fidelity"], "{name}");
        if let Some(targets) = vector.get("user_scope_targets") {
            assert_eq!(&configured(name, &json!({"scope": "user"}))["targets"], targets, "{name}");
        }
        let kept = strings(&vector["options_to_config"]);
        let ignored = strings(&vector["options_ignored_by_the_program"]);
        let options: Map<String, Value> =
            kept.iter().chain(&ignored).map(|option| (option.clone(), json!("given"))).collect();
        let mut config = defaults["config"].as_object().expect("a configuration").clone();
        config.extend(kept.iter().map(|option| (option.clone(), json!("given"))));
        assert_eq!(configured(name, &Value::Object(options))["config"], Value::Object(config), "{name}");
        for (option, value) in vector["model_example"].as_object().expect("an example") {
            assert_eq!(&configured(name, &json!({ option: value }))[option], value, "{name} {option}");
        }
    }
}

#[test]
fn the_reference_agents_evaluate_to_the_reference_definitions() {
    for (agent, definition) in [
        (include_str!("golden/g1-minimal.ts"), include_str!("golden/g1-minimal.json")),
        (include_str!("golden/g2-codex-spec-example.ts"), include_str!("golden/g2-codex-spec-example.json")),
        (include_str!("golden/g5-copilot.ts"), include_str!("golden/g5-copilot.json")),
    ] {
        let wanted: Value = serde_json::from_str(definition).expect("a vector is JSON");
        // As text, because the order of members is part of it.
        assert_eq!(export(agent).to_string(), wanted.to_string());
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("text").to_owned()).collect()
}
