//! Settings as a whole: files, variables and flags together, and their faults.

use crate::project::Project;

#[test]
fn a_setting_of_the_wrong_type_ends_every_command_but_check_and_agents() {
    let project = Project::with_echo().file("entourage.toml", "[limits]\ndepth = \"deep\"\n");
    for arguments in [&["threads"][..], &["run", "hi"]] {
        project.say(arguments).refused(1, &["error[C004]: setting `limits.depth` must be", "entourage.toml:2:1"]);
    }
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.contains("entourage.toml:2:1"), "{said:?}");
}

#[test]
fn agents_are_listed_beside_broken_settings_which_are_told() {
    let huge = "#".repeat((8 << 20) + 1);
    for (text, what) in [
        ("[limits]\ndepth = \"deep\"\n", "error[C004]: setting `limits.depth`"),
        ("model = \n", "error[C003]: not TOML"),
        (&huge, "error[C003]: the settings cannot be read: it has more than 8 MiB"),
    ] {
        let project = Project::new()
            .file("entourage.toml", text)
            .file("subagents/helper.md", "---\ndescription: Helps.\n---\nYou help.\n")
            .variable("ENTOURAGE_LIMITS_STEPS", "many");
        let said = project.say(&["agents"]);
        said.refused(0, &[what, "hint: ", "error[C004]: variable `ENTOURAGE_LIMITS_STEPS`"]);
        assert!(said.stdout.contains("helper") && said.stdout.contains("lead"), "{said:?}");
        assert_eq!(project.say(&["check"]).code, Some(1));
        project.say(&["threads"]).refused(1, &[what]);
    }
}

