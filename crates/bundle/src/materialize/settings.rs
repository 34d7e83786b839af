//! A harness's settings: the model, what the definition says for that harness, and the servers.

use super::adapter::Adapter;
use super::plan::{Plan, Setting};
use super::source::Source;
use entourage_declare::model_keys;
use serde_json::{Map, Value, json};

/// What opencode's editors check its settings by.
const OPENCODE_SCHEMA: &str = "https://opencode.ai/config.json";

pub(super) fn add(source: &Source<'_>, servers: Map<String, Value>, plan: &mut Plan) {
    let before = plan.documents.len();
    let names: Vec<_> = servers.keys().map(|name| format!("mcp.{name}")).collect();
    write(source, servers, plan);
    // The servers are always in the last file.
    let last = plan.documents.get(before..).and_then(<[_]>::last).map(|document| document.path.clone());
    if let Some(path) = last {
        names.into_iter().for_each(|field| plan.translate(field, &path));
    }
}

fn write(source: &Source<'_>, servers: Map<String, Value>, plan: &mut Plan) {
    if matches!(plan.adapter, Adapter::Codex | Adapter::Opencode) && source.leaves_out("writeConfig") {
        servers.keys().for_each(|name| plan.leave_out(&format!("mcp.{name}"), "writeConfig"));
        return;
    }
    match plan.adapter {
        Adapter::ClaudeCode => {
            if !source.leaves_out("writeSettings") {
                plan.set(".claude/settings.json", units(claude_code(source)));
            }
            plan.set(".mcp.json", units(under("mcpServers", servers)));
        }
        Adapter::Codex => codex(source, servers, plan),
        Adapter::Cursor => plan.set(".cursor/mcp.json", units(under("mcpServers", servers))),
        Adapter::GithubCopilot => plan.set(".vscode/mcp.json", units(under("servers", servers))),
        Adapter::Opencode => plan.set("opencode.jsonc", units(opencode(source, servers))),
        Adapter::Gemini => plan.set(".gemini/settings.json", units(gemini(source, servers))),
        Adapter::Windsurf => {
            if !servers.is_empty() {
                let what = "Windsurf reads its servers from the user's home only";
                plan.warn(
                    "B081",
                    what,
                    "copy `.codeium/windsurf/mcp_config.json` there, or materialise with `--out ~`",
                );
            }
            plan.set(".codeium/windsurf/mcp_config.json", units(under("mcpServers", servers)));
        }
        Adapter::Openclaw => {}
        Adapter::Generic => plan.set("mcp.json", units(under("servers", servers))),
    }
}

/// The keys by which the settings name the definition's model.
fn model(source: &Source<'_>) -> Map<String, Value> {
    let adapters =
        [source.own("model"), source.parcel.definition.get("adapter").and_then(|adapter| adapter.get("model"))];
    match adapters.into_iter().flatten().find_map(Value::as_str) {
        Some(text) => model_keys(text, source.choice.adapter.format(), source.own("model").is_some()),
        None => Map::new(),
    }
}

fn claude_code(source: &Source<'_>) -> Map<String, Value> {
    let mut keys = model(source);
    if let Some(given) = source.config("permissions").and_then(Value::as_object) {
        let word = |key: &str| match key {
            "allowedTools" => "allow".to_owned(),
            "denyRules" => "deny".to_owned(),
            other => other.to_owned(),
        };
        let permissions = given.iter().map(|(key, value)| (word(key), value.clone())).collect();
        keys.extend(under("permissions", permissions));
    }
    if let Some(settings) = source.config("settings").and_then(Value::as_object) {
        keys.extend(settings.clone());
    }
    keys
}

fn codex(source: &Source<'_>, servers: Map<String, Value>, plan: &mut Plan) {
    let mut keys = model(source);
    for (from, to) in
        [("approval", "approval_policy"), ("sandbox", "sandbox_mode"), ("allowLoginShell", "allow_login_shell")]
    {
        keys.extend(source.config(from).map(|value| (to.to_owned(), value.clone())));
    }
    keys.extend(under("mcp_servers", servers));
    if keys.is_empty() {
        return;
    }
    match toml::to_string(&keys) {
        Ok(text) => plan.write(".codex/config.toml", text),
        Err(fault) => plan.lose("adapter.config", format!("TOML cannot say it: {fault}")),
    }
}

fn opencode(source: &Source<'_>, servers: Map<String, Value>) -> Map<String, Value> {
    let mut keys = model(source);
    for key in ["agent", "permission"] {
        keys.extend(source.config(key).map(|value| (key.to_owned(), value.clone())));
    }
    keys.extend(under("mcp", servers));
    if !keys.is_empty() {
        keys.shift_insert(0, "$schema".to_owned(), OPENCODE_SCHEMA.into());
    }
    keys
}

fn gemini(source: &Source<'_>, servers: Map<String, Value>) -> Map<String, Value> {
    let name = model(source).shift_remove("model").map(|name| json!({ "name": name }));
    let mut keys: Map<_, _> = name.map(|model| ("model".to_owned(), model)).into_iter().collect();
    keys.extend(under("mcpServers", servers));
    keys
}

fn under(key: &str, values: Map<String, Value>) -> Map<String, Value> {
    if values.is_empty() { Map::new() } else { Map::from_iter([(key.to_owned(), Value::Object(values))]) }
}

/// Each value by itself: one step into objects, so that a server is one of them and others may have servers, too.
fn units(keys: Map<String, Value>) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (key, value) in keys {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let inner = inner.into_iter().map(|(name, value)| Setting { path: vec![key.clone(), name], value });
                settings.extend(inner);
            }
            value => settings.push(Setting { path: vec![key], value }),
        }
    }
    settings
}
