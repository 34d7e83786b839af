//! What lies in the target folder: ours is updated and removed, everything else is left alone.

use crate::kit::{Folder, bundle, lax_json, planned, told, with_subagents};
use entourage_bundle::materialize::{Adapter, OnClash, Plan, RECORD, Record, removal};
use serde_json::{Value, json};

const REFUSE: OnClash = OnClash::Refuse;

fn prompt(text: &str, adapter: Adapter) -> Plan {
    planned(&bundle(adapter.name(), &json!({ "prompt": "./p.md" }), &[("p.md", text)]), adapter)
}

fn team(names: &[&str]) -> Plan {
    let agents: Value = names.iter().map(|name| ((*name).to_owned(), json!({ "description": "Works." }))).collect();
    planned(&with_subagents("codex", &json!({}), &agents), Adapter::Codex)
}

fn server(command: &str) -> Plan {
    let mcp = json!({ "servers": { "shelf": { "command": command } } }).to_string();
    planned(&bundle("cursor", &json!({ "mcp": "./mcp.json" }), &[("mcp.json", &mcp)]), Adapter::Cursor)
}

#[test]
fn a_second_time_changes_nothing() {
    let mut folder = Folder::default();
    folder.take(&team(&["one", "two"]), REFUSE).unwrap();
    let before = folder.clone();
    folder.take(&team(&["one", "two"]), REFUSE).unwrap();
    assert_eq!(folder, before);
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let before = Folder::new(&[("AGENTS.md", "Mine.\n")]);
    let mut folder = before.clone();
    let refused = folder.take(&prompt("New.\n", Adapter::Codex), REFUSE).unwrap_err();
    assert!(refused.starts_with("2: [B073] `AGENTS.md` is there already, and was not written by this command"));
    assert_eq!(folder, before);
    folder.take(&prompt("New.\n", Adapter::Codex), OnClash::Overwrite).unwrap();
    assert_eq!(folder.text("AGENTS.md"), "New.\n");
}

#[test]
fn one_with_the_same_bytes_stays_its_owners() {
    let mut folder = Folder::new(&[("AGENTS.md", "Same.\n")]);
    folder.take(&prompt("Same.\n", Adapter::Codex), REFUSE).unwrap();
    assert_eq!(folder.clean(None, REFUSE), [""; 0]);
    assert_eq!(folder, Folder::new(&[("AGENTS.md", "Same.\n")]));
}

#[test]
fn ours_is_updated_until_somebody_changes_it() {
    let mut folder = Folder::default();
    folder.take(&prompt("One.\n", Adapter::Codex), REFUSE).unwrap();
    folder.take(&prompt("Two.\n", Adapter::Codex), REFUSE).unwrap();
    assert_eq!(folder.text("AGENTS.md"), "Two.\n");
    folder.0.insert("AGENTS.md".to_owned(), b"Mine.\n".to_vec());
    let refused = folder.take(&prompt("Three.\n", Adapter::Codex), REFUSE).unwrap_err();
    assert!(refused.starts_with("2: [B073] `AGENTS.md` was changed since it was written"), "{refused}");
    assert_eq!(folder.text("AGENTS.md"), "Mine.\n");
}

#[test]
fn a_file_becomes_a_program_and_a_text_again_as_the_bundle_has_it() {
    let skill = |script: &str, executable: bool| {
        let text = "---\nname: fix\ndescription: Fixes.\n---\nRun run.sh.\n";
        let mut files = bundle("codex", &json!({ "skills": "./skills" }), &[("skills/fix/SKILL.md", text)]);
        files.insert("skills/fix/run.sh", script, executable);
        planned(&files, Adapter::Codex)
    };
    let path = ".agents/skills/fix/run.sh";
    let mut folder = Folder::default();
    for (script, executable) in [("one", false), ("one", true), ("two", true), ("two", false), ("three", true)] {
        folder.take(&skill(script, executable), REFUSE).unwrap();
        assert_eq!((folder.text(path), folder.1.contains(path)), (script, executable), "{script} {executable}");
    }
    // What somebody else wrote stays as it is.
    let mut folder = Folder::new(&[(path, "one")]);
    folder.take(&skill("one", true), REFUSE).unwrap();
    assert!(!folder.1.contains(path));
}

