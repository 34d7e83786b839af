//! Lists of tools, from one harness's words to another's.

use crate::kit::{exported, lost, page, text_of};
use entourage_declare::Format::{self, ClaudeCode, Cursor, Gemini, GithubCopilot, Opencode};
use serde_json::{Map, Value, json};

/// A declaration, exported: what it says under a key there.
fn check(from: Format, keys: Value, to: Format, (key, expected): (&str, Value), fate: Fate) {
    let said: Map<String, Value> = serde_json::from_value(keys).expect("keys with their values");
    let mut all = Map::from_iter([("name".to_owned(), json!("a")), ("description".to_owned(), json!("b"))]);
    all.extend(said.clone());
    let folder = if from == GithubCopilot { "github" } else { from.name().trim_end_matches("-code") };
    let written = exported(&format!(".{folder}/agents/a.md"), &text_of(&all, ""), to);
    let found = page(&written.files[0].1).0.get(key).cloned().unwrap_or_default();
    assert_eq!(found, expected, "{from} → {to}: {all:?}");
    let is_lost = lost(&written).iter().any(|field| said.contains_key(*field));
    let found = if is_lost { Fate::Lost } else { Fate::Kept };
    assert_eq!(found, fate, "{from} → {to}: {all:?}");
}

/// Whether keys are named as lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Kept,
    Lost,
}

use Fate::{Kept, Lost};

#[test]
fn a_list_is_translated_name_by_name() {
    for (from, list, to, expected) in [
        (ClaudeCode, "Read, Write, Edit", Gemini, json!(["read_file", "write_file", "replace"])),
        (ClaudeCode, "Grep, Glob, Bash", GithubCopilot, json!(["search", "execute"])),
        (ClaudeCode, "WebFetch, WebSearch", GithubCopilot, json!(["web"])),
        (ClaudeCode, "mcp__s__*, mcp__s__t, mcp__u", GithubCopilot, json!(["s/*", "s/t", "u/*"])),
        (ClaudeCode, "mcp__s__*, mcp__s__t", Gemini, json!(["mcp_s_*", "mcp_s_t"])),
        (GithubCopilot, "read, SEARCH, Execute", ClaudeCode, json!(["Read", "Glob", "Grep", "Bash"])),
        (GithubCopilot, "s/t, agent, todo", ClaudeCode, json!(["mcp__s__t", "Agent", "TodoWrite"])),
    ] {
        check(from, json!({ "tools": list }), to, ("tools", expected), Kept);
    }
}

#[test]
fn what_has_no_word_is_left_out_and_named() {
    for (from, list, to, expected) in [
        // The other has a word for both only.
        (ClaudeCode, json!(["Edit"]), GithubCopilot, json!(["edit"])),
        (ClaudeCode, json!(["Read", "Skill"]), GithubCopilot, json!(["read"])),
        (ClaudeCode, json!(["Read", "Nonsense"]), Gemini, json!(["read_file"])),
        (ClaudeCode, json!(["Bash(git *)"]), Gemini, json!([])),
        // The other would take the first word for the server.
        (ClaudeCode, json!(["mcp__my_server__x"]), Gemini, json!([])),
        (Gemini, json!(["mcp_*"]), ClaudeCode, json!([])),
        (Gemini, json!(["save_memory"]), ClaudeCode, json!([])),
    ] {
        check(from, json!({ "tools": list }), to, ("tools", expected), Lost);
    }
}

#[test]
fn everything_by_name_is_no_list() {
    check(Gemini, json!({ "tools": ["*"] }), ClaudeCode, ("tools", Value::Null), Kept);
    check(GithubCopilot, json!({ "tools": ["*", "read"] }), Gemini, ("tools", Value::Null), Kept);
    check(GithubCopilot, json!({ "tools": [] }), ClaudeCode, ("tools", json!([])), Kept);
}

#[test]
fn rules_become_lists_and_lists_rules() {
    let allowed = |rules: Value| json!({ "permission": rules });
    check(Opencode, allowed(json!({ "*": "deny", "read": "allow" })), ClaudeCode, ("tools", json!(["Read"])), Kept);
    check(Opencode, allowed(json!({ "read": "allow", "*": "deny" })), ClaudeCode, ("tools", json!([])), Kept);
    check(Opencode, allowed(json!("deny")), ClaudeCode, ("tools", json!([])), Kept);
    let denied = json!(["Write", "Edit"]);
    check(Opencode, allowed(json!({ "edit": "deny" })), ClaudeCode, ("disallowedTools", denied.clone()), Kept);
    check(Opencode, json!({ "tools": { "write": false } }), ClaudeCode, ("disallowedTools", denied.clone()), Kept);
    let partly = json!({ "edit": "deny", "bash": { "git *": "allow", "*": "ask" } });
    check(Opencode, allowed(partly), ClaudeCode, ("disallowedTools", denied), Lost);
    check(
        Opencode,
        allowed(json!({ "bash": { "*": "deny" } })),
        ClaudeCode,
        ("disallowedTools", json!(["Bash"])),
        Kept,
    );
    check(Opencode, allowed(json!({ "edit": "deny", "bash": "deny" })), Cursor, ("readonly", json!(true)), Lost);
    check(
        ClaudeCode,
        json!({ "tools": "Read, Bash" }),
        Opencode,
        ("permission", json!({ "*": "deny", "read": "allow", "bash": "allow" })),
        Kept,
    );
    check(ClaudeCode, json!({ "disallowedTools": "Bash" }), Opencode, ("permission", json!({ "bash": "deny" })), Kept);
    check(ClaudeCode, json!({ "disallowedTools": "Write" }), Opencode, ("permission", json!({ "edit": "deny" })), Lost);
}

#[test]
fn whoever_may_not_change_anything_stays_so() {
    check(ClaudeCode, json!({ "permissionMode": "plan" }), Cursor, ("readonly", json!(true)), Kept);
    check(Cursor, json!({ "readonly": true }), ClaudeCode, ("permissionMode", json!("plan")), Kept);
    // A list without a word in the target, which knows at least this.
    check(ClaudeCode, json!({ "tools": "Read, Grep" }), Cursor, ("readonly", json!(true)), Lost);
    check(ClaudeCode, json!({ "tools": "Read, Bash" }), Cursor, ("readonly", Value::Null), Lost);
    check(ClaudeCode, json!({ "disallowedTools": "Write, Edit, Bash" }), Cursor, ("readonly", json!(true)), Lost);
    check(ClaudeCode, json!({ "disallowedTools": "Write" }), Cursor, ("readonly", Value::Null), Lost);
}

#[test]
fn agents_are_allowed_by_name_where_the_target_can_say_it() {
    let keys = json!({ "tools": ["read", "agent"], "agents": ["scout", "smith"] });
    check(GithubCopilot, keys, ClaudeCode, ("tools", json!(["Read", "Agent(scout, smith)"])), Kept);
    check(GithubCopilot, json!({ "agents": ["scout"] }), ClaudeCode, ("tools", Value::Null), Lost);
    check(GithubCopilot, json!({ "agents": ["*"] }), ClaudeCode, ("tools", Value::Null), Lost);
    check(ClaudeCode, json!({ "tools": "Agent(scout), Read" }), GithubCopilot, ("agents", json!(["scout"])), Lost);
}
