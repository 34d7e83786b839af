//! Declarations in settings files, and what settings say of agents.

use super::{agent, body, check, declared, lines, project, project_with};
use entourage_declare::Wishes;
use entourage_model::Dialect;
use serde_json::json;
use std::collections::BTreeMap;

/// One declaration in the project's settings; `@` stands for where it is.
fn one(table: &str, expected: &[&str]) -> entourage_declare::Loaded {
    let text = format!("-- entourage.toml\n[subagents.far]\n{table}");
    let expected: Vec<_> = expected.iter().map(|line| line.replace("@", "entourage.toml:")).collect();
    check(&text, &expected.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_table_is_a_declaration_with_the_same_keys_and_its_text_as_body() {
    let loaded = one(
        "description = 'd'\nbody = \"You are far.\\n\"\nmaxIters = '4'\nworkspace = { mode = 'shared' }\nmodel = 'openai:x'\n",
        &[],
    );
    let far = agent(&loaded, "far");
    assert_eq!((body(&far).as_str(), far.side_a.steps_max), ("You are far.\n", Some(4)));
    assert_eq!(
        far.extra["x-agentscope"],
        json!({ "description": "d", "maxIters": "4", "workspace": { "mode": "shared" }, "model": "openai:x" })
    );
}

#[test]
fn a_variable_sets_one_key_of_a_declaration_or_makes_one() {
    let subagents = BTreeMap::from([
        ("far".to_owned(), json!({ "description": "new", "workspace": { "mode": "shared" } })),
        ("near".to_owned(), json!({ "description": "Near.", "body": "You are near.\n" })),
        ("bare".to_owned(), json!({ "body": "x" })),
    ]);
    let files = ["user.toml", "entourage.toml"];
    let text = |body: &str| format!("[subagents.far]\ndescription = 'old'\nbody = '{body}'\n");
    let files = files.map(|name| (name.to_owned(), text(name))).to_vec();
    let loaded = project_with("-- x\n", Wishes { subagents, files, ..Wishes::default() });
    let far = agent(&loaded, "far");
    assert_eq!(body(&far), "entourage.toml", "the last file's declaration is meant");
    assert_eq!(far.extra["x-agentscope"], json!({ "description": "new", "workspace": { "mode": "shared" } }));
    assert_eq!(body(&agent(&loaded, "near")), "You are near.\n");
    let missing = "error[D005] ENTOURAGE_SUBAGENTS_*:1:1 `subagents.bare.description` is missing | add `description`";
    assert!(lines(&loaded).contains(&missing.to_owned()), "{:?}", lines(&loaded));
}

#[test]
fn a_declaration_needs_a_name_and_a_description() {
    one("", &["error[D005] @1:12 `subagents.far.description` is missing | add `description`"]);
    one(
        "description = ''\n",
        &[
            "error[D006] @2:1 `subagents.far.description` must be a text that is not blank, not the string `` | write a text that is not blank",
        ],
    );
    let loaded = project("-- entourage.toml\n[subagents.' ']\ndescription = 'd'\n");
    assert_eq!(
        lines(&loaded),
        ["error[D089] entourage.toml:1:12 ` ` cannot be the id of a subagent | use letters, digits, `-` and `_`"]
    );
}

#[test]
fn an_agent_is_its_own_text_a_folder_or_a_server() {
    let (text, folder, server) = ("body = 'x'\n", "workspace.path = 'defs'\n", "url = 'http://h'\n");
    let hint = "an agent is its own text, a folder, or a server: keep one of them";
    let excluded = |line: u32, first: &str, second: &str| {
        format!(
            "error[D088] @{line}:1 `subagents.far.{first}` and `subagents.far.{second}` exclude each other | {hint}"
        )
    };
    let case = |keys: &[&str], reports: &[String]| {
        let table = format!("description = 'd'\n{}", keys.concat());
        one(&table, &reports.iter().map(String::as_str).collect::<Vec<_>>())
    };
    case(&[], &[]);
    case(&[text], &[]);
    case(&[folder], &[]);
    case(&[server], &[]);
    case(&[server, "body = ' '\n", "workspace.mode = 'shared'\n"], &[]);
    case(&["url = ' '\n", text], &[]);
    case(&[server, folder], &[excluded(4, "url", "workspace.path")]);
    case(&[server, text], &[excluded(4, "url", "body")]);
    case(&[folder, text], &[excluded(4, "workspace.path", "body")]);
    let all = [excluded(4, "url", "workspace.path"), excluded(5, "url", "body"), excluded(5, "workspace.path", "body")];
    case(&[server, folder, text], &all);
}

#[test]
fn a_server_has_an_address_and_headers_that_can_be_sent() {
    let address = |url: &str| {
        let shown = url.escape_debug();
        format!(
            "error[D092] @3:1 `subagents.far.url` is `{shown}`, which is no address of a server | begin it with `http://` or `https://`"
        )
    };
    for url in ["http://bob:pw@h", "https://bob@h/x", "http://h/x?key=k", "http://h#k"] {
        let whole = "error[D092] @3:1 `subagents.far.url` has more than the address of a server | put what lets us in into \
                     `headers`, as `${NAME}`; nothing may follow the path";
        one(&format!("description = 'd'\nurl = '{url}'\n"), &[whole]);
    }
    for url in ["ftp://h", "h:80", "http://", "http:///x", "https://?q", "http://a b", "//h"] {
        one(&format!("description = 'd'\nurl = \"{url}\"\n"), &[&address(url)]);
    }
    let header = |name: &str| {
        format!(
            "error[D092] @4:1 `subagents.far.headers.{name}` cannot be sent as a header | a name is letters, digits and \
             `-`, a value one line of text"
        )
    };
    let with = |headers: &str| format!("description = 'd'\nurl = 'http://h'\nheaders.{headers}\n");
    one(&with("'a b' = 'x'"), &[&header("a b").replace("@4:1", "@4:9")]);
    one(&with("Authorization = \"x\\r\\nHost: evil\""), &[&header("Authorization").replace("@4:1", "@4:9")]);
    one(
        &with("A = ['x']"),
        &["error[D006] @4:9 `subagents.far.headers.A` must be a string, not an array | write a string"],
    );
    one(
        "description = 'd'\nheaders = { A = 'x' }\n",
        &["warning[D091] @3:1 `subagents.far.headers` has no effect without `url` | add `url`, or remove it"],
    );
}

#[test]
fn header_values_that_are_written_out_are_in_no_agent() {
    let secret = "sk-0123456789abcdefghij";
    let told = "warning[D093] @4:13 `subagents.far.headers.X-Api-Key` looks like a secret that is written out | keep it in a \
                variable, and write `${NAME}` here";
    let loaded = one(
        &format!(
            "description = 'd'\nurl = 'http://h/base'\nheaders = {{ X-Api-Key = '{secret}', Authorization = 'Bearer ${{TOKEN}}', Team = 'blue' }}\n"
        ),
        &[told],
    );
    let far = agent(&loaded, "far");
    let remote = far.remote.as_ref().unwrap();
    assert_eq!(remote.url, "http://h/base");
    assert_eq!(remote.headers, BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]));
    let kept: Vec<_> = loaded.headers["far"].iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(kept, [("Team", "blue"), ("X-Api-Key", secret)]);
    let stored = serde_json::to_string(&loaded.team).unwrap();
    assert!(!stored.contains(secret) && !stored.contains("blue") && stored.contains("${TOKEN}"));
    assert!(!format!("{loaded:?}").contains(secret));
}

