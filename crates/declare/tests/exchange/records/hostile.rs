//! Whatever a file holds, importing it ends well, and so does exporting what came of it.

use crate::kit::{page, team};
use entourage_declare::{Format, export, import};
use entourage_model::{Name, Severity};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// Words that mean something somewhere, drawn often as keys and as texts.
const WORDS: &str = "name title description instructions prompt developer_instructions instruction instruction_file recipe \
                     settings goose_model goose_provider temperature max_turns extensions type builtin stdio sse cmd uri envs \
                     response json_schema sub_recipes path agents models big model provider toolsets filesystem shell mcp \
                     ref remote url headers command args env tools readonly sub_agents file version metadata permissions \
                     structured_output schema fallback skills max_iterations mcp_servers model_provider sandbox_mode \
                     read-only config_file http_headers around a";

fn word() -> impl Strategy<Value = String> {
    let words: Vec<_> = WORDS.split_whitespace().map(str::to_owned).collect();
    prop_oneof![8 => select(words), 1 => super::drawn::text()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => (0..3_u64).prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        5 => word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let entries = vec((word(), inner.clone()), 0..6).prop_map(|entries| entries.into_iter().collect::<Map<_, _>>());
        prop_oneof![1 => vec(inner, 0..4).prop_map(Value::from), 4 => entries.prop_map(Value::Object)]
    })
}

/// Takes a file for one of `format`, and holds what is promised of every file.
fn check(path: &str, text: &str, format: Option<Format>) {
    let imported = import(path, text.as_bytes(), format);
    let has_error = imported.reports.iter().any(|report| report.severity == Severity::Error);
    assert!(has_error || !imported.agents.is_empty() || text_is_bare(text), "nothing is left out in silence: {text}");
    for report in &imported.reports {
        assert!(report.place.is_some(), "{report}");
    }
    for agent in &imported.agents {
        page(&agent.text);
        assert!(!agent.path.contains("..") && agent.path.starts_with(".agents/agents/"), "{}", agent.path);
    }
    let team = team(&imported);
    let names: Vec<Name> = team.agents.keys().cloned().collect();
    for to in Format::ALL.into_iter().filter(|to| *to != Format::StandardAgents) {
        // Two names may become one, which is an error.
        for (path, _) in export(&team, &names, to).unwrap_or_default().files {
            assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path}");
        }
    }
}

/// Whether it may be a configuration without any agent, or a team without members.
fn text_is_bare(text: &str) -> bool {
    text.contains("agents")
}

proptest! {
    #[test]
    fn a_value_of_any_shape_is_read_or_reported(value in value()) {
        let text = value.to_string();
        check("x.json", &text, Some(Format::Goose));
        check("x.yaml", &text, Some(Format::DockerAgent));
        if let Ok(text) = ::toml::to_string(&value) {
            check("x.toml", &text, Some(Format::Codex));
        }
    }

    #[test]
    fn text_of_any_kind_is_read_or_reported(text in "([a-z_]{1,8}( = |: )|[\\[\\]{}\"'|>&*!%@#, \n\r\t0-9é-]|---\n|\"\"\")*") {
        for (path, format) in [
            ("x.toml", Format::Codex), ("x.yaml", Format::Goose), ("x.yaml", Format::DockerAgent), ("x.json", Format::Goose),
        ] {
            check(path, &text, Some(format));
        }
        for path in ["x.toml", "x.yaml", "x.json", "x.md", "x"] {
            check(path, &text, None);
        }
    }
}
