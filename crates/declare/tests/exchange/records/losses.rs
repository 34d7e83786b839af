//! Between formats every key is found again, or named as lost by the source's own spelling.

use super::files;
use crate::kit::{exported, lost_by_agent};
use entourage_declare::{Format, Written};
use serde_json::Value;

const TARGETS: [Format; 14] = [
    Format::Stax,
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
];

fn export(from: Format, file: &Value, to: Format) -> Written {
    match from {
        Format::Codex => exported(".codex/agents/x.toml", &::toml::to_string(file).expect("the file is TOML"), to),
        _ => exported("x.json", &file.to_string(), to),
    }
}

/// Takes out each key in turn. If that makes no difference to what is written, the key must have been named, or
/// something within it, or what it lies in.
fn check(from: Format, file: &Value, paths: &[&str]) {
    for to in TARGETS.into_iter().filter(|to| *to != from) {
        let whole = export(from, file, to);
        for path in paths {
            let mut less = file.clone();
            let (parent, key) = path.rsplit_once('/').unwrap_or_default();
            let entries = less.pointer_mut(parent).and_then(Value::as_object_mut).expect("the path leads to an object");
            entries.remove(key).expect("the key is there");
            let is_found = export(from, &less, to).files != whole.files;
            let key = spelt(path);
            let is_named = whole.losses.iter().any(|loss| {
                let within =
                    |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
                loss.field == key || within(&loss.field, &key) || within(&key, &loss.field)
            });
            assert!(is_found || is_named, "{from} → {to} loses {key} in silence; it names {:?}", lost_by_agent(&whole));
        }
    }
}

/// The key as it is named: that of an agent without the agent.
fn spelt(path: &str) -> String {
    path.trim_start_matches("/agents/digger").trim_start_matches('/').replace('/', ".")
}

#[test]
fn no_key_of_codex_is_lost_in_silence() {
    check(
        Format::Codex,
        &files::codex(),
        &[
            "/nickname_candidates",
            "/model",
            "/model_provider",
            "/model_reasoning_effort",
            "/sandbox_mode",
            "/approval_policy",
            "/web_search",
            "/mcp_servers",
            "/mcp_servers/shelf",
            "/mcp_servers/far",
            "/mcp_servers/shelf/env",
            "/mcp_servers/far/http_headers",
            "/features",
        ],
    );
}

#[test]
fn no_key_of_goose_is_lost_in_silence() {
    check(
        Format::Goose,
        &files::goose(),
        &[
            "/prompt",
            "/extensions",
            "/settings",
            "/settings/goose_provider",
            "/settings/goose_model",
            "/settings/temperature",
            "/settings/max_turns",
            "/settings/lead",
            "/activities",
            "/author",
            "/parameters",
            "/response",
            "/sub_recipes",
            "/retry",
        ],
    );
}

#[test]
fn no_key_of_docker_agent_is_lost_in_silence() {
    check(
        Format::DockerAgent,
        &files::docker_agent(),
        &[
            "/metadata",
            "/permissions",
            "/budget",
            "/models/big",
            "/models/big/temperature",
            "/models/big/top_p",
            "/models/big/thinking_budget",
            "/models/big/max_tokens",
            "/agents/digger/model",
            "/agents/digger/fallback",
            "/agents/digger/description",
            "/agents/digger/sub_agents",
            "/agents/digger/toolsets",
            "/agents/digger/readonly",
            "/agents/digger/max_iterations",
            "/agents/digger/skills",
            "/agents/digger/structured_output",
            "/agents/digger/add_date",
            "/agents/digger/hooks",
            "/agents/digger/handoffs",
            "/agents/digger/welcome_message",
        ],
    );
}
