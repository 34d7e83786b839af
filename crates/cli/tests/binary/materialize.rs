//! `materialize`: a built bundle in the files of a harness, in a folder that others write to as well.

use crate::project::Project;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const AGENT: &str = r#"{
  "name": "pack-agent", "version": "1.0.0", "description": "Packs.", "prompt": "./PROMPT.md",
  "skills": "./skills", "subagents": "./subagents.json",
  "adapter": { "type": "claude-code", "runtime": "claude-code", "adapterVersion": "1.0.0", "model": "opus",
               "config": {}, "features": {} }
}"#;

fn subagents(more: &Value) -> String {
    let mut reviewer = json!({ "description": "Checks: \"diffs\"\n---\n", "instructions": "Review.\n" });
    more.as_object().unwrap().iter().for_each(|(key, value)| reviewer[key] = value.clone());
    json!({ "agents": { "reviewer": reviewer } }).to_string()
}

/// A project with a bundle.
fn built(more: &Value) -> Project {
    let project = Project::new()
        .file("agent.json", AGENT)
        .file("subagents.json", &subagents(more))
        .file("PROMPT.md", "You pack.\n")
        .file("skills/fix/SKILL.md", "---\nname: fix\ndescription: Fixes.\n---\nRun run.sh.\n")
        .file("skills/fix/run.sh", "#!/bin/sh\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path().join("skills/fix/run.sh"), mode).unwrap();
    }
    project.json(&["build"]);
    project
}

/// The paths of the files below a folder, sorted.
fn below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path().strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

const FILES: [&str; 5] = [
    ".claude/agents/reviewer.md",
    ".claude/settings.json",
    ".claude/skills/fix/SKILL.md",
    ".claude/skills/fix/run.sh",
    "CLAUDE.md",
];
const RECORD: &str = ".entourage/materialized.json";

