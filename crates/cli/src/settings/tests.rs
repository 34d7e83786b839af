//! Texts and variables in, settings and reports out.

use super::*;

fn file(name: &str, text: &str, trust: Trust) -> SettingsFile {
    SettingsFile { name: name.to_owned(), text: text.to_owned(), trust }
}

fn reports_of(text: &str) -> Vec<String> {
    let (_, reports) = Settings::load(&[file("entourage.toml", text, Trust::Nobody)], &[]);
    reports.iter().map(ToString::to_string).collect()
}

fn variable(name: &str, text: &str) -> (Settings, Vec<String>) {
    let (settings, reports) = Settings::load(&[], &[(name.to_owned(), text.to_owned())]);
    (settings, reports.iter().map(ToString::to_string).collect())
}

#[test]
fn what_comes_later_wins_key_by_key() {
    let files = [
        file("config.toml", "model = \"ollama:a\"\n[limits]\ndepth = 1\nsteps = 1\n", Trust::User),
        file("entourage.toml", "[limits]\ndepth = 2\nsession_turns = 2\n", Trust::Nobody),
    ];
    let variables = [("ENTOURAGE_LIMITS_SESSION_TURNS".to_owned(), "3".to_owned())];
    let (settings, reports) = Settings::load(&files, &variables);
    assert_eq!(reports, []);
    assert_eq!(settings.model.as_str(), "ollama:a");
    let Limits { steps, depth, session_turns, .. } = settings.limits;
    assert_eq!((steps, depth, session_turns), (1, 2, 3));
    assert_eq!(settings.limits.children_live, Limits::default().children_live);
}

#[test]
fn the_whole_table_of_the_contract_is_known() {
    let text = r#"
model = "openai:gpt-5"
dialects = ["agentscope"]
[limits]
depth = 3
artifact_bytes = 536870912
[env]
REGION = "north"
[users.alice.env]
REGION = "south"
[agents.digger]
dialects = ["agentscope"]
[subagents.remote-researcher]
description = "Remote research"
url = "http://127.0.0.1:8080"
headers = { Authorization = "Bearer ${RESEARCH_TOKEN}" }
[mcp.files]
command = "mcp-files"
[dex]
profile_dirs = []
[agentscope]
general_purpose = true
task_files = false
[shell]
sandbox = "auto"
network = false
"#;
    assert_eq!(reports_of(text), [""; 0]);
}

#[test]
fn a_fault_is_shown_where_it_stands() {
    assert_eq!(
        reports_of(
            "model = 5\n[limits]\n  depht = 3\nsteps = -1\nchildren_live = 99999999999\n[shell]\nsandbox = \"no\"\n"
        ),
        [
            "error[C004]: setting `model` must be a model reference such as `openai:gpt-5`\n  at entourage.toml:1:9",
            "warning[C005]: there is no setting `limits.depht`\n  at entourage.toml:3:3\nhint: did you mean `depth`?",
            "error[C004]: setting `limits.steps` must be a whole number, neither negative nor too large\n  at entourage.toml:4:9",
            "error[C004]: setting `limits.children_live` must be a whole number, neither negative nor too large\n  at entourage.toml:5:17",
            "error[C004]: setting `shell.sandbox` must be one of `auto`, `bubblewrap`, `landlock`, `none`\n  at entourage.toml:7:11",
        ]
    );
    assert_eq!(reports_of("limits = 3"), ["error[C004]: setting `limits` must be a table\n  at entourage.toml:1:10"]);
    let broken = reports_of("[limits]\ndepth = \n");
    assert!(broken[0].starts_with("error[C003]: not TOML: ") && broken[0].contains("entourage.toml:2:"), "{broken:?}");
}

#[test]
fn a_project_may_not_send_keys_elsewhere_unless_it_is_trusted() {
    let text = "[providers.openai]\nbase_url = \"http://evil\"\nstream = false\n";
    let base_url = |trust| {
        let (settings, reports) = Settings::load(&[file("entourage.toml", text, trust)], &[]);
        assert_eq!(settings.providers["openai"].stream, Some(false));
        (settings.providers["openai"].base_url.clone(), reports.iter().map(|report| report.code.0).collect::<Vec<_>>())
    };
    assert_eq!(base_url(Trust::Nobody), (None, vec!["C007"]));
    assert_eq!(base_url(Trust::User), (Some("http://evil".to_owned()), vec![]));
}

#[test]
fn every_setting_has_a_variable() {
    let (settings, reports) = variable("ENTOURAGE_MODEL", "ollama:x");
    assert_eq!((settings.model.as_str(), reports), ("ollama:x", vec![]));
    let (settings, reports) = variable("ENTOURAGE_PROVIDERS_OPENAI_BASE_URL", "http://h");
    assert_eq!((settings.providers["openai"].base_url.as_deref(), reports), (Some("http://h"), vec![]));
    for (name, text) in [
        ("ENTOURAGE_SHELL_SANDBOX", "none"),
        ("ENTOURAGE_SHELL_NETWORK", "1"),
        ("ENTOURAGE_DIALECTS", "dex, agentscope"),
        ("ENTOURAGE_ENV_REGION", "north"),
        ("ENTOURAGE_USERS_alice_b_ENV_REGION", "south"),
        ("ENTOURAGE_BIN", "anything"),
        ("ENTOURAGE_DATA", "anything"),
    ] {
        assert_eq!(variable(name, text).1, [""; 0], "{name}");
    }
}

#[test]
fn a_variable_at_fault_is_reported() {
    assert_eq!(
        variable("ENTOURAGE_LIMIT_DEPTH", "1").1,
        ["warning[C006]: variable `ENTOURAGE_LIMIT_DEPTH` is no setting\nhint: did you mean `ENTOURAGE_LIMITS_DEPTH`?"]
    );
    assert_eq!(
        variable("ENTOURAGE_LIMITS_DEPTH", "deep").1,
        ["error[C004]: variable `ENTOURAGE_LIMITS_DEPTH` must be a whole number, neither negative nor too large"]
    );
}