#[test]
fn files_count_before_settings_and_the_projects_settings_before_the_users() {
    let table = |file: &str, mark: &str| format!("-- {file}\n[subagents.kid]\ndescription = '{mark}'\n");
    let user = table("~/.config/entourage/config.toml", "user");
    let own = table("entourage.toml", "own");
    let file = "-- subagents/kid.md\n---\ndescription: file\n---\n";
    let loaded = check(&format!("{user}{own}"), &[]);
    assert_eq!(agent(&loaded, "kid").description, "own");
    let told = "warning[D084] subagents/kid.md:1:1 agent `kid` is declared twice: in `entourage.toml` and in \
                `subagents/kid.md` | give one of them another name; until then `subagents/kid.md` counts";
    let loaded = check(&format!("{user}{own}{file}"), &[told]);
    assert_eq!(declared(&loaded), ["kid agentscope subagents/kid.md"]);
}

#[test]
fn a_server_of_one_file_never_meets_the_headers_of_another() {
    let loaded = check(
        "
-- ~/.config/entourage/config.toml
[subagents.far]
description = 'mine'
url = 'https://mine'
headers = { Authorization = 'Bearer xxx' }
-- entourage.toml
[subagents.far]
description = 'theirs'
url = 'https://theirs'
",
        &[],
    );
    assert_eq!(agent(&loaded, "far").remote.as_ref().unwrap().url, "https://theirs");
    assert!(loaded.headers.is_empty());
}

#[test]
fn ids_lead_nowhere_else() {
    for id in ["../x", "a/b", "..", ".x", "a\\\\b", "c:", "\\u0000", "tools"] {
        let loaded = project(&format!("-- entourage.toml\n[subagents.\"{id}\"]\ndescription = 'd'\n"));
        assert_eq!(loaded.reports.len(), 1, "{id}");
        assert_eq!(loaded.reports[0].code.0, "D089", "{id}");
        assert_eq!(declared(&loaded), [""; 0], "{id}");
    }
}

#[test]
fn what_is_no_toml_or_no_table_is_told_elsewhere() {
    check("-- entourage.toml\n[subagents.x\n", &[]);
    check("-- entourage.toml\nsubagents = 1\nagents = []\n", &[]);
    check("-- entourage.toml\n[subagents]\nx = 1\n[agents]\ny = 2\n", &[]);
}

#[test]
fn an_agents_dialects_are_those_of_the_settings() {
    let text = "
-- entourage.toml
[agents.digger]
dialects = ['agentscope']
[agents.diger]
dialects = ['dex']
[agents.broken]
-- subagents/digger.md
---
description: d
---
-- subagents/broken.md
---
tools: []
---
";
    let of = |name: &str, dialects: &[Dialect]| (name.to_owned(), dialects.to_vec());
    let loaded = project_with(
        text,
        Wishes {
            dialects: vec![Dialect::Dex, Dialect::AgentScope],
            agent_dialects: [of("digger", &[Dialect::AgentScope]), of("diger", &[Dialect::Dex]), of("coder", &[])]
                .into(),
            ..Wishes::default()
        },
    );
    assert_eq!(
        lines(&loaded),
        [
            "warning[D098] the settings speak of agent `coder`, which is not declared | did you mean `coding`?",
            "warning[D098] entourage.toml:3:9 the settings speak of agent `diger`, which is not declared | did you mean `digger`?",
            "error[D005] subagents/broken.md:2:1 `description` is missing | add `description`",
        ]
    );
    assert_eq!(agent(&loaded, "digger").dialects, [Dialect::AgentScope]);
    assert_eq!(agent(&loaded, "lead").dialects, [Dialect::Dex, Dialect::AgentScope]);
    assert_eq!(agent(&loaded, "coding").dialects, []);
}