#[test]
fn all_that_is_in_the_way_is_named_at_once() {
    let files = [(".codex/agents/one.toml", "a = 1\n"), (".codex/agents/two.toml", "a = 1\n")];
    let refused = Folder::new(&files).take(&team(&["one", "two", "three"]), REFUSE).unwrap_err();
    assert_eq!(refused.lines().count(), 2);
    assert!(refused.contains("one.toml") && refused.contains("two.toml"), "{refused}");
}

#[test]
fn what_a_bundle_has_no_more_goes() {
    let mut folder = Folder::default();
    folder.take(&team(&["gone", "kept", "mine"]), REFUSE).unwrap();
    folder.0.insert(".codex/agents/mine.toml".to_owned(), b"name = \"mine\"\n".to_vec());
    let warnings = folder.take(&team(&["kept"]), REFUSE).unwrap();
    assert_eq!(warnings, ["[B080] `.codex/agents/mine.toml` was changed since it was written, and stays"]);
    assert_eq!(folder.paths(), [".codex/agents/kept.toml", ".codex/agents/mine.toml"]);
}

#[test]
fn harnesses_share_a_file_that_says_the_same() {
    let mut folder = Folder::default();
    folder.take(&prompt("Same.\n", Adapter::Codex), REFUSE).unwrap();
    folder.take(&prompt("Same.\n", Adapter::Cursor), REFUSE).unwrap();
    folder.clean(Some(Adapter::Codex), REFUSE);
    assert_eq!(folder.paths(), ["AGENTS.md"]);
    folder.clean(Some(Adapter::Cursor), REFUSE);
    assert_eq!(folder, Folder::default());
}

#[test]
fn a_file_of_another_harness_is_ours_to_update_and_it_is_said() {
    let mut folder = Folder::default();
    folder.take(&prompt("Same.\n", Adapter::Codex), REFUSE).unwrap();
    let warnings = folder.take(&prompt("Other.\n", Adapter::Opencode), REFUSE).unwrap();
    let expected = "[B088] `AGENTS.md`, which was written for agent `lead-agent` and `codex`, says something else now";
    assert_eq!(warnings, [expected]);
    assert_eq!(folder.text("AGENTS.md"), "Other.\n");
    // It is said once, and the file goes with the last of the two.
    assert_eq!(folder.take(&prompt("More.\n", Adapter::Opencode), REFUSE).unwrap(), [""; 0]);
    assert_eq!(folder.clean(Some(Adapter::Opencode), REFUSE), [""; 0]);
    assert_eq!(folder.paths(), ["AGENTS.md"]);
    assert_eq!(folder.clean(Some(Adapter::Codex), REFUSE), [""; 0]);
    assert_eq!(folder, Folder::default());
}

/// A bundle of this name for Cursor, with a prompt, a server and these subagents.
fn named(agent: &str, names: &[&str]) -> Plan {
    let agents: Value = names.iter().map(|name| ((*name).to_owned(), json!({ "description": "Works." }))).collect();
    let keys = json!({ "name": agent, "prompt": "./p.md", "mcp": "./mcp.json" });
    let mut files = with_subagents("cursor", &keys, &agents);
    files.insert("p.md", format!("I am {agent}.\n"), false);
    let mcp = json!({ "servers": { "shelf": { "command": agent }, agent: { "command": "own" } } });
    files.insert("mcp.json", mcp.to_string(), false);
    planned(&files, Adapter::Cursor)
}

#[test]
fn another_bundle_takes_the_place_of_the_one_before() {
    let mut folder = Folder::new(&[(SETTINGS, THEIRS), ("README.md", "Mine.\n")]);
    folder.take(&named("first", &["one", "both"]), REFUSE).unwrap();
    let mut alone = Folder::new(&[(SETTINGS, THEIRS), ("README.md", "Mine.\n")]);
    alone.take(&named("second", &["both", "two"]), REFUSE).unwrap();
    assert_eq!(folder.take(&named("second", &["both", "two"]), REFUSE).unwrap(), [""; 0]);
    assert_eq!(folder.paths(), alone.paths());
    assert_eq!(folder.text("AGENTS.md"), "I am second.\n");
    assert_eq!(folder.text(RECORD), alone.text(RECORD));
    let settings = lax_json(folder.text(SETTINGS));
    let servers =
        json!({ "mine": { "command": "m" }, "shelf": { "command": "second" }, "second": { "command": "own" } });
    assert_eq!(settings["mcpServers"], servers, "{settings}");
    // What somebody changed is not ours any more, whoever wrote it.
    folder.0.insert("AGENTS.md".to_owned(), b"Changed.\n".to_vec());
    let refused = folder.take(&named("third", &["two"]), REFUSE).unwrap_err();
    assert!(refused.starts_with("2: [B073] `AGENTS.md` was changed since it was written"), "{refused}");
    assert_eq!(folder.clean(None, OnClash::Overwrite), [""; 0]);
    assert_eq!(folder.paths(), [SETTINGS, "README.md"]);
    assert_eq!(lax_json(folder.text(SETTINGS)), lax_json(THEIRS));
}

