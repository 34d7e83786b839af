//! `build`, `inspect`, `verify`, `extract` and `diff`: a project in, an artifact in the local store, and out of it again.

use crate::project::Project;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const AGENT: &str = r#"import { defineAgent } from "stax";
import codex from "@stax/codex";
export default defineAgent({
  name: "pack-agent", version: "1.0.0", description: "Packs.", adapter: codex({}),
  prompt: "./PROMPT.md", subagents: "./subagents.ts", skills: "./skills",
});
"#;
const SUBAGENTS: &str = r#"import { defineSubagents } from "stax";
export default defineSubagents({ agents: {
  reviewer: { description: "Checks.", instructions: "./subagents/reviewer.md" },
} });
"#;

fn project() -> Project {
    Project::new()
        .file("agent.ts", AGENT)
        .file("subagents.ts", SUBAGENTS)
        .file("subagents/reviewer.md", "Review.\r\n")
        .file("PROMPT.md", "You pack.\n")
        .file("skills/fix/SKILL.md", "---\nname: fix\ndescription: Fixes.\n---\nFix it.\n")
}

/// Where the local store keeps a blob.
fn blob(project: &Project, digest: &Value) -> std::path::PathBuf {
    let hex = digest.as_str().unwrap().trim_start_matches("sha256:").to_owned();
    project.path().join(".entourage/oci/blobs/sha256").join(hex)
}

#[test]
fn a_build_is_one_document_about_an_artifact_in_the_local_store() {
    let project = project();
    let built = project.json(&["build"]);
    assert_eq!((&built["name"], &built["version"]), (&json!("pack-agent"), &json!("1.0.0")));
    assert_eq!(built["artifact_type"], "application/vnd.stax.agent.v1");
    assert_eq!((&built["subagents"], &built["warnings"]), (&json!(["reviewer"]), &json!([])));
    let manifest: Value = serde_json::from_str(
        &project.read(blob(&project, &built["digest"]).strip_prefix(project.path()).unwrap().to_str().unwrap()),
    )
    .unwrap();
    let described = |layer: &Value| {
        json!({ "media_type": layer["mediaType"], "digest": layer["digest"], "size": layer["size"],
                "annotations": layer.get("annotations").cloned().unwrap_or(json!({})) })
    };
    assert_eq!(built["config"], described(&manifest["config"]));
    assert_eq!(built["layers"], manifest["layers"].as_array().unwrap().iter().map(described).collect::<Value>());
    assert_eq!(built["layout"], json!(project.path().join(".entourage/oci")));
    assert_eq!(project.read(".entourage/oci/oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#);
}

#[test]
fn the_same_files_are_one_digest_wherever_and_whenever() {
    let here = project().json(&["build"])["digest"].clone();
    let there = project().variable("LANG", "tr_TR.UTF-8").variable("TZ", "Pacific/Chatham");
    let elsewhere = there.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["agent.ts", "subagents.ts", "subagents", "PROMPT.md", "skills"] {
        std::fs::rename(there.path().join(name), elsewhere.join(name)).unwrap();
    }
    age(&elsewhere.join("skills/fix/SKILL.md"));
    let built = there.json(&["build", "elsewhere", "--out", "dist"]);
    assert_eq!(built["digest"], here);
    assert!(there.path().join("dist/index.json").exists());
    assert_eq!(there.json(&["build", "elsewhere/agent.ts"])["digest"], here);
    // Asked for by its digest, or as the latest.
    assert_eq!(there.json(&["inspect", here.as_str().unwrap()])["digest"], here);
    assert_eq!(there.json(&["inspect"])["digest"], here);
}

fn age(path: &std::path::Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)).unwrap();
}

#[test]
fn every_fault_is_told_at_once_and_no_store_is_made() {
    let project = project()
        .file("agent.ts", &AGENT.replace("./PROMPT.md", "../PROMPT.md").replace("1.0.0", "one"))
        .file("subagents.ts", &SUBAGENTS.replace("reviewer.md", "missing.md").replace("\"Checks.\"", "\"\""));
    let said = project.say(&["build"]);
    said.refused(1, &["error[D051]", "error[D052]", "error[D062]", "at agent.ts:", "at subagents.ts:"]);
    assert!(!project.path().join(".entourage/oci").exists());
}