#[test]
fn a_provider_that_nobody_knows_is_found_by_check_where_it_is_named() {
    let project = Project::with_echo().file("entourage.toml", "dialects = []\nmodel = \"opnai:x\"\n");
    let what = "error[C008]: model `opnai:x` names the provider `opnai`, which nobody knows";
    let said = project.say(&["check"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for words in [what, "entourage.toml:2:1", "did you mean `openai:x`?"] {
        assert!(said.stdout.contains(words), "{said:?}");
    }
    project.say(&["run", "hi"]).refused(1, &[what, "entourage.toml:2:1"]);
}

#[test]
fn what_nobody_knows_is_a_warning() {
    let project =
        Project::with_echo().file("entourage.toml", "modle = \"a:b\"\n").variable("ENTOURAGE_LIMIT_STEPS", "1");
    let said = project.say(&["--model", "script:script.json", "run", "hi"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "I heard: hi\n"));
    said.refused(0, &["warning[C005]: there is no setting `modle`", "entourage.toml:1:1", "did you mean `model`?"]);
    said.refused(0, &["warning[C006]: variable `ENTOURAGE_LIMIT_STEPS`", "did you mean `ENTOURAGE_LIMITS_STEPS`?"]);
}

#[test]
fn the_projects_file_goes_before_the_users_and_a_flag_before_both() {
    let project = Project::with_echo()
        .file("other.json", r#"{ "rules": [ { "reply": { "text": "the other" } } ] }"#)
        .file("home/.config/entourage/config.toml", "model = \"nobody:x\"\n")
        .file("entourage.toml", "model = \"script:other.json\"\n");
    assert_eq!(project.say(&["run", "hi"]).stdout, "the other\n");
    assert_eq!(project.say(&["run", "hi", "--model", "script:script.json"]).stdout, "I heard: hi\n");
}

#[test]
fn a_project_may_not_point_a_provider_elsewhere_unless_it_is_trusted() {
    let text = "[limits]\nmodel_attempts = 1\n[providers.openai]\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let project = Project::new().file("entourage.toml", text);
    project.say(&["run", "hi"]).refused(1, &["warning[C007]", "error[C009]"]);
    project.say(&["run", "hi", "--trust"]).refused(7, &["could not be reached"]);
}

#[test]
fn a_project_that_is_not_there_is_refused() {
    Project::new().say(&["--project", "absent", "threads"]).refused(1, &["error[C002]", "absent"]);
}

#[test]
fn a_typing_error_is_a_report_with_exit_code_1() {
    let project = Project::new();
    project.say(&["rnu", "hi"]).refused(1, &["error[C001]", "`run`"]);
    project.say(&[]).refused(1, &["Usage:"]);
    let help = project.say(&["run", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Examples:") && help.stdout.contains("[AGENT] <MESSAGE>"), "{help:?}");
}

#[test]
fn completions_are_printed_for_a_shell() {
    let said = Project::new().say(&["completions", "bash"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("_entourage"), "{said:?}");
}

#[test]
fn a_project_is_trusted_until_it_is_not() {
    const ELSEWHERE: &str = "[providers.openai]\nbase_url = \"http://127.0.0.1:9\"\n";
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new().file("entourage.toml", ELSEWHERE);
    let is_refused = |project: &Project| {
        let said = project.say(&["check"]);
        format!("{}{}", said.stdout, said.stderr).contains("--trust")
    };
    assert!(is_refused(&project), "{:?}", project.say(&["check"]));
    let trusted = project.json(&["trust"]);
    assert_eq!(trusted["trusted"], true);
    assert_eq!(trusted["project"], project.path().canonicalize().unwrap().to_str().unwrap());
    let mode = std::fs::metadata(project.path().join("home/.config/entourage/trusted")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!is_refused(&project), "{:?}", project.say(&["check"]));
    let other = Project::new()
        .file("entourage.toml", ELSEWHERE)
        .variable("HOME", project.path().join("home").to_str().unwrap());
    assert!(is_refused(&other));
    project.json(&["trust"]);
    assert_eq!(project.json(&["trust", ".", "--remove"])["trusted"], false);
    assert!(is_refused(&project));
    project.say(&["trust", "nowhere"]).refused(1, &["error[C052]", "nowhere"]);
}

#[test]
fn a_script_that_is_none_is_refused_before_anything_is_made() {
    let broken = "{ \"rules\": [\n oops";
    let prompt = r#"{ "name": "p", "prompt": "Hi.", "model": "script:absent.json" }"#;
    let agent = r#"{ "name": "guide", "type": "ai_human", "sideA": { "prompt": "p" } }"#;
    let mut project = Project::new()
        .in_folder()
        .file("broken.json", broken)
        .file("agents/prompts/p.json", prompt)
        .file("agents/agents/guide.json", agent);
    for (model, arguments, words) in [
        ("script:broken.json", &["run", "hi"][..], "broken.json:2:2"),
        ("script:absent.json", &["run", "hi"], "absent.json"),
        ("script:../broken.json", &["run", "hi"], "../broken.json"),
        ("ollama:x", &["run", "guide", "hi"], "absent.json"),
        ("ollama:x", &["run", "hi", "--model", "script:broken.json"], "broken.json:2:2"),
        ("ollama:x", &["run", "hi", "--model", "script:absent.json"], "absent.json"),
        ("ollama:x", &["run", "hi", "--file", "absent.txt"], "absent.txt"),
    ] {
        project = project.file("entourage.toml", &format!("model = \"{model}\"\n"));
        project.say(arguments).refused(1, &["error[C011]", words, "hint: "]);
    }
    assert!(!project.path().join(".entourage").exists());
}

#[test]
fn a_script_of_the_project_may_be_named_by_its_whole_path() {
    let project = Project::with_echo();
    let model = format!("model = \"script:{}/script.json\"\n", project.path().display());
    let said = project.file("entourage.toml", &model).say(&["run", "hi"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "I heard: hi\n"), "{said:?}");
}

#[test]
fn a_message_that_is_too_long_is_refused_before_anything_is_made() {
    let project = Project::with_echo().in_folder().file("entourage.toml", "[limits]\nmessage_bytes = 10\n");
    let said = project.say(&["--model", "script:script.json", "run", "more than ten"]);
    said.refused(1, &["error[C023]: the message has 13 bytes; at most 10 are allowed"]);
    assert!(!project.path().join(".entourage").exists());
}