#[test]
fn a_record_in_which_bundles_stand_side_by_side_is_cleared_as_well() {
    let digest = |text: &str| entourage_model::Digest::of(text.as_bytes()).to_string();
    let entry = |agent: &str, files: Value| json!({ "agent": agent, "adapter": "cursor", "files": files });
    let record = json!({ "version": 1, "entries": [
        entry("a", json!({ "AGENTS.md": digest("Old.\n"), "a.md": digest("A.\n") })),
        entry("b", json!({ "AGENTS.md": digest("New.\n"), "b.md": digest("B.\n") })),
    ] });
    let mut folder =
        Folder::new(&[("AGENTS.md", "New.\n"), ("a.md", "A.\n"), ("b.md", "B.\n"), (RECORD, &record.to_string())]);
    assert_eq!(folder.take(&prompt("Third.\n", Adapter::Cursor), REFUSE).unwrap(), [""; 0]);
    assert_eq!((folder.paths(), folder.text("AGENTS.md")), (vec!["AGENTS.md"], "Third.\n"));
}

#[test]
fn removing_leaves_what_was_changed() {
    let mut folder = Folder::new(&[("README.md", "Mine.\n")]);
    folder.take(&team(&["one", "two"]), REFUSE).unwrap();
    folder.0.insert(".codex/agents/two.toml".to_owned(), b"a = 1\n".to_vec());
    let mut insisted = folder.clone();
    assert_eq!(folder.clean(None, REFUSE).len(), 1);
    assert_eq!(folder, Folder::new(&[("README.md", "Mine.\n"), (".codex/agents/two.toml", "a = 1\n")]));
    assert_eq!(insisted.clean(None, OnClash::Overwrite), [""; 0]);
    assert_eq!(insisted, Folder::new(&[("README.md", "Mine.\n")]));
    assert_eq!(Folder::default().clean(None, REFUSE), [""; 0]);
}

const SETTINGS: &str = ".cursor/mcp.json";
const THEIRS: &str =
    "{\n  // The one that I like.\n  \"mcpServers\": { \"mine\": { \"command\": \"m\" } },\n  \"z\": 1,\n}\n";

#[test]
fn settings_are_merged_and_taken_out_again() {
    let mut folder = Folder::new(&[(SETTINGS, THEIRS)]);
    folder.take(&server("one"), REFUSE).unwrap();
    let merged = folder.text(SETTINGS);
    assert!(merged.contains("// The one that I like.") && merged.contains("\"mine\""), "{merged}");
    assert!(merged.contains("\"shelf\""), "{merged}");
    folder.take(&server("two"), REFUSE).unwrap();
    assert!(folder.text(SETTINGS).contains("\"two\"") && !folder.text(SETTINGS).contains("\"one\""));
    folder.clean(None, REFUSE);
    let left = lax_json(folder.text(SETTINGS));
    assert_eq!(left, json!({ "mcpServers": { "mine": { "command": "m" } }, "z": 1 }));
    assert!(folder.text(SETTINGS).contains("// The one that I like."));
    assert_eq!(folder.paths(), [SETTINGS]);
}

#[test]
fn a_file_of_settings_that_only_we_wrote_goes_with_the_last_value() {
    let mut folder = Folder::default();
    folder.take(&server("one"), REFUSE).unwrap();
    folder.take(&server("two"), REFUSE).unwrap();
    folder.clean(None, REFUSE);
    assert_eq!(folder, Folder::default());
    // What somebody added keeps it.
    folder.take(&server("one"), REFUSE).unwrap();
    let more = folder.text(SETTINGS).replacen('{', "{ \"mine\": 1,", 1);
    folder.0.insert(SETTINGS.to_owned(), more.into_bytes());
    folder.clean(None, REFUSE);
    let left: Value = serde_json::from_str(folder.text(SETTINGS)).unwrap();
    assert_eq!(left, json!({ "mine": 1 }));
}