#[cfg(unix)]
/// An agent with one subagent.
fn with_subagent(name: &str) -> Project {
    let agent = json!({
        "name": "rev", "version": "1.0.0", "prompt": "./PROMPT.md", "subagents": "./subagents.json",
        "adapter": { "type": "codex", "runtime": "codex", "adapterVersion": "1.0.0", "config": {}, "features": {} },
    });
    let agents = json!({ "agents": { name: { "description": "Checks.", "instructions": "Check." } } });
    let project = Project::new().file("agent.json", &format!("{agent:#}")).file("PROMPT.md", "You pack.\n");
    project.file("subagents.json", &agents.to_string())
}

#[test]
fn a_subagent_that_nobody_could_call_is_told_as_check_tells_it() {
    let own = with_subagent("rev");
    let warnings = own.json(&["build"])["warnings"].clone();
    // stax allows it, but the two cannot be told apart here.
    assert_eq!((&warnings[0]["code"], &warnings[0]["severity"]), (&json!("D010"), &json!("warning")), "{warnings}");
    assert_eq!(own.say(&["check"]).code, Some(1));
    // A tool of ours has the name.
    let tool = with_subagent("shell");
    let warnings = tool.json(&["build"])["warnings"].clone();
    assert_eq!(warnings, tool.json(&["check"])["reports"]);
    let line = tool.read("agent.json").lines().position(|line| line.contains("subagents")).unwrap() + 1;
    assert_eq!((&warnings[0]["code"], &warnings[0]["where"]["line"]), (&json!("D097"), &json!(line)), "{warnings}");
    assert_eq!(with_subagent("other").json(&["build"])["warnings"], json!([]));
}

#[test]
fn what_would_unpack_to_too_much_is_not_built() {
    let skill = format!("---\nname: fix\ndescription: Fixes.\n---\n{}\n", "x".repeat(20_000));
    let limit = |bytes: u32| format!("[limits]\nartifact_bytes = {bytes}\n");
    let project = project().file("skills/fix/SKILL.md", &skill).file("entourage.toml", &limit(5_000));
    project.say(&["build"]).refused(1, &["error[B012]", "unpacked bytes, and may have 5000"]);
    let project = project.file("entourage.toml", &limit(22_000));
    project.json(&["build"]);
    project.json(&["verify"]);
}

