//! `agents` and `check`, and declarations at fault when something is run.

use crate::project::{ECHO, Project};
use entourage_testkit::{FakeModel, Reply};
use serde_json::{Value, json};

const AGENT: &str = r#"{ "name": "helper", "description": "Helps.", "sideA": { "prompt": "helper" } }"#;
const PROMPT: &str = r#"{ "name": "helper", "prompt": "You help.", "tools": ["read_file"] }"#;
const BROKEN: &str = "{\n  \"name\": \"broken\",\n  oops\n}\n";

fn declared() -> Project {
    Project::new().file("agents/agents/helper.json", AGENT).file("agents/prompts/helper.json", PROMPT)
}

#[test]
fn agents_are_listed_with_their_format_and_file() {
    let document = declared().json(&["agents"]);
    let helper = document["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "helper").unwrap();
    assert_eq!(helper["format"], "standard-agents");
    assert_eq!(helper["file"], "agents/agents/helper.json");
    let lead = document["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "lead").unwrap();
    assert_eq!((&lead["format"], &lead["file"]), (&json!("standard-agents"), &json!(null)));
}

#[test]
fn a_sound_project_is_clean_and_says_so() {
    let said = declared().say(&["check"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "6 agents, 0 errors, 0 warnings\n"), "{said:?}");
    assert_eq!(declared().json(&["check"]), json!({"reports": []}));
}

#[test]
fn a_broken_declaration_is_shown_where_it_breaks() {
    let project = declared().file("agents/agents/broken.json", BROKEN).file("script.json", ECHO);
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("error[D004]") && said.stdout.contains("agents/agents/broken.json:3:"), "{said:?}");
    assert!(said.stdout.contains("1 error, 0 warnings"), "{said:?}");
    let document = project.say(&["check", "--json"]).document();
    assert_eq!(document["reports"][0]["where"]["line"], 3, "{document}");
    let run = ["--model", "script:script.json", "run"];
    project.say(&[&run[..], &["broken", "hi"]].concat()).refused(1, &["agents/agents/broken.json:3:", "error[C010]"]);
    let other = project.say(&[&run[..], &["helper", "hi"]].concat());
    assert_eq!((other.code, other.stdout.as_str()), (Some(0), "I heard: hi\n"), "{other:?}");
    assert!(other.stderr.contains("agents/agents/broken.json:3:"), "{other:?}");
}

#[test]
fn agents_lists_the_others_beside_a_broken_file() {
    let said = declared().file("agents/agents/broken.json", BROKEN).say(&["agents"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("helper") && said.stderr.contains("broken.json:3:"), "{said:?}");
}

const PROFILE: &str = "---\ndescription: A profile.\n---\nYou help.\n";

/// The files of the agents that are declared, by name.
fn files(project: &Project, arguments: &[&str]) -> Vec<String> {
    let document = project.json(&[arguments, &["agents"]].concat());
    let agents = document["agents"].as_array().unwrap().iter();
    let row = |agent: &serde_json::Value| Some(format!("{} {}", agent["name"].as_str()?, agent["file"].as_str()?));
    agents.filter_map(row).collect()
}

#[test]
fn profiles_lie_in_the_users_home_in_the_project_and_in_folders_that_are_named() {
    let project = Project::new()
        .file("home/.dex/agents/homely.md", PROFILE)
        .file("home/.dex/agents/both.md", PROFILE)
        .file(".dex/agents/both.md", PROFILE)
        .file("shared/profiles/extra.md", PROFILE)
        .file("entourage.toml", "[dex]\nprofile_dirs = [\"./shared/profiles/\"]\n");
    let expected = ["both .dex/agents/both.md", "extra shared/profiles/extra.md", "homely ~/.dex/agents/homely.md"];
    assert_eq!(files(&project, &[]), expected);
    assert_eq!(project.json(&["check"]), json!({"reports": []}));
}

#[test]
fn the_users_own_settings_may_name_folders_anywhere() {
    let project = Project::new()
        .file("home/.config/entourage/config.toml", "[dex]\nprofile_dirs = [\"../profiles\", \"~/more\"]\n")
        .file("home/.config/profiles/one.md", PROFILE)
        .file("home/more/two.md", PROFILE);
    assert_eq!(files(&project, &[]), ["one ~/.config/profiles/one.md", "two ~/more/two.md"]);
    let project = project.variable("ENTOURAGE_DEX_PROFILE_DIRS", "home/more");
    assert_eq!(files(&project, &[]), ["two home/more/two.md"]);
}

#[test]
fn a_project_may_name_profile_folders_anywhere() {
    let outside = Project::new().file("far.md", PROFILE);
    let mut project = Project::new();
    std::os::unix::fs::symlink(outside.path(), project.path().join("link")).unwrap();
    let absolute = format!("{:?}", outside.path());
    let step_back = format!("\"../{}\"", outside.path().file_name().unwrap().display());
    for folder in [absolute.as_str(), &step_back, "\"link\""] {
        let text = format!("[dex]\nprofile_dirs = [{folder}, \"absent\"]\n");
        project = project.file("entourage.toml", &text);
        let found = files(&project, &[]);
        assert!(found.len() == 1 && found[0].starts_with("far "), "{folder}: {found:?}");
        let reports = project.json(&["check"])["reports"].clone();
        let codes: Vec<_> = reports.as_array().unwrap().iter().map(|report| report["code"].clone()).collect();
        assert_eq!(codes, ["D101"], "{folder}");
        assert_eq!(reports[0]["where"], json!({"file": "entourage.toml", "line": 2, "column": 1}));
    }
}

#[test]
fn a_profile_folder_that_is_named_twice_does_not_clash_with_itself() {
    let mut project = Project::new()
        .file(".dex/agents/x.md", &PROFILE.replace("---\nd", "---\nid: xx\nd"))
        .file("more/y.md", PROFILE);
    for folders in [r#"".dex/agents""#, r#""more", "more/""#, r#""more", ".dex/agents", "./more""#] {
        project = project.file("entourage.toml", &format!("[dex]\nprofile_dirs = [{folders}]\n"));
        assert_eq!(project.json(&["check"]), json!({"reports": []}), "{folders}");
        assert_eq!(files(&project, &[])[0], "xx .dex/agents/x.md", "{folders}");
    }
}

#[test]
fn the_settings_declare_agents_and_choose_dialects() {
    let project = Project::new().file(
        "entourage.toml",
        "dialects = [\"dex\"]\n[agentscope]\ngeneral_purpose = false\n[subagents.far]\ndescription = \"d\"\nurl = \"http://h\"\n",
    );
    assert_eq!(files(&project, &[]), ["far entourage.toml"]);
    let document = project.json(&["agents"]);
    assert!(!document["agents"].as_array().unwrap().iter().any(|agent| agent["name"] == "general-purpose"));
    let project = Project::new().file("entourage.toml", "dialects = [\"dx\"]\n");
    let said = project.say(&["check"]);
    assert!(said.stdout.contains("error[C004]: setting `dialects` must be a list of `standard`, `dex`, `agentscope`"));
}

#[test]
fn linked_folders_are_not_entered_and_linked_files_stay_in_the_project() {
    let project = Project::new().file(".claude/agents/a.md", "---\nname: a\ndescription: d\n---\n");
    let agents = project.path().join(".claude/agents");
    std::os::unix::fs::symlink(".", agents.join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", agents.join("passwd.md")).unwrap();
    std::os::unix::fs::symlink("a.md", agents.join("again.md")).unwrap();
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("agent `a` is declared twice: in `.claude/agents/a.md` and in `.claude/agents/again.md`")
    );
    assert!(said.stdout.contains("6 agents, 1 error, 1 warning\n"), "{said:?}");
}

/// An agent that the folder at `path` defines.
fn defined_by(path: &str) -> String {
    format!("---\ndescription: Defined.\nworkspace:\n  path: {path}\n---\n")
}

/// The prompt that the model is shown, and what is said beside the answer.
async fn prompt_of(project: Project, options: &[&str]) -> (String, String) {
    let model = FakeModel::start(Reply::text("ok")).await;
    let project = project.with_model(&model);
    let said = project.say(&[&["--log", "warn"], options, &["run", "digger", "hi"]].concat());
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "ok\n"), "{said:?}");
    let prompt = model.requests()[0].body()["messages"][0]["content"].as_str().unwrap().to_owned();
    (prompt, said.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_file_of_a_definition_folder_is_the_prompt() {
    let outside = Project::new().file("AGENTS.md", "You lie outside.");
    let of = |path: &str| Project::new().file("subagents/digger.md", &defined_by(path));
    let inside = || of("defs/digger").file("defs/digger/AGENTS.md", "You dig.");
    assert_eq!(prompt_of(inside(), &[]).await, ("You dig.".to_owned(), String::new()));
    let project = inside();
    let absolute = project.path().join("defs/digger").display().to_string();
    let project = project.file("subagents/digger.md", &defined_by(&absolute));
    assert_eq!(prompt_of(project, &[]).await.0, "You dig.");

    let (prompt, said) = prompt_of(of("defs/digger"), &[]).await;
    assert_eq!(prompt, "");
    let what = "warning[C041]: agent `digger` has an empty prompt: `defs/digger/AGENTS.md` is not there";
    assert!(said.contains(what) && said.contains("at subagents/digger.md:4:3\n"), "{said}");

    let far = outside.path().display().to_string();
    let (prompt, said) = prompt_of(of(&far), &[]).await;
    assert_eq!(prompt, "You lie outside.");
    assert!(said.contains("warning[T003]: agent `digger` works outside of the project, in `"), "{said}");
    assert!(said.contains("at subagents/digger.md:4:3\n"), "{said}");
    assert_eq!(prompt_of(of(&far), &["--trust"]).await, ("You lie outside.".to_owned(), String::new()));

    let linked = of("link");
    std::os::unix::fs::symlink(outside.path(), linked.path().join("link")).unwrap();
    assert_eq!(prompt_of(linked, &["--trust"]).await.0, "");
    let huge = of("defs").file("defs/AGENTS.md", &"x".repeat((8 << 20) + 1));
    assert!(prompt_of(huge, &[]).await.1.contains("it has more than 8 MiB"));
}

#[test]
fn faults_of_a_definition_folder_lie_where_it_is_named_and_among_the_others() {
    let settled =
        "[subagents.delver]\ndescription = \"Settled.\"\nworkspace = { mode = \"shared\", path = \"none\" }\nodd = 1\n";
    let digger = defined_by("defs/none").replace("description", "odd: 1\ndescription");
    let project = Project::new().file("entourage.toml", settled).file("subagents/digger.md", &digger);
    let reports = project.json(&["check"])["reports"].clone();
    let place = |report: &Value| {
        let place = &report["where"];
        format!("{} {}:{}:{}", report["code"], place["file"], place["line"], place["column"]).replace('"', "")
    };
    let found: Vec<_> = reports.as_array().unwrap().iter().map(place).collect();
    let expected = [
        "C041 entourage.toml:3:32",
        "D007 entourage.toml:4:1",
        "D007 subagents/digger.md:2:1",
        "C041 subagents/digger.md:5:3",
    ];
    assert_eq!(found, expected, "{reports}");
}

#[test]
fn an_exported_agent_has_its_folder_and_not_the_folders_prompt() {
    let settled = "[subagents.delver]\ndescription = \"Settled.\"\nworkspace = { path = \"defs/digger\" }\n";
    let project = Project::new()
        .file("entourage.toml", settled)
        .file("subagents/digger.md", &defined_by("defs/digger"))
        .file("defs/digger/AGENTS.md", "You dig.");
    project.json(&["export", "--to", "agentscope", "--out", "out"]);
    for agent in ["digger", "delver"] {
        let written = project.read(&format!("out/subagents/{agent}.md"));
        assert!(written.contains("defs/digger") && !written.contains("You dig."), "{written}");
    }
}

#[test]
fn an_agent_that_a_folder_defines_takes_the_folders_prompt_elsewhere() {
    let project = Project::new()
        .file("there/subagents/digger.md", &defined_by("./defs/digger"))
        .file("there/defs/digger/AGENTS.md", "You dig.")
        .file("subagents/delver.md", &defined_by("defs/delver"))
        .file("defs/delver/AGENTS.md", "You delve.");
    for (format, path) in [
        ("claude-code", ".claude/agents/delver.md"),
        ("codex", ".codex/agents/delver.toml"),
        ("stax", "subagents/delver.md"),
        ("goose", ".goose/recipes/delver.yaml"),
    ] {
        let out = format!("out/{format}");
        let written = project.json(&["export", "--to", format, "--out", &out, "delver"]);
        assert!(project.read(&format!("{out}/{path}")).contains("You delve."), "{format}: {written}");
    }
    let imported = project.json(&["import", "there"]);
    assert_eq!(imported["losses"], json!([{ "agent": "digger", "field": "workspace.path" }]));
    assert!(project.read(".agents/agents/digger.md").ends_with("---\nYou dig."));
    assert_eq!(project.json(&["check"])["reports"], json!([]));
}

#[test]
fn what_files_say_neither_commands_the_terminal_nor_passes_for_a_report() {
    let project = Project::new()
        .file("agents/agents/evil.ts", "throw new Error('\\u001b[2J\\u0007\\r\\nerror[D001]: forged');\n")
        .file(
            ".claude/agents/x.md",
            "---\nname: \"\\e[31mred\"\ndescription: \"\\e]0;title\\a plain\\u202e\"\n---\nDo.\n",
        );
    let checked = project.say(&["check"]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!(checked.stdout.contains("\\u001b[2J\\u0007\n    error[D001]: forged\n"), "{checked:?}");
    let listed = project.say(&["agents"]);
    let exported = project.say(&["export", "--to", "generic", "--out", "out"]);
    assert!(listed.stdout.contains("\\u001b]0;title\\u0007 plain\\u202e"), "{listed:?}");
    for said in [checked, listed, exported] {
        let is_harmless = |text: &str| !text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']);
        assert!(is_harmless(&said.stdout) && is_harmless(&said.stderr), "{said:?}");
    }
}