#[test]
fn a_bundle_is_written_updated_and_removed() {
    let project = built(&json!({}));
    let out = project.path().join("out");
    let done = project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
    let mut files: Vec<_> = done["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!((&done["adapter"], &done["exact"], &done["losses"]), (&json!("claude-code"), &json!(true), &json!([])));
    assert_eq!(files, FILES);
    assert_eq!(below(&out), [&FILES[..1], &FILES[1..4], &[RECORD], &FILES[4..]].concat());
    assert_eq!(project.read("out/CLAUDE.md"), "You pack.\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &str| out.join(path).metadata().unwrap().permissions().mode() & 0o111;
        assert_eq!((mode(FILES[3]) & 0o100, mode(FILES[2])), (0o100, 0));
    }

    let project = project.file("PROMPT.md", "You unpack.\n");
    project.json(&["build"]);
    project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
    assert_eq!(project.read("out/CLAUDE.md"), "You unpack.\n");
    let gone = project.json(&["materialize", "--out", "out", "--remove"]);
    assert_eq!(gone["removed"].as_array().unwrap().len(), FILES.len());
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn what_a_harness_keeps_for_a_bundle_comes_back_into_one() {
    let more = json!({
        "invocation": "manual", "tags": ["a"], "metadata": { "team": "b" }, "x-own": { "k": 1 },
        "handoff": { "allowedFrom": ["primary"], "returnMode": "report" },
    });
    let project = built(&more);
    for (adapter, file) in [
        ("claude-code", ".claude/agents/reviewer.md"),
        ("cursor", ".cursor/agents/reviewer.md"),
        ("github-copilot", ".github/agents/reviewer.agent.md"),
    ] {
        let there = Project::new();
        let out = there.path().join("out").display().to_string();
        project.json(&["materialize", "--adapter", adapter, "--out", &out]);
        there.json(&["import", &format!("out/{file}")]);
        assert_eq!(there.json(&["check"])["reports"], json!([]), "{adapter}");
        there.json(&["build"]);
        there.json(&["extract", "bundle"]);
        let mut document: Value = serde_json::from_str(&there.read("bundle/subagents.json")).unwrap();
        let mut agent = document["agents"]["reviewer"].take();
        let vendor = agent.as_object_mut().unwrap().shift_remove(&format!("x-{adapter}")).unwrap();
        assert_eq!(vendor.get("x-stax"), None, "{adapter}");
        let expected: Value = serde_json::from_str(&subagents(&more)).unwrap();
        assert_eq!(agent, expected["agents"]["reviewer"], "{adapter}");
    }
    // Read where it lies it is no surprise either.
    project.json(&["materialize", "--adapter", "claude-code", "--out", "."]);
    let reports = project.json(&["check"])["reports"].clone();
    let about: Vec<_> =
        reports.as_array().unwrap().iter().map(|report| [&report["code"], &report["where"]["file"]]).collect();
    assert!(!about.contains(&[&json!("D007"), &json!(".claude/agents/reviewer.md")]), "{reports}");
}

#[test]
fn a_plan_writes_nothing() {
    let project = built(&json!({}));
    let said = project.say(&["materialize", "--out", "out", "--plan"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("CLAUDE.md (to be written)\n"), "{said:?}");
    assert!(!project.path().join("out").exists());
}

#[test]
fn what_would_be_lost_is_refused_where_nothing_may_be() {
    let project = built(&json!({ "handoff": { "returnMode": "report" }, "tags": ["a"] }));
    let call = ["materialize", "--adapter", "codex", "--out", "out", "--exact"];
    for plan in [&["--plan"][..], &[]] {
        let said = project.say(&[&call, plan].concat());
        let words = ["error[B071]: `handoff` of `reviewer` is lost in `codex`", "`tags` of `reviewer`"];
        said.refused(5, &words);
        let said = project.say(&[&["--json"], &call[..], plan].concat());
        said.refused(5, &words);
        let losses = said.document()["losses"].clone();
        assert_eq!(losses[0]["subagent"], "reviewer");
        assert_eq!((&losses[0]["field"], &losses[1]["field"]), (&json!("handoff"), &json!("tags")));
        assert_eq!(said.document()["exact"], false);
    }
    assert!(!project.path().join("out").exists());
    let said = project.say(&call[..5]);
    said.refused(0, &["`handoff` of `reviewer` is lost: Codex has no word for it"]);
}

#[test]
fn what_may_mean_something_else_is_warned_of_wherever_a_bundle_is_used() {
    let project = built(&json!({})).file("agent.json", &AGENT.replacen('{', "{ \"specVersion\": \"2.0.0\",", 1));
    project.json(&["build"]);
    let codes = |arguments: &[&str]| {
        let document = project.json(arguments);
        let warnings = document["warnings"].as_array().unwrap().iter();
        let mut codes: Vec<_> = warnings.map(|report| report["code"].as_str().unwrap().to_owned()).collect();
        // The definition and the subagents both say it.
        codes.dedup();
        codes
    };
    assert_eq!(codes(&["verify"]), ["D072"]);
    project.say(&["verify"]).refused(0, &["warning[D072]: `specVersion` is the string `2.0.0`"]);
    assert_eq!(codes(&["materialize", "--out", "out", "--exact"]), ["D072", "B072"]);
    assert_eq!(codes(&["materialize", "--out", "out"]), ["D072"]);
}

#[test]
fn files_of_others_are_kept() {
    for (path, is_merged) in [(".claude/agents/reviewer.md", false), ("CLAUDE.md", false), (FILES[1], true)] {
        let project = built(&json!({})).file(&format!("out/{path}"), "{ \"mine\": true }");
        let call = ["materialize", "--adapter", "claude-code", "--out", "out"];
        let said = project.say(&call);
        if is_merged {
            assert_eq!(said.code, Some(0), "{said:?}");
            let merged: Value = serde_json::from_str(&project.read(&format!("out/{path}"))).unwrap();
            assert_eq!(merged, json!({ "mine": true, "model": "opus" }));
            continue;
        }
        said.refused(2, &[&format!("error[B073]: `{path}` is there already")]);
        assert_eq!(below(&project.path().join("out")), [path]);
        assert_eq!(project.say(&[&call[..], &["--force"]].concat()).code, Some(0));
        assert!(!project.read(&format!("out/{path}")).contains("mine"));
    }
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    use std::os::unix::fs::symlink;
    // Out of the folder, within it, and to nowhere.
    for (link, to) in [
        (".claude", "../outside"),
        (".claude", "elsewhere"),
        (".claude/agents", "../../outside"),
        ("CLAUDE.md", "../outside/keep.md"),
        (".claude/settings.json", "../../outside/keep.md"),
        (".entourage", "../outside"),
        ("CLAUDE.md", "nowhere"),
    ] {
        let project =
            built(&json!({})).file("outside/keep.md", "{}").file("out/elsewhere/x", "").file("out/.keep/x", "");
        let at = project.path().join("out").join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(to, &at).unwrap();
        for force in [&[][..], &["--force"]] {
            let said = project.say(&[&["materialize", "--adapter", "claude-code", "--out", "out"], force].concat());
            said.refused(2, &["a link, which is not followed"]);
        }
        assert_eq!(below(&project.path().join("outside")), ["keep.md"], "{link}");
        assert_eq!(project.read("outside/keep.md"), "{}");
        assert_eq!(below(&project.path().join("out/elsewhere")), ["x"], "{link}");
        assert!(at.symlink_metadata().unwrap().is_symlink());
    }
}

#[cfg(unix)]
#[test]
fn who_may_read_a_file_stays_its_owners_decision() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = built(&json!({})).file("out/.claude/settings.json", "{ \"env\": { \"KEY\": \"secret\" } }");
    let path = project.path().join("out/.claude/settings.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
    assert!(project.read("out/.claude/settings.json").contains("opus"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_updated_is_a_program_where_the_bundle_has_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut project = built(&json!({}));
    let there = project.path().join("out/.claude/skills/fix/run.sh");
    project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
    // The text, who may do what in the bundle, who might before, and who may then.
    for (text, packed, before, expected) in [
        ("1", 0o644, 0o755, 0o644),
        ("1", 0o755, 0o640, 0o750),
        ("2", 0o755, 0o600, 0o700),
        ("2", 0o755, 0o744, 0o744),
        ("3", 0o644, 0o755, 0o644),
        ("3", 0o644, 0o770, 0o660),
    ] {
        project = project.file("skills/fix/run.sh", text);
        let given = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        given(&project.path().join("skills/fix/run.sh"), packed);
        given(&there, before);
        project.json(&["build"]);
        project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
        let mode = there.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (project.read("out/.claude/skills/fix/run.sh").as_str(), mode),
            (text, expected),
            "{packed:o} {before:o}"
        );
    }
}

#[test]
fn what_cannot_be_written_in_whole_is_not_written_in_part() {
    let project = built(&json!({}))
        .file("agent.json", &AGENT.replace("\"skills\":", "\"rules\": \"./rules\", \"skills\":"))
        .file("rules/long.md", &format!("---\nid: {}\n---\nText.\n", "long".repeat(70)))
        .file("out/.cursor/mine.md", "Mine.\n");
    project.json(&["build"]);
    // No file system has a name for this rule.
    let said = project.say(&["materialize", "--adapter", "cursor", "--out", "out"]);
    said.refused(2, &["error[C030]: `.cursor/rules/longlong", "cannot be written"]);
    assert_eq!(below(&project.path().join("out")), [".cursor/mine.md"]);
    assert!(!project.path().join("out/.cursor/rules").exists());
}

#[test]
fn an_unknown_adapter_is_answered_with_those_that_there_are() {
    let project = built(&json!({}));
    let said = project.say(&["materialize", "--adapter", "claude", "--out", "out"]);
    let names = "claude-code, codex, cursor, github-copilot, opencode, gemini, windsurf, openclaw, generic";
    said.refused(1, &[names]);
    let help = project.say(&["materialize", "--help"]).stdout;
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(names), "{help}");
    Project::new().say(&["materialize", "--adapter", "codex", "--out", "out"]).refused(1, &["entourage build"]);
}

#[test]
fn a_thousand_subagents_take_no_time() {
    let agent =
        |at: usize| (format!("agent-{at}"), json!({ "description": format!("Does {at}."), "instructions": "Do.\n" }));
    let agents: serde_json::Map<_, _> = (0..1_000).map(agent).collect();
    let project = built(&json!({})).file("subagents.json", &json!({ "agents": agents }).to_string());
    project.json(&["build"]);
    let begun = Instant::now();
    project.json(&["materialize", "--adapter", "claude-code", "--out", "out"]);
    // Unoptimised, and beside other tests.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(below(&project.path().join("out/.claude/agents")).len(), 1_000);
}
