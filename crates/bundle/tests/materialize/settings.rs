//! Servers, models and settings in each harness's own files.

use crate::kit::{Folder, bundle, lost, paths, planned};
use entourage_bundle::materialize::{Adapter, OnClash};
use entourage_declare::MemoryFiles;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The value of a file in an empty folder.
fn written(files: &MemoryFiles, adapter: Adapter, path: &str) -> Value {
    let mut folder = Folder::default();
    folder.take(&planned(files, adapter), OnClash::Refuse).unwrap();
    let text = folder.text(path);
    match path.ends_with(".toml") {
        true => serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(),
        false => serde_json::from_str(text).unwrap(),
    }
}

fn servers() -> MemoryFiles {
    let mcp = json!({ "servers": {
        "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" }, "cwd": "/tmp" },
        "far": { "url": "https://far.example/mcp", "transport": "http", "headers": { "X": "y" }, "enabledTools": ["a"] },
        "old": { "url": "https://old.example/sse", "transport": "sse", "connectTimeoutMs": 500 },
        "off": { "command": "off", "enabled": false },
        "safe": { "command": "safe", "secrets": ["api.key", "TOKEN"], "enabled": true },
    } });
    let secrets = json!([
        { "key": "api.key", "required": true, "exposeAs": { "env": "API_KEY" } },
        { "key": "TOKEN", "required": false },
    ]);
    bundle("codex", &json!({ "mcp": "./mcp.json", "secrets": secrets }), &[("mcp.json", &mcp.to_string())])
}

/// By adapter: the file, what it says, and the keys that it does not.
const SPELT: &str = r#"{
  "claude-code": [".mcp.json", { "mcpServers": {
    "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" } },
    "far": { "type": "http", "url": "https://far.example/mcp", "headers": { "X": "y" } },
    "old": { "type": "sse", "url": "https://old.example/sse" },
    "safe": { "command": "safe", "env": { "API_KEY": "${API_KEY}", "TOKEN": "${TOKEN}" } }
  } }, ["far.enabledTools", "old.connectTimeoutMs", "shelf.cwd"]],
  "cursor": [".cursor/mcp.json", { "mcpServers": {
    "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" } },
    "far": { "url": "https://far.example/mcp", "headers": { "X": "y" } },
    "old": { "url": "https://old.example/sse" },
    "safe": { "command": "safe", "env": { "API_KEY": "${env:API_KEY}", "TOKEN": "${env:TOKEN}" } }
  } }, ["far.enabledTools", "old.connectTimeoutMs", "shelf.cwd"]],
  "github-copilot": [".vscode/mcp.json", { "servers": {
    "shelf": { "type": "stdio", "command": "shelf", "args": ["-r"], "env": { "A": "1" }, "cwd": "/tmp" },
    "far": { "type": "http", "url": "https://far.example/mcp", "headers": { "X": "y" } },
    "old": { "type": "sse", "url": "https://old.example/sse" },
    "safe": { "type": "stdio", "command": "safe", "env": { "API_KEY": "${env:API_KEY}", "TOKEN": "${env:TOKEN}" } }
  } }, ["far.enabledTools", "old.connectTimeoutMs"]],
  "opencode": ["opencode.jsonc", { "$schema": "https://opencode.ai/config.json", "mcp": {
    "shelf": { "type": "local", "command": ["shelf", "-r"], "environment": { "A": "1" } },
    "far": { "type": "remote", "url": "https://far.example/mcp", "headers": { "X": "y" } },
    "old": { "type": "remote", "url": "https://old.example/sse", "timeout": 500 },
    "safe": { "type": "local", "command": ["safe"],
              "environment": { "API_KEY": "{env:API_KEY}", "TOKEN": "{env:TOKEN}" } }
  } }, ["far.enabledTools", "shelf.cwd"]],
  "gemini": [".gemini/settings.json", { "mcpServers": {
    "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" }, "cwd": "/tmp" },
    "far": { "httpUrl": "https://far.example/mcp", "headers": { "X": "y" }, "includeTools": ["a"] },
    "old": { "url": "https://old.example/sse", "timeout": 500 },
    "safe": { "command": "safe", "env": { "API_KEY": "$API_KEY", "TOKEN": "$TOKEN" } }
  } }, []],
  "windsurf": [".codeium/windsurf/mcp_config.json", { "mcpServers": {
    "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" } },
    "far": { "serverUrl": "https://far.example/mcp", "headers": { "X": "y" } },
    "old": { "url": "https://old.example/sse" },
    "safe": { "command": "safe", "env": { "API_KEY": "${env:API_KEY}", "TOKEN": "${env:TOKEN}" } }
  } }, ["far.enabledTools", "old.connectTimeoutMs", "shelf.cwd"]],
  "codex": [".codex/config.toml", { "mcp_servers": {
    "shelf": { "command": "shelf", "args": ["-r"], "env": { "A": "1" }, "cwd": "/tmp" },
    "far": { "url": "https://far.example/mcp", "http_headers": { "X": "y" }, "enabled_tools": ["a"] },
    "old": { "url": "https://old.example/sse", "startup_timeout_ms": 500 },
    "safe": { "command": "safe", "env_vars": ["API_KEY", "TOKEN"] }
  } }, ["old.transport"]]
}"#;