#[test]
fn links_are_not_packed_unless_they_are_ignored() {
    let project = project().file("PROMPT.txt", "You pack.\n");
    std::fs::remove_file(project.path().join("PROMPT.md")).unwrap();
    std::os::unix::fs::symlink("PROMPT.txt", project.path().join("PROMPT.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.path().join("skills/fix/stolen")).unwrap();
    project.say(&["build"]).refused(1, &["error[D054]", "`skills/fix/stolen`", "`./PROMPT.md`"]);
    std::fs::remove_file(project.path().join("PROMPT.md")).unwrap();
    let project = project.file("PROMPT.md", "You pack.\n").file(".staxignore", "stolen\n");
    project.json(&["build"]);
}

#[test]
fn a_definition_that_is_a_folder_or_a_link_to_elsewhere_is_the_authors_fault() {
    let folder = Project::new().file("agent.ts/index.ts", "export default {};");
    folder.say(&["build"]).refused(1, &["error[D001]", "agent.ts"]);
    let link = Project::new();
    std::os::unix::fs::symlink("/etc/hostname", link.path().join("agent.ts")).unwrap();
    link.say(&["build"]).refused(1, &["error[D001]", "agent.ts"]);
}

#[test]
fn plain_agents_are_packed_beneath_lead() {
    let project = Project::new()
        .file(
            ".claude/agents/auditor.md",
            "---\nname: auditor\ndescription: Audits.\ntools: Read\ncolor: red\n---\nYou audit.\n",
        )
        .file(".dex/agents/helper.md", "---\nid: helper\nname: Helper\ndescription: Helps.\n---\nYou help.\n")
        .file("home/.dex/agents/mine.md", "---\nid: mine\nname: Mine\ndescription: Mine.\n---\nMine.\n");
    let built = project.json(&["build"]);
    assert_eq!((&built["version"], &built["subagents"]), (&json!("0.0.0"), &json!(["auditor", "helper"])));
    assert!(built["name"].as_str().unwrap().starts_with("entourage-"), "{built}");
    project.say(&["extract", "out"]);
    let subagents: Value = serde_json::from_str(&project.read("out/subagents.json")).unwrap();
    let auditor = &subagents["agents"]["auditor"];
    assert_eq!((&auditor["instructions"], &auditor["x-claude-code"]["color"]), (&json!("You audit.\n"), &json!("red")));
    assert_eq!(project.json(&["inspect"])["adapter"], "generic");
}

#[test]
fn a_project_that_declares_nobody_is_packed_as_lead_alone() {
    let project = Project::new().file("AGENTS.md", "You lead here.\n");
    let built = project.json(&["build"]);
    assert_eq!((&built["subagents"], &built["warnings"]), (&json!([]), &json!([])));
    project.say(&["extract", "out"]);
    assert_eq!(project.read("out/prompt.md"), "You lead here.\n");
    let project = Project::new();
    assert_eq!(project.json(&["build"])["subagents"], json!([]));
    project.say(&["extract", "out"]);
    assert!(project.read("out/prompt.md").starts_with("You lead the work"));
}

#[test]
fn an_agent_that_runs_elsewhere_is_left_out_and_named() {
    let project = Project::new()
        .file("entourage.toml", "[subagents.far]\ndescription = \"Far.\"\nurl = \"http://127.0.0.1:1\"\n")
        .file("subagents/near.md", "---\ndescription: Near.\n---\nYou are near.\n");
    let built = project.json(&["build"]);
    assert_eq!(built["subagents"], json!(["near"]));
    let [warning] = built["warnings"].as_array().unwrap().as_slice() else { panic!("{built}") };
    assert_eq!((&warning["severity"], &warning["code"]), (&json!("warning"), &json!("B089")));
    assert_eq!(warning["what"], "agent `far` runs on another server, and is not packed");
    assert_eq!(warning["where"], json!({ "file": "entourage.toml", "line": 3, "column": 1 }));
    for format in ["codex", "goose", "stax"] {
        let exported = project.json(&["export", "--to", format, "--out", format]);
        let names: Vec<_> = exported["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
        assert_eq!(names, ["near"], "{format}");
        assert_eq!(exported["losses"], json!([{ "agent": "far", "field": "url" }]), "{format}");
        let said = project.say(&["export", "--to", format, "--out", "named", "near", "far"]);
        said.refused(1, &["error[B089]", "agent `far` runs on another server", "at entourage.toml:3:"]);
        assert!(!project.path().join("named").exists());
    }
}

#[test]
fn what_json_does_not_have_is_refused_where_it_stands() {
    for (value, what) in [
        ("[1, undefined]", "`agents.reviewer.x[1]` is `undefined`"),
        ("[1, , 2]", "`agents.reviewer.x[1]` is `undefined`"),
        ("() => 1", "`agents.reviewer.x` is a function"),
        ("{ y: [class {}] }", "`agents.reviewer.x.y[0]` is a function"),
        ("new Date(NaN)", "`agents.reviewer.x` is a date that is none"),
        ("NaN", "`agents.reviewer.x` is `NaN`"),
    ] {
        let subagents = SUBAGENTS.replace("description:", &format!("x: {value}, description:"));
        let said = project().file("subagents.ts", &subagents).say(&["build"]);
        said.refused(1, &["error[D026]", what, "at subagents.ts:3:"]);
    }
    let subagents = SUBAGENTS.replace("description:", "x: { y: undefined, z: null }, description:");
    let project = project().file("subagents.ts", &subagents);
    project.json(&["build"]);
    project.say(&["extract", "out"]);
    let packed: Value = serde_json::from_str(&project.read("out/subagents.json")).unwrap();
    assert_eq!(packed["agents"]["reviewer"]["x"], json!({ "z": null }));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_nobody_can_name_is_not_left_out_in_silence() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = project();
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe.txt");
    std::fs::File::create_new(project.path().join("skills/fix").join(name)).unwrap();
    let said = project.say(&["build"]);
    said.refused(1, &["error[B091]", "`skills/fix/\u{fffd}\u{fffd}.txt` cannot be packed", "at agent.ts:5:"]);
    project.file(".staxignore", "*.txt\n").json(&["build"]);
}

#[test]
fn the_project_s_own_folder_is_no_part_of_it() {
    for path in ["./", ".", "skills/.."] {
        let said = project().file("agent.ts", &AGENT.replace("./skills", path)).say(&["build"]);
        said.refused(1, &["error[D051]", "which is the project's folder itself", "at agent.ts:5:"]);
    }
}

#[test]
fn an_artifact_is_shown_extracted_and_built_again() {
    let project = project();
    let built = project.json(&["build"]);
    let shown = project.json(&["inspect"]);
    for key in ["digest", "name", "version", "artifact_type", "layers"] {
        assert_eq!(shown[key], built[key], "{key}");
    }
    assert_eq!((&shown["adapter"], &shown["config"]["name"]), (&json!("codex"), &json!("pack-agent")));
    assert_eq!(shown["subagents"], json!([{ "name": "reviewer", "description": "Checks." }]));
    assert_eq!(shown["annotations"]["org.opencontainers.image.created"], "1970-01-01T00:00:00Z");
    assert_eq!(project.json(&["verify"])["digest"], built["digest"]);
    let extracted = project.json(&["extract", "out"]);
    assert_eq!(extracted["files"], json!(["agent.json", "skills", "prompt.md", "subagents.json"]));
    assert_eq!(project.read("out/prompt.md"), "You pack.\n");
    assert_eq!(project.read("out/skills/fix/SKILL.md"), "---\nname: fix\ndescription: Fixes.\n---\nFix it.\n");
    assert_eq!(project.json(&["build", "out"])["digest"], built["digest"]);
    project.say(&["extract", "out"]).refused(2, &["error[B025]", "`prompt.md` is there already"]);
}

#[test]
fn two_builds_are_compared() {
    let project = project();
    let one = project.json(&["build"])["digest"].as_str().unwrap().to_owned();
    let project = project.file("subagents/reviewer.md", "Review more.\n");
    let other = project.json(&["build"])["digest"].as_str().unwrap().to_owned();
    let same = project.json(&["diff", &one, &one]);
    assert_eq!((&same["equal"], &same["layers"], &same["subagents"]), (&json!(true), &json!([]), &json!([])));
    let difference = project.json(&["diff", &one, &other]);
    assert_eq!(difference["equal"], json!(false));
    let layers = json!([{ "media_type": "application/vnd.stax.subagents.v1+json", "change": "changed" }]);
    assert_eq!(difference["layers"], layers);
    assert_eq!(difference["subagents"], json!([{ "name": "reviewer", "change": "changed" }]));
    let said = project.say(&["diff", &one, &other]);
    assert_eq!(said.stdout, "~ application/vnd.stax.subagents.v1+json\n~ subagent reviewer\n");
}

#[test]
fn every_reader_notices_a_changed_blob() {
    let project = project();
    let other = project.json(&["build", "--reference-bytes"])["digest"].as_str().unwrap().to_owned();
    let built = project.json(&["build"]);
    let digest = built["digest"].as_str().unwrap();
    let layers = built["layers"].as_array().unwrap().iter().map(|layer| &layer["digest"]);
    for changed in layers.chain([&built["config"]["digest"], &built["digest"]]) {
        let path = blob(&project, changed);
        let kept = path.with_extension("kept");
        std::fs::copy(&path, &kept).unwrap();
        flip(&path);
        let out = project.path().join("out");
        for command in [
            vec!["verify"],
            vec!["inspect"],
            vec!["extract", "out"],
            vec!["diff", digest, other.as_str()],
            vec!["materialize", "--adapter", "claude-code", "--out", "out"],
            vec!["push", "localhost:1/a/b:1"],
        ] {
            let said = project.say(&command);
            assert_eq!(said.code, Some(6), "{command:?} with {changed}: {said:?}");
            assert!(!out.exists(), "{command:?}");
        }
        std::fs::rename(&kept, &path).unwrap();
    }
    project.json(&["verify"]);
}

#[expect(clippy::disallowed_methods, reason = "a test tampers with what was stored")]
fn flip(path: &std::path::Path) {
    let mut bytes = std::fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn what_is_no_reference_is_refused_before_anything_is_looked_for() {
    let project = Project::new();
    for command in
        [vec!["inspect", "nonsense"], vec!["verify", "a/b"], vec!["extract", "UPPER/a", "out"], vec!["diff", "x", "y"]]
    {
        project.say(&command).refused(1, &["error[B001]"]);
    }
    for command in [vec!["inspect"], vec!["verify"], vec!["extract", "out"]] {
        project.say(&command).refused(1, &["error[B003]"]);
    }
    assert!(!project.path().join(".entourage").exists() && !project.path().join("out").exists());
}
