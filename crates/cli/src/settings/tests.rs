//! Texts and variables in, settings and reports out.

use super::*;
use serde_json::json;

fn file(name: &str, text: &str, trust: Trust) -> SettingsFile {
    SettingsFile { name: name.to_owned(), text: text.to_owned(), trust }
}

fn reports_of(text: &str) -> Vec<String> {
    let (_, reports) = Settings::load(&[file("entourage.toml", text, Trust::Nobody)], &[], Trust::Nobody);
    reports.iter().map(ToString::to_string).collect()
}

fn variable(name: &str, text: &str) -> (Settings, Vec<String>) {
    let (settings, reports) = Settings::load(&[], &[(name.to_owned(), text.to_owned())], Trust::Nobody);
    (settings, reports.iter().map(ToString::to_string).collect())
}

#[test]
fn what_comes_later_wins_key_by_key() {
    let files = [
        file("config.toml", "model = \"ollama:a\"\n[limits]\ndepth = 1\nsteps = 1\n", Trust::User),
        file("entourage.toml", "[limits]\ndepth = 2\nsession_turns = 2\n", Trust::Nobody),
    ];
    let variables = [("ENTOURAGE_LIMITS_SESSION_TURNS".to_owned(), "3".to_owned())];
    let (settings, reports) = Settings::load(&files, &variables, Trust::Nobody);
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
    let untrusted = "warning[C055]: `mcp.files` is left out: a project may not start commands, or send your variables elsewhere, \
                     before it is trusted\n  at entourage.toml:17:6\nhint: if you trust this project, run `entourage trust`, or add `--trust`";
    assert_eq!(reports_of(text), [untrusted]);
}

#[test]
fn a_fault_is_shown_where_it_stands() {
    assert_eq!(
        reports_of(
            "model = 5\n[limits]\n  depht = 3\nsteps = -1\nchildren_live = 99999999999\n[shell]\nsandbox = \"non\"\n"
        ),
        [
            "error[C004]: setting `model` must be a model reference such as `openai:gpt-5`\n  at entourage.toml:1:1\nhint: write it as in `model = \"openai:gpt-5\"`",
            "warning[C005]: there is no setting `limits.depht`\n  at entourage.toml:3:3\nhint: did you mean `depth`?",
            "error[C004]: setting `limits.steps` must be a whole number above zero, and not too large\n  at entourage.toml:4:1\nhint: write it as in `steps = 3`",
            "error[C004]: setting `limits.children_live` must be a whole number, neither negative nor too large\n  at entourage.toml:5:1\nhint: write it as in `children_live = 3`",
            "error[C004]: setting `shell.sandbox` must be one of `auto`, `bubblewrap`, `landlock`, `none`\n  at entourage.toml:7:1\nhint: did you mean `none`?",
        ]
    );
    assert_eq!(
        reports_of("limits = 3"),
        [
            "error[C004]: setting `limits` must be a table\n  at entourage.toml:1:1\nhint: write `[limits]` on a line of its own, and its keys below"
        ]
    );
    assert_eq!(
        reports_of("model = \"gpt-5\""),
        [
            "error[C004]: setting `model` must be a model reference such as `openai:gpt-5`\n  at entourage.toml:1:1\nhint: perhaps `openai:gpt-5` or `ollama:gpt-5`"
        ]
    );
}

/// One fault of the text, whatever follows from it; what was read before it is still looked at.
#[test]
fn one_mistake_is_one_report() {
    for (text, line, advice) in [
        ("model = \n", 1, "a value"),
        ("model = \n[limits]\ndepht = 1\n", 1, "a value"),
        ("[limits]\ndepth = \n", 2, "a value"),
        ("[limits\ndepth = 3\n", 1, "a bracket"),
        ("[limits]\ndepth = 1\n[limits]\ndepth = 2\n", 3, "remove one of the two"),
        ("model = \"a:b\"\nmodel = \"c:d\"\n", 2, "remove one of the two"),
        ("model = \"openai:x\n", 1, "a quotation mark"),
        ("dialects = [\"dex\", \n", 1, "a bracket"),
    ] {
        let reports = reports_of(text);
        assert_eq!(reports.len(), 1, "{text}: {reports:?}");
        assert!(reports[0].starts_with("error[C003]: not TOML: "), "{reports:?}");
        assert!(reports[0].contains(&format!("entourage.toml:{line}:")), "{text}: {reports:?}");
        assert!(reports[0].split("\nhint: ").nth(1).is_some_and(|hint| hint.contains(advice)), "{reports:?}");
    }
    let before = reports_of("modle = \"a:b\"\nmodel = 5\n[limits]\ndepth = \nsteps = -1\n");
    let codes: Vec<_> = before.iter().map(|report| report.split_once(']').unwrap().0).collect();
    assert_eq!(codes, ["warning[C005", "error[C004", "error[C003"]);
}