#[test]
fn what_several_wrote_goes_with_all_of_them() {
    let mut folder = Folder::default();
    for adapter in [Adapter::Codex, Adapter::Cursor, Adapter::Opencode] {
        folder.take(&prompt("Shared.\n", adapter), REFUSE).unwrap();
    }
    for agent in ["one", "other", "third"] {
        let mcp = json!({ "servers": { agent: { "command": agent } } }).to_string();
        let keys = json!({ "name": agent, "mcp": "./mcp.json" });
        let files = bundle("cursor", &keys, &[("mcp.json", &mcp)]);
        folder.take(&planned(&files, Adapter::Cursor), REFUSE).unwrap();
    }
    let removed = removal(folder.record(), None, &folder, REFUSE).removals;
    assert_eq!(removed.iter().filter(|path| *path == "AGENTS.md").count(), 1, "{removed:?}");
    assert_eq!(folder.clean(None, REFUSE), [""; 0]);
    assert_eq!(folder, Folder::default());
}

#[test]
fn a_value_that_somebody_else_set_is_left_alone() {
    let theirs = r#"{ "mcpServers": { "shelf": { "command": "theirs" } } }"#;
    let cases = [
        (theirs, "[B074] `.cursor/mcp.json` has other values already: `mcpServers.shelf`"),
        (r#"{ "mcpServers": [] }"#, "[B074] `.cursor/mcp.json` has other values already: `mcpServers.shelf`"),
        ("[]", "[B074] `.cursor/mcp.json` is no object in JSON"),
        ("{ broken", "[B074] `.cursor/mcp.json` is no object in JSON"),
    ];
    for (text, expected) in cases {
        let before = Folder::new(&[(SETTINGS, text)]);
        let mut folder = before.clone();
        let refused = folder.take(&server("ours"), REFUSE).unwrap_err();
        assert!(refused.starts_with(&format!("2: {expected}")), "{refused}");
        assert_eq!(folder, before);
        folder.take(&server("ours"), OnClash::Overwrite).unwrap();
        let found: Value = serde_json::from_str(folder.text(SETTINGS)).unwrap();
        assert_eq!(found["mcpServers"]["shelf"]["command"], "ours", "{text}");
    }
    // The same value is no clash, and stays theirs.
    let mut folder = Folder::new(&[(SETTINGS, theirs)]);
    folder.take(&server("theirs"), REFUSE).unwrap();
    folder.clean(None, REFUSE);
    assert_eq!(folder, Folder::new(&[(SETTINGS, theirs)]));
}

#[test]
fn a_value_of_ours_that_somebody_changed_is_in_the_way() {
    let mut folder = Folder::default();
    folder.take(&server("one"), REFUSE).unwrap();
    let changed = folder.text(SETTINGS).replace("one", "mine");
    folder.0.insert(SETTINGS.to_owned(), changed.into_bytes());
    assert!(folder.take(&server("two"), REFUSE).unwrap_err().contains("`mcpServers.shelf`"));
    folder.clean(None, REFUSE);
    assert!(folder.text(SETTINGS).contains("mine"));
}

#[test]
fn a_schema_is_named_in_a_new_file_only() {
    let files = bundle("opencode", &json!({ "adapter": { "model": "openai/gpt-5" } }), &[]);
    let plan = planned(&files, Adapter::Opencode);
    let mut folder = Folder::default();
    folder.take(&plan, REFUSE).unwrap();
    let before = folder.clone();
    assert!(folder.text("opencode.jsonc").contains("$schema"));
    folder.take(&plan, REFUSE).unwrap();
    assert_eq!(folder, before);
    folder.clean(None, REFUSE);
    assert_eq!(folder, Folder::default());
    let mut folder = Folder::new(&[("opencode.jsonc", "{ \"$schema\": \"mine\" }")]);
    folder.take(&plan, REFUSE).unwrap();
    assert!(folder.text("opencode.jsonc").contains("mine"));
}

#[test]
fn a_record_that_cannot_be_read_is_refused() {
    for text in ["", "[]", "{", r#"{ "version": 2, "entries": [] }"#, r#"{ "version": 1 }"#] {
        let fault = told(Record::parse(text.as_bytes()).unwrap_err());
        assert!(fault.starts_with(&format!("2: [B075] `{RECORD}` cannot be used")), "{fault}");
    }
}
