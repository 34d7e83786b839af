//! A file that is imported and exported again says the same, key by key and byte by byte.

use super::drawn::{body, name, optional, some_of, text, text_map, text_value, texts, value};
use crate::kit::{exported, lost_by_agent, only_file, toml, yaml};
use entourage_declare::Format;
use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

fn words(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop_oneof![3 => select(words).prop_map(Value::from), 1 => text_value()].boxed()
}

fn count() -> BoxedStrategy<Value> {
    (1..500_u32).prop_map(Value::from).boxed()
}

fn number() -> BoxedStrategy<Value> {
    prop_oneof![(0..128_u8).prop_map(|number| Value::from(f64::from(number) / 64.0)), (0..2_i64).prop_map(Value::from)]
        .boxed()
}

fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

fn object(map: impl Strategy<Value = Map<String, Value>> + 'static) -> BoxedStrategy<Value> {
    map.prop_map(Value::Object).boxed()
}

/// Codex's file, and the keys in it that Codex does not know.
fn codex() -> impl Strategy<Value = (Map<String, Value>, Vec<String>)> {
    let server = optional(vec![
        ("command", text_value()),
        ("args", texts()),
        ("env", text_map()),
        ("url", text_value()),
        ("http_headers", text_map()),
        ("enabled_tools", texts()),
    ]);
    let servers = btree_map(text(), server, 0..3).prop_map(|servers| json!(servers)).boxed();
    let known = optional(vec![
        ("model", text_value()),
        ("model_provider", words(&["openai", "ollama", "mine"])),
        ("model_reasoning_effort", words(&["low", "high", "xhigh"])),
        ("sandbox_mode", words(&["read-only", "workspace-write", "danger-full-access"])),
        ("mcp_servers", servers),
        ("nickname_candidates", texts()),
    ]);
    let free =
        some_of(&["approval_policy", "features", "hooks", "instructions", "skills", "tools", "web_search"], false);
    let unknown = some_of(&["temperature", "max_turns", "ünknown"], false);
    (name(), text(), body(), known, free, unknown).prop_map(|(name, description, body, known, free, unknown)| {
        let lost = unknown.keys().cloned().collect();
        let mut file = unknown;
        file.extend([("name".to_owned(), name.into()), ("description".to_owned(), description.into())]);
        file.extend(free);
        file.extend(known);
        file.insert("developer_instructions".to_owned(), body.into());
        (file, lost)
    })
}

/// A recipe of goose, perhaps within the desktop's file.
fn goose() -> impl Strategy<Value = Value> {
    let settings = optional(vec![
        ("goose_provider", words(&["openai", "google", "databricks"])),
        ("goose_model", text_value()),
        ("temperature", number()),
        ("max_turns", count()),
        ("other", value(true).boxed()),
    ]);
    let extension = (select(&["builtin", "stdio", "sse", "streamable_http", "frontend"][..]), text(), extension_keys());
    let extension = extension.prop_map(|(kind, name, mut keys)| {
        keys.extend([("type".to_owned(), kind.into()), ("name".to_owned(), name.into())]);
        Value::Object(keys)
    });
    let known = optional(vec![
        ("version", words(&["1.0.0"])),
        ("settings", object(settings)),
        ("extensions", proptest::collection::vec(extension, 0..3).prop_map(Value::from).boxed()),
        ("sub_recipes", proptest::collection::vec(sub_recipe(), 0..3).prop_map(Value::from).boxed()),
        ("response", object(optional(vec![("json_schema", value(true).boxed()), ("more", value(true).boxed())]))),
    ]);
    let free = some_of(&["activities", "author", "parameters", "retry", "ünknown"], true);
    let text_keys = prop_oneof![
        (body(), option::of(body())).prop_map(|(instructions, prompt)| (Some(instructions), prompt)),
        body().prop_map(|prompt| (None, Some(prompt))),
    ];
    let around = option::of(some_of(&["name", "isGlobal", "lastModified"], true));
    (name(), text(), text_keys, known, free, around).prop_map(|(title, description, texts, known, free, around)| {
        let mut recipe = free;
        recipe.extend([("title".to_owned(), title.into()), ("description".to_owned(), description.into())]);
        recipe.extend(known);
        recipe.extend(texts.0.map(|text| ("instructions".to_owned(), text.into())));
        recipe.extend(texts.1.map(|text| ("prompt".to_owned(), text.into())));
        match around {
            None => Value::Object(recipe),
            Some(mut file) => {
                file.insert("recipe".to_owned(), Value::Object(recipe));
                Value::Object(file)
            }
        }
    })
}

fn sub_recipe() -> impl Strategy<Value = Value> {
    (name(), optional(vec![("path", text_value()), ("values", value(true).boxed())])).prop_map(|(name, mut keys)| {
        keys.insert("name".to_owned(), name.into());
        Value::Object(keys)
    })
}