#[test]
fn the_place_of_the_model_is_that_of_the_last_file_that_names_it() {
    let files = [
        file("config.toml", "\n  model = \"a:b\"\n", Trust::User),
        file("entourage.toml", "dialects = []\nmodel = \"c:d\"\n", Trust::Nobody),
    ];
    let place = |files: &[SettingsFile], variables: &[(String, String)]| {
        Settings::load(files, variables, Trust::Nobody).0.model_place.map(|place| place.to_string())
    };
    assert_eq!(place(&files[..1], &[]).as_deref(), Some("config.toml:2:3"));
    assert_eq!(place(&files, &[]).as_deref(), Some("entourage.toml:2:1"));
    assert_eq!(place(&files, &[("ENTOURAGE_MODEL".to_owned(), "e:f".to_owned())]), None);
    assert_eq!(place(&[], &[]), None);
}

#[test]
fn a_project_may_not_send_keys_elsewhere_unless_it_is_trusted() {
    let text = "[providers.openai]\nbase_url = \"http://evil\"\nstream = false\n";
    let base_url = |trust| {
        let (settings, reports) = Settings::load(&[file("entourage.toml", text, trust)], &[], trust);
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
        ("ENTOURAGE_DIALECTS", "[\"dex\", 'agentscope',]"),
        ("ENTOURAGE_DEX_PROFILE_DIRS", "[1] odd, folder"),
        ("ENTOURAGE_ENV_REGION", "north"),
        ("ENTOURAGE_USERS_alice_b_ENV_REGION", "south"),
        ("ENTOURAGE_BIN", "anything"),
        ("ENTOURAGE_DATA", "anything"),
    ] {
        assert_eq!(variable(name, text).1, [""; 0], "{name}");
    }
}