#[test]
fn servers_are_spelt_as_each_harness_reads_them() {
    let spelt: BTreeMap<String, (String, Value, Vec<String>)> = serde_json::from_str(SPELT).unwrap();
    assert_eq!(spelt.len(), Adapter::ALL.len() - 2);
    for (name, (path, expected, unsaid)) in spelt {
        let adapter = Adapter::of_name(&name).unwrap();
        assert_eq!(written(&servers(), adapter, &path), expected, "{adapter}");
        let unsaid: Vec<_> = unsaid.into_iter().map(|field| format!("- mcp.{field}")).collect();
        assert_eq!(lost(&planned(&servers(), adapter)), unsaid, "{adapter}");
    }
    let all = ["- mcp.far", "- mcp.old", "- mcp.safe", "- mcp.shelf"];
    assert_eq!(lost(&planned(&servers(), Adapter::Openclaw)), all);
    // The generic target is told as the bundle says it.
    let generic = written(&servers(), Adapter::Generic, "mcp.json");
    assert_eq!(generic["servers"]["shelf"]["cwd"], "/tmp");
    assert!(generic["servers"].get("off").is_none());
}

#[test]
fn a_definition_may_leave_the_settings_out() {
    let mcp = json!({ "servers": { "shelf": { "command": "s" } } }).to_string();
    for (adapter, key) in [
        (Adapter::Codex, "writeConfig"),
        (Adapter::Opencode, "writeConfig"),
        (Adapter::ClaudeCode, "writeMcp"),
        (Adapter::Windsurf, "writeMcp"),
    ] {
        let keys = json!({ "mcp": "./mcp.json", "adapter": { "model": "gpt-5", "config": { key: false } } });
        let plan = planned(&bundle(adapter.name(), &keys, &[("mcp.json", &mcp)]), adapter);
        assert_eq!((paths(&plan), lost(&plan)), (vec![], vec!["- mcp.shelf".to_owned()]), "{adapter}");
    }
}

#[test]
fn secrets_are_asked_for() {
    let plan = planned(&servers(), Adapter::Codex);
    assert_eq!(plan.translations[0].field, "mcp.far");
    assert_eq!(plan.translations[0].into, ".codex/config.toml");
    let warnings: Vec<_> = plan.warnings.iter().map(|report| (report.code.0, report.what.as_str())).collect();
    assert_eq!(warnings, [("B078", "the agent wants secrets, which no bundle holds: `api.key`, `TOKEN`")]);
}

#[test]
fn the_model_reaches_the_settings() {
    let cases = [
        ("claude-code", "opus", ".claude/settings.json", json!({ "model": "opus" })),
        ("codex", "gpt-5-codex", ".codex/config.toml", json!({ "model": "gpt-5-codex" })),
        ("codex", "ollama:qwen3", ".codex/config.toml", json!({ "model_provider": "ollama", "model": "qwen3" })),
        ("opencode", "anthropic:claude-opus-4-1", "opencode.jsonc", json!({ "model": "anthropic/claude-opus-4-1" })),
        ("gemini", "gemini-3-pro", ".gemini/settings.json", json!({ "model": { "name": "gemini-3-pro" } })),
    ];
    for (name, model, path, expected) in cases {
        let files = bundle(name, &json!({ "adapter": { "model": model } }), &[]);
        let mut found = written(&files, Adapter::of_name(name).unwrap(), path);
        found.as_object_mut().unwrap().remove("$schema");
        assert_eq!(found, expected, "{name}");
    }
    // A model of somebody else's is no setting of this one, and no loss: it is the definition's adapter's.
    let files = bundle("codex", &json!({ "adapter": { "model": "gpt-5-codex" } }), &[]);
    let plan = planned(&files, Adapter::ClaudeCode);
    assert_eq!((paths(&plan), lost(&plan)), (vec![], vec![]));
}

#[test]
fn what_a_definition_says_for_its_own_harness_becomes_settings() {
    let config = json!({
        "permissions": { "allowedTools": ["Read"], "denyRules": ["Bash(rm *)"] },
        "settings": { "includeCoAuthoredBy": false, "env": { "A": "1" } },
    });
    let files = bundle("claude-code", &json!({ "adapter": { "config": config } }), &[]);
    let expected = json!({
        "permissions": { "allow": ["Read"], "deny": ["Bash(rm *)"] },
        "includeCoAuthoredBy": false, "env": { "A": "1" },
    });
    assert_eq!(written(&files, Adapter::ClaudeCode, ".claude/settings.json"), expected);
    assert_eq!(paths(&planned(&files, Adapter::Codex)), [""; 0]);

    let config = json!({ "approval": "on-request", "sandbox": "workspace-write", "allowLoginShell": true });
    let files = bundle("codex", &json!({ "adapter": { "config": config } }), &[]);
    let expected =
        json!({ "approval_policy": "on-request", "sandbox_mode": "workspace-write", "allow_login_shell": true });
    assert_eq!(written(&files, Adapter::Codex, ".codex/config.toml"), expected);

    let config = json!({ "permission": { "edit": "ask" }, "agent": { "build": { "steps": 3 } } });
    let files = bundle("opencode", &json!({ "adapter": { "config": config } }), &[]);
    let found = written(&files, Adapter::Opencode, "opencode.jsonc");
    assert_eq!((&found["permission"], &found["agent"]), (&config["permission"], &config["agent"]));
}