fn extension_keys() -> impl Strategy<Value = Map<String, Value>> {
    optional(vec![
        ("cmd", text_value()),
        ("args", texts()),
        ("envs", text_map()),
        ("uri", text_value()),
        ("available_tools", texts()),
        ("timeout", value(true).boxed()),
    ])
}

/// A file of Docker Agent.
fn docker_agent() -> impl Strategy<Value = Value> {
    let toolset = optional(vec![
        ("type", words(&["filesystem", "shell", "mcp", "think", "script"])),
        ("tools", texts()),
        ("readonly", flag()),
        ("command", text_value()),
        ("ref", words(&["docker:github", "shared"])),
        ("remote", object(optional(vec![("url", text_value()), ("headers", text_map())]))),
        ("instruction", value(true).boxed()),
    ]);
    let agent = optional(vec![
        ("model", words(&["big", "openai/gpt-5"])),
        ("description", text_value()),
        ("instruction", body().prop_filter("empty", |text| !text.is_empty()).prop_map(Value::from).boxed()),
        ("toolsets", proptest::collection::vec(object(toolset), 0..3).prop_map(Value::from).boxed()),
        ("sub_agents", proptest::collection::vec(words(&["a", "b", "org/repo"]), 0..3).prop_map(Value::from).boxed()),
        ("max_iterations", (0..50_u32).prop_map(Value::from).boxed()),
        ("readonly", flag()),
        ("skills", value(true).boxed()),
        ("fallback", object(optional(vec![("models", texts()), ("cooldown", text_value())]))),
        ("structured_output", object(optional(vec![("schema", value(true).boxed()), ("strict", flag())]))),
    ]);
    let free = some_of(&["hooks", "add_date", "welcome_message", "commands", "handoffs", "safety"], true);
    let agent = (agent, free).prop_map(|(mut agent, free)| {
        agent.extend(free);
        Value::Object(agent)
    });
    let agents =
        proptest::collection::vec((name(), agent), 1..4).prop_map(|agents| Value::Object(agents.into_iter().collect()));
    let model = optional(vec![
        ("provider", words(&["openai", "google", "mine"])),
        ("model", text_value()),
        ("temperature", number()),
        ("thinking_budget", words(&["high"])),
        ("provider_opts", value(true).boxed()),
    ]);
    let shared = optional(vec![
        ("version", words(&["15", "2"])),
        ("models", btree_map(select(&["big", "small"][..]), model, 0..2).prop_map(|models| json!(models)).boxed()),
        (
            "mcps",
            btree_map(Just("shared"), optional(vec![("command", text_value())]), 0..2).prop_map(|it| json!(it)).boxed(),
        ),
        ("metadata", object(optional(vec![("author", text_value()), ("tags", texts())]))),
        ("permissions", object(optional(vec![("allow", texts()), ("deny", texts())]))),
    ]);
    (shared, some_of(&["runtime", "flavors", "providers", "rag"], true), agents).prop_map(|(shared, free, agents)| {
        let mut file = free;
        file.extend(shared);
        file.insert("agents".to_owned(), agents);
        Value::Object(file)
    })
}

proptest! {
    #[test]
    fn a_file_of_codex_comes_back_without_what_codex_would_refuse((file, unknown) in codex()) {
        let name = file["name"].as_str().unwrap_or_default().to_owned();
        let text = ::toml::to_string(&file).expect("the file is TOML");
        let written = exported(".codex/agents/x.toml", &text, Format::Codex);
        let mut expected = file;
        expected.retain(|key, _| !unknown.contains(key));
        prop_assert_eq!(toml(only_file(&written).1), Value::Object(expected));
        let mut unknown: Vec<_> = unknown.into_iter().map(|key| format!("{name} {key}")).collect();
        unknown.sort();
        prop_assert_eq!(lost_by_agent(&written), unknown);
    }

    #[test]
    fn a_recipe_of_goose_comes_back_whole(recipe in goose()) {
        let written = exported("recipes/x.json", &recipe.to_string(), Format::Goose);
        prop_assert_eq!(yaml(only_file(&written).1), recipe);
        prop_assert_eq!(lost_by_agent(&written), Vec::<String>::new());
    }

    #[test]
    fn a_file_of_docker_agent_comes_back_whole_and_in_order(file in docker_agent()) {
        let written = exported("x.json", &file.to_string(), Format::DockerAgent);
        let back = yaml(only_file(&written).1);
        prop_assert_eq!(&back, &file);
        let order = |file: &Value| file["agents"].as_object().map(|agents| agents.keys().cloned().collect::<Vec<_>>());
        prop_assert_eq!(order(&back), order(&file));
        prop_assert_eq!(lost_by_agent(&written), Vec::<String>::new());
    }
}