#[test]
fn a_variable_in_capitals_means_the_name_that_the_settings_have() {
    let text =
        "[users.alice.env]\nREGION = \"south\"\n[mcp.my-files]\ncommand = \"old\"\n[mcp.Notes]\ncommand = \"old\"\n";
    let variables = [
        ("ENTOURAGE_USERS_ALICE_ENV_REGION", "north"),
        ("ENTOURAGE_USERS_BOB_ENV_CITY", "Oslo"),
        ("ENTOURAGE_USERS_Carol_ENV_city", "Bergen"),
        ("ENTOURAGE_MCP_MY_FILES_COMMAND", "new"),
        ("ENTOURAGE_MCP_NOTES_COMMAND", "new"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let files = [file("entourage.toml", text, Trust::User)];
    let (settings, reports) = Settings::load(&files, &variables, Trust::User);
    assert!(reports.is_empty(), "{reports:?}");
    for (user, name, value) in [("alice", "REGION", "north"), ("bob", "CITY", "Oslo"), ("Carol", "city", "Bergen")] {
        assert_eq!(settings.variables.find(Some(user), name).map(|value| value.reveal()), Some(value), "{user}");
    }
    let users: Vec<_> = settings.variables.users.keys().map(String::as_str).collect();
    assert_eq!(users, ["Carol", "alice", "bob"]);
    let servers: Vec<_> = settings.servers.keys().map(|key| key.name.as_str()).collect();
    assert_eq!(servers, ["Notes", "my-files"]);
}

#[test]
fn what_variables_say_of_a_declaration_is_kept_by_its_id() {
    let text = "[subagents.far-away]\ndescription = 'd'\nheaders = { Authorization = 'old' }\n";
    let variables = [
        ("ENTOURAGE_SUBAGENTS_FAR_AWAY_URL", "http://h"),
        ("ENTOURAGE_SUBAGENTS_FAR_AWAY_HEADERS_AUTHORIZATION", "new"),
        ("ENTOURAGE_SUBAGENTS_NEAR_DESCRIPTION", "Near."),
        ("ENTOURAGE_SUBAGENTS_NEAR_MAXITERS", "3"),
        ("ENTOURAGE_SUBAGENTS_NEAR_TOOLS", "read_file, shell"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let files = [file("entourage.toml", text, Trust::User)];
    let (settings, reports) = Settings::load(&files, &variables, Trust::User);
    assert!(reports.is_empty(), "{reports:?}");
    let expected = json!({
        "far-away": { "url": "http://h", "headers": { "Authorization": "new" } },
        "near": { "description": "Near.", "maxIters": 3, "tools": ["read_file", "shell"] },
    });
    assert_eq!(json!(settings.subagents), expected);
}

#[test]
fn a_list_may_be_written_as_in_a_file() {
    let folders = |text| variable("ENTOURAGE_DEX_PROFILE_DIRS", text).0.profile_folders.map(|folders| folders.paths);
    let both = Some(vec!["/a, b".to_owned(), "/c".to_owned()]);
    assert_eq!(folders(" [\"/a, b\", \"/c\"] "), both);
    assert_eq!(folders("[]"), Some(vec![]));
    assert_eq!(folders("/a,/b"), Some(vec!["/a".to_owned(), "/b".to_owned()]));
    for text in ["[/a]", "[1]", "[\"a\"]\nmodel = [1]"] {
        let said = variable("ENTOURAGE_DEX_PROFILE_DIRS", text).1;
        assert!(said[0].starts_with("error[C004]") && said[0].contains("must be a list of texts"), "{said:?}");
    }
    let said = variable("ENTOURAGE_DIALECTS", "[\"dex\", \"agentscop\"]").1;
    assert!(said[0].ends_with("hint: did you mean `agentscope`?"), "{said:?}");
}

#[test]
fn a_variable_that_stands_for_no_single_setting_is_unknown() {
    for name in [
        "SUBAGENTS_X_FLAVOUR",
        "SUBAGENTS_X",
        "SUBAGENTS",
        "SUBAGENTS_X_HEADERS",
        "LIMITS",
        "MCP_X",
        "PROVIDERS_OPENAI",
    ] {
        let said = variable(&format!("ENTOURAGE_{name}"), "hello").1;
        assert!(said.len() == 1 && said[0].starts_with("warning[C006]"), "{said:?}");
    }
}

#[test]
fn a_limit_of_none_at_all_is_an_error_where_nothing_could_be_done() {
    for name in ["steps", "script_seconds", "run_seconds", "message_bytes", "model_attempts"] {
        let said = reports_of(&format!("[limits]\n{name} = 0\n"));
        let expected = format!(
            "error[C004]: setting `limits.{name}` must be a whole number above zero, and not too large\n  at entourage.toml:2:1\nhint: write it as in `{name} = 3`"
        );
        assert_eq!(said, [expected]);
    }
    assert_eq!(
        reports_of("[limits]\ndepth = 0\nchildren_live = 0\nchildren_total = 0\ntool_output_bytes = 0\n"),
        [""; 0]
    );
    assert_eq!(variable("ENTOURAGE_LIMITS_STEPS", "0").1.len(), 1);
    assert_eq!(reports_of("[limits]\nsteps = 99999999999\n").len(), 1);
}

#[test]
fn what_an_untrusted_file_may_not_say_is_placed_at_its_key() {
    let text = "[shell]\nnetwork = true\nsandbox = \"none\"\n[providers.openai]\nstream = true\nbase_url = \"http://x\"\n[signatures]\npolicy = \"none\"\n";
    let (_, reports) = Settings::load(&[file("entourage.toml", text, Trust::Nobody)], &[], Trust::Nobody);
    let mut places: Vec<_> =
        reports.iter().map(|report| format!("{} {}", report.code.0, report.place.as_ref().unwrap())).collect();
    places.sort();
    assert_eq!(places, ["C007 entourage.toml:6:1", "C007 entourage.toml:7:2", "T001 entourage.toml:3:1"]);
}

#[test]
fn a_variable_at_fault_is_reported() {
    assert_eq!(
        variable("ENTOURAGE_LIMIT_DEPTH", "1").1,
        ["warning[C006]: variable `ENTOURAGE_LIMIT_DEPTH` is no setting\nhint: did you mean `ENTOURAGE_LIMITS_DEPTH`?"]
    );
    assert_eq!(
        variable("ENTOURAGE_LIMITS_DEPTH", "deep").1,
        [
            "error[C004]: variable `ENTOURAGE_LIMITS_DEPTH` must be a whole number, neither negative nor too large\nhint: write it as in `ENTOURAGE_LIMITS_DEPTH=3`"
        ]
    );
    assert!(variable("ENTOURAGE_DIALECTS", "dex, agentscop").1[0].ends_with("hint: did you mean `agentscope`?"));
    assert!(
        variable("ENTOURAGE_DIALECTS", "colour").1[0].ends_with("hint: write it as in `ENTOURAGE_DIALECTS=standard`")
    );
}

#[test]
fn variables_of_users_are_read_from_the_project_and_from_the_users_own_file_only_if_the_project_is_trusted() {
    let own = "[env]\nA = \"0\"\n[users.alice.env]\nTOKEN = \"mine\"\n";
    let project = "[env]\nB = \"1\"\n[users.alice.env]\nREGION = \"south\"\n";
    let read = |trust| {
        let files = [file("config.toml", own, Trust::User), file("entourage.toml", project, trust)];
        let (settings, reports) = Settings::load(&files, &[], trust);
        assert_eq!(reports, []);
        assert_eq!(settings.withheld.len(), usize::from(trust == Trust::Nobody));
        let find = |name| settings.variables.find(Some("alice"), name).map(|value| value.reveal().to_owned());
        ["A", "B", "REGION", "TOKEN"].map(find)
    };
    let known = |text: &str| Some(text.to_owned());
    assert_eq!(read(Trust::Nobody), [known("0"), known("1"), known("south"), None]);
    assert_eq!(read(Trust::User), [known("0"), known("1"), known("south"), known("mine")]);
}

#[test]
fn dialects_are_words_that_are_known() {
    let text = "dialects = [\"dex\"]\n[agents.a]\ndialects = []\n[agents.b]\n[agentscope]\ngeneral_purpose = false\n";
    let (settings, reports) = Settings::load(&[file("entourage.toml", text, Trust::Nobody)], &[], Trust::Nobody);
    assert_eq!(reports, []);
    assert_eq!(settings.dialects, [Dialect::Dex]);
    assert_eq!(settings.agent_dialects, BTreeMap::from([("a".to_owned(), Vec::new())]));
    assert!(!settings.general_purpose && Settings::default().general_purpose);
    assert_eq!(Settings::default().dialects, [Dialect::AgentScope]);
    let expected = "must be a list of `standard`, `dex`, `agentscope`";
    assert_eq!(
        reports_of("dialects = [\"dex\", \"dx\"]\n[agents.a]\ndialects = \"dex\"\n"),
        [
            format!("error[C004]: setting `dialects` {expected}\n  at entourage.toml:1:1\nhint: did you mean `dex`?"),
            format!(
                "error[C004]: setting `agents.a.dialects` {expected}\n  at entourage.toml:3:1\nhint: write it as in `dialects = [\"standard\"]`"
            ),
        ]
    );
}

#[test]
fn profile_folders_are_those_of_the_last_who_names_them() {
    let named = |text: &str, name: &str, trust| file(name, &format!("[dex]\nprofile_dirs = [{text}]\n"), trust);
    let files = [named("\"a\"", "config.toml", Trust::User), named("\"b\", \"c\"", "entourage.toml", Trust::Nobody)];
    let folders = |files: &[SettingsFile], variables: &[(String, String)]| {
        let folders = Settings::load(files, variables, Trust::Nobody).0.profile_folders?;
        Some((folders.file, folders.paths.join(" ")))
    };
    let of = |file: Option<&str>, paths: &str| Some((file.map(str::to_owned), paths.to_owned()));
    assert_eq!(folders(&files[..1], &[]), of(Some("config.toml"), "a"));
    assert_eq!(folders(&files, &[]), of(Some("entourage.toml"), "b c"));
    let variable = ("ENTOURAGE_DEX_PROFILE_DIRS".to_owned(), "d, e".to_owned());
    assert_eq!(folders(&files, &[variable]), of(None, "d e"));
    assert_eq!(folders(&[], &[]), None);
}

#[test]
fn only_who_is_trusted_may_switch_the_sandbox_off() {
    use entourage_outside::sandbox::SandboxWish;
    let off = "[shell]\nsandbox = \"none\"\nnetwork = true\n";
    for (trust, variables, expected, reports) in [
        (Trust::Nobody, vec![], SandboxWish::Auto, 1),
        (Trust::User, vec![], SandboxWish::None, 0),
        (Trust::Nobody, vec![("ENTOURAGE_SHELL_SANDBOX".to_owned(), "none".to_owned())], SandboxWish::None, 1),
        (Trust::User, vec![("ENTOURAGE_SHELL_SANDBOX".to_owned(), "landlock".to_owned())], SandboxWish::Landlock, 0),
    ] {
        let (settings, found) = Settings::load(&[file("entourage.toml", off, trust)], &variables, trust);
        assert_eq!((settings.shell.sandbox(), settings.shell.network), (expected, true));
        assert_eq!(found.len(), reports, "{found:?}");
        assert!(
            found.iter().all(|report| report.to_string().starts_with("warning[T001]: `shell.sandbox")),
            "{found:?}"
        );
    }
    assert_eq!(Settings::default().shell, ShellWish::default());
    assert_eq!((ShellWish::default().sandbox(), ShellWish::default().network), (SandboxWish::Auto, false));
}
