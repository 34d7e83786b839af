//! `init`, `import` and `export`: files in, files and losses out.

use crate::project::Project;
use serde_json::json;

const CLAUDE: &str =
    "---\nname: auditor\ndescription: Audits.\ntools: Read, Grep\nmaxTurns: 7\ncolor: red\n---\nYou audit.\n";

#[test]
fn every_starter_checks_clean_and_is_written_once() {
    for (format, agent) in [
        ("agentscope", "reviewer"),
        ("standard-agents", "editor"),
        ("dex", "reviewer"),
        ("claude-code", "reviewer"),
        ("stax", "my-agent"),
    ] {
        let project = Project::new();
        let written = project.json(&["init", "--format", format]);
        assert!(written["files"].as_array().unwrap().contains(&json!("AGENTS.md")), "{written}");
        let checked = project.say(&["check"]);
        assert_eq!(checked.code, Some(0), "{format}: {checked:?}");
        assert!(checked.stdout.ends_with("0 errors, 0 warnings\n"), "{format}: {checked:?}");
        let agents = project.json(&["agents"]);
        let agents: Vec<_> = agents["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
        assert!(agents.contains(&&json!(agent)), "{agents:?}");
        let again = project.say(&["init", "--format", format]);
        assert_eq!(again.code, Some(2), "{again:?}");
        assert!(again.stderr.contains("error[C029]"), "{again:?}");
    }
}

#[test]
fn an_imported_agent_is_there_and_goes_back_without_a_loss() {
    let project = Project::new().file("elsewhere/.claude/agents/auditor.md", CLAUDE);
    let imported = project.json(&["import", "elsewhere"]);
    let expected = json!([{ "name": "auditor", "format": "claude-code", "file": ".agents/agents/auditor.md" }]);
    assert_eq!(imported["agents"], expected);
    assert_eq!(imported["losses"], json!([{ "agent": "auditor", "field": "color" }]));
    let listed = project.json(&["agents"]);
    let listed = listed["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "auditor").unwrap().clone();
    assert_eq!((&listed["format"], &listed["file"]), (&json!("claude-code"), &json!(".agents/agents/auditor.md")));
    let exported = project.json(&["export", "--to", "claude-code", "--out", "back", "auditor"]);
    assert_eq!(exported["losses"], json!([]));
    assert_eq!(project.read("back/.claude/agents/auditor.md"), CLAUDE);
    let lossy = project.json(&["export", "--to", "cursor", "--out", "cursor"]);
    let fields: Vec<_> =
        lossy["losses"].as_array().unwrap().iter().map(|loss| loss["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["color", "maxTurns", "tools"]);
}

#[test]
fn a_name_that_is_taken_is_refused_and_nothing_is_written() {
    let project = Project::new()
        .file("elsewhere/.claude/agents/auditor.md", CLAUDE)
        .file("elsewhere/.claude/agents/b.md", &CLAUDE.replace("name: auditor", "name: other"))
        .file("subagents/auditor.md", "---\ndescription: Mine.\n---\nMine.\n");
    let said = project.say(&["import", "elsewhere"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("error[C032]: the name `auditor` is taken already, by `subagents/auditor.md`"),
        "{said:?}"
    );
    assert!(!project.path().join(".agents").exists());
}

#[test]
fn a_name_of_a_broken_declaration_is_taken_too() {
    let project = Project::new()
        .file("elsewhere/.claude/agents/auditor.md", CLAUDE)
        .file("subagents/auditor.md", "---\nmodel: openai:gpt-5\n---\nMine.\n");
    let what = "error[C032]: the name `auditor` is taken already, by `subagents/auditor.md`, which is broken";
    project.say(&["import", "elsewhere"]).refused(1, &[what]);
    assert!(!project.path().join(".agents").exists());
    assert_eq!(project.say(&["import", "elsewhere", "--out", "out"]).code, Some(0));
}

#[test]
fn names_that_give_one_file_are_refused_and_nothing_is_written() {
    let project = Project::new()
        .file("elsewhere/.claude/agents/b.md", &CLAUDE.replace("name: auditor", "name: a-b"))
        .file("elsewhere/.claude/agents/a.md", &CLAUDE.replace("name: auditor", "name: a:b"));
    let what = "error[C032]: agents `a:b` and `a-b` would both be kept in `.agents/agents/a-b.md`";
    project.say(&["import", "elsewhere"]).refused(1, &[what]);
    assert!(!project.path().join(".agents").exists());
}

#[test]
fn a_name_of_a_built_in_agent_is_taken_wherever_it_is_imported_to() {
    for name in ["lead", "research", "coding", "goal", "general-purpose"] {
        let project = Project::new().file("elsewhere.md", &CLAUDE.replace("name: auditor", &format!("name: {name}")));
        let import = ["import", "--from", "claude-code", "elsewhere.md"];
        let what = format!("error[C032]: the name `{name}` is taken already, by a built-in agent");
        project.say(&import).refused(1, &[&what]);
        project.say(&[&import[..], &["--out", "out"]].concat()).refused(1, &[&what]);
        assert!(!project.path().join(".agents").exists());
    }
}

#[test]
fn init_says_whom_a_run_asks() {
    for (format, agent) in [("stax", "my-agent"), ("agentscope", "lead")] {
        Project::new().say(&["init", "--format", format]).refused(0, &[&format!("asks `{agent}`")]);
    }
}

#[test]
fn a_file_in_the_way_is_overwritten_only_by_force() {
    let project =
        Project::new().file(".claude/agents/auditor.md", CLAUDE).file("out/.cursor/agents/auditor.md", "Mine.\n");
    let said = project.say(&["export", "--to", "cursor", "--out", "out"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("error[C035]"), "{said:?}");
    assert_eq!(project.read("out/.cursor/agents/auditor.md"), "Mine.\n");
    project.json(&["export", "--to", "cursor", "--out", "out", "--force"]);
    assert!(project.read("out/.cursor/agents/auditor.md").ends_with("You audit.\n"));
    // Once more changes nothing, so that nothing is in the way.
    project.json(&["export", "--to", "cursor", "--out", "out"]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_target_folder_is_never_followed() {
    let project =
        Project::new().file(".claude/agents/auditor.md", CLAUDE).file("outside/keep.md", "Keep.\n").file("out/x", "");
    std::os::unix::fs::symlink(project.path().join("outside"), project.path().join("out/.cursor")).unwrap();
    for force in [&["--force"][..], &[]] {
        let said = project.say(&[&["export", "--to", "cursor", "--out", "out"], force].concat());
        said.refused(2, &["error[C030]: `.cursor` is a link", "out/.cursor\n", "hint: move it away"]);
        assert!(!said.stderr.contains("os error"), "{said:?}");
    }
    assert!(!project.path().join("outside/agents").exists());
    let project = Project::new().file(".claude/agents/auditor.md", CLAUDE).file("out/.cursor", "A file.\n");
    let said = project.say(&["export", "--to", "cursor", "--out", "out", "--force"]);
    said.refused(2, &["error[C030]: `.cursor` is no folder; nothing was written"]);
}

#[test]
fn help_names_the_formats() {
    let project = Project::new();
    for (command, last) in [("export", "openclaw, generic"), ("import", "goose, docker-agent")] {
        let help = project.say(&[command, "--help"]).stdout;
        assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(last), "{command}: {help}");
    }
}

#[test]
fn obvious_mistakes_are_answered_with_what_to_do() {
    let project = Project::new().file("notes.txt", "Nothing here.\n");
    let project = project.file("empty.toml", "[agents]\nmax_threads = 2\n");
    let cases: [(&[&str], i32, &str); 6] = [
        (&["import", "notes.txt"], 1, "--from"),
        (&["import", "nothing.md"], 2, "  at nothing.md\nhint: check that it is there"),
        (&["import", "empty.toml", "--from", "codex"], 1, "was to be imported\nhint: give a file"),
        (&["import", "."], 1, "error[C031]"),
        (&["export", "--to", "claude"], 1, "did you mean `claude-code`?"),
        (&["export", "--to", "codex"], 1, "error[C034]"),
    ];
    for (arguments, code, words) in cases {
        let said = project.say(arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(words), "{arguments:?}: {said:?}");
    }
}

#[test]
fn a_folder_is_imported_by_where_it_lies() {
    let subagent = "---\ndescription: Reads.\n---\nRead.\n";
    for (path, name) in [("elsewhere", "reader"), ("elsewhere/subagents", "reader"), ("elsewhere/stax", "writer")] {
        let project = Project::new()
            .file("elsewhere/subagents/reader.md", subagent)
            .file("elsewhere/subagents/notes.md", "Only notes.\n")
            .file("elsewhere/stax/subagents/writer.md", "Write.\n")
            .file(
                "elsewhere/stax/subagents.json",
                r#"{ "agents": { "writer": { "description": "Writes.", "instructions": "./subagents/writer.md" } } }"#,
            );
        let format = if name == "reader" { "agentscope" } else { "stax" };
        let expected = json!([{ "name": name, "format": format, "file": format!(".agents/agents/{name}.md") }]);
        assert_eq!(project.json(&["import", path])["agents"], expected, "{path}");
        let listed = project.json(&["agents"]);
        assert!(listed["agents"].as_array().unwrap().iter().any(|agent| agent["name"] == name), "{path}: {listed}");
    }
}

#[test]
fn a_server_that_nobody_declares_is_told_at_import_and_by_check_and_stops_neither() {
    let text = CLAUDE.replace("color: red", "mcpServers: [github]");
    let project = Project::new().file("elsewhere/.claude/agents/auditor.md", &text);
    let told = "agent `auditor` names the MCP server `github`, which is not declared";
    let imported = project.say(&["import", "elsewhere"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert!(imported.stderr.contains("warning[C054]") && imported.stderr.contains(told), "{imported:?}");
    assert!(!imported.stderr.contains("has no effect"), "{imported:?}");
    let checked = project.say(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.stdout.contains("warning[C054]") && checked.stdout.contains(told), "{checked:?}");
    let project = project.file("entourage.toml", "[mcp.github]\nurl = \"http://127.0.0.1:1/mcp\"\n");
    let checked = project.say(&["check"]);
    assert!(checked.stdout.ends_with("0 errors, 0 warnings\n"), "{checked:?}");
}

#[test]
fn export_tells_of_broken_declarations_and_shows_the_fault_of_one_that_is_asked_for() {
    let project = Project::new()
        .file("subagents/aa.md", "---\ndescription: Good.\n---\nYou help.\n")
        .file("subagents/bad.md", "---\ndescription: [\n---\nYou fail.\n");
    let all = project.say(&["export", "--to", "cursor", "--out", "all"]);
    assert_eq!(all.code, Some(0), "{all:?}");
    assert!(all.stdout.contains("aa →") && all.stderr.contains("subagents/bad.md:"), "{all:?}");
    let one = project.say(&["export", "--to", "cursor", "--out", "one", "bad"]);
    one.refused(1, &["subagents/bad.md:"]);
    assert!(!one.stderr.contains("C010"), "{one:?}");
    let good = project.say(&["export", "--to", "cursor", "--out", "good", "aa"]);
    assert_eq!((good.code, good.stderr.contains("bad.md")), (Some(0), false), "{good:?}");
    let unknown = project.say(&["export", "--to", "nope"]);
    unknown.refused(1, &["claude-code"]);
    assert!(!unknown.stderr.contains("standard-agents"), "{unknown:?}");
}
