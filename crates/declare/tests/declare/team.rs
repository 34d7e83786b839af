//! What is in the team when all is well.

use super::{files, lines, load, load_with, names, project, text, tools};
use entourage_declare::{Loaded, MemoryFiles, Tools, Wishes};
use entourage_model::{
    Agent, Binding, ChildEntry, Communication, Dialect, Kind, Name, Resumable, Side, ToolChoice, ToolEntry,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn clean(text: &str) -> Loaded {
    let loaded = project(text);
    assert_eq!(lines(&loaded), [""; 0]);
    loaded
}

fn agent(loaded: &Loaded, name: &str) -> Arc<Agent> {
    Arc::clone(&loaded.team.agents[name])
}

/// The example of the specification, completed with the prompts that it names.
const SEED: &str = r#"
-- agents/agents/asset_subagent.json
{
  "name": "asset_subagent",
  "type": "dual_ai",
  "maxSessionTurns": 40,
  "exposeAsTool": true,
  "toolDescription": "Generate and QA top-down game assets.",
  "sideA": {
    "label": "Worker",
    "prompt": "asset_worker",
    "stopOnResponse": true,
    "sessionFail": { "name": "fail_asset", "messageProperty": "reason", "attachmentsProperty": "attachments" }
  },
  "sideB": {
    "label": "Reviewer",
    "prompt": "asset_reviewer",
    "stopOnResponse": false,
    "sessionStop": { "name": "approve_asset", "messageProperty": "summary", "attachmentsProperty": "attachments" },
    "sessionStatus": { "name": "update_asset_status", "messageProperty": "status" }
  }
}
-- agents/prompts/asset_worker.json
{ "name": "asset_worker", "toolDescription": "Makes assets.", "prompt": "Make the asset.", "model": "openai:gpt-5",
  "tools": ["fail_asset"] }
-- agents/prompts/asset_reviewer.json
{ "name": "asset_reviewer", "toolDescription": "Reviews assets.", "prompt": "Review the asset.", "model": "openai:gpt-5",
  "tools": ["approve_asset", "update_asset_status"] }
"#;

#[test]
fn the_example_of_the_specification_loads_clean() {
    let loaded = clean(SEED);
    let agent = agent(&loaded, "asset_subagent");
    assert_eq!((agent.kind, agent.session_turns_max, agent.expose_as_tool), (Kind::DualAi, Some(40), true));
    assert_eq!(agent.pitch(), "Generate and QA top-down game assets.");
    assert_eq!(agent.source.format, "standard-agents");
    assert_eq!(agent.source.file.as_deref(), Some("agents/agents/asset_subagent.json"));
    let side_b = agent.side_b.as_ref().unwrap();
    assert_eq!((agent.side_a.stop_on_response, side_b.stop_on_response), (true, false));
    assert_eq!((agent.side_a.label.as_deref(), side_b.label.as_deref()), (Some("Worker"), Some("Reviewer")));
    assert_eq!(text(&side_b.prompt.instructions), "Review the asset.");
    assert_eq!(side_b.prompt.model.as_ref().unwrap().as_str(), "openai:gpt-5");
    let binding = |tool: &str, message: &str, attachments: Option<&str>| Binding {
        tool: Name::from(tool),
        message_property: Some(message.to_owned()),
        attachments_property: attachments.map(str::to_owned),
    };
    assert_eq!(agent.side_a.session_fail, Some(binding("fail_asset", "reason", Some("attachments"))));
    assert_eq!(side_b.session_stop, Some(binding("approve_asset", "summary", Some("attachments"))));
    assert_eq!(side_b.session_status, Some(binding("update_asset_status", "status", None)));
}

#[test]
fn lead_has_every_tool_and_every_exposed_agent_if_it_speaks_standard() {
    let wishes = Wishes { dialects: vec![Dialect::Standard], ..Wishes::default() };
    let loaded = load_with(
        &files(
            &(SEED.to_owned()
                + r#"
-- agents/agents/hidden.json
{"name": "hidden", "type": "dual_ai", "sideA": {"prompt": "asset_worker"}, "sideB": {"prompt": "asset_worker"}}
-- agents/agents/person.json
{"name": "person", "exposeAsTool": true, "sideA": {"prompt": "asset_worker"}}
"#),
        ),
        &tools(),
        &wishes,
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let lead = agent(&loaded, "lead");
    assert_eq!((lead.kind, &lead.source.file), (Kind::AiHuman, &None));
    assert!(lead.side_a.stop_on_response && lead.side_a.prompt.include_chat && lead.side_a.prompt.include_past_tools);
    assert!(text(&lead.side_a.prompt.instructions).starts_with("You lead"));
    let offered = &lead.side_a.prompt.tools;
    let child = |name: &str| ToolEntry::Child(ChildEntry::blocking(Name::from(name)));
    assert!(tools().names().into_iter().map(ToolEntry::Tool).all(|tool| offered.contains(&tool)), "{offered:?}");
    assert!(offered.contains(&child("asset_subagent")), "{offered:?}");
    assert!(!offered.contains(&child("hidden")) && !offered.contains(&child("person")), "{offered:?}");
}

#[test]
fn lead_does_what_the_project_says() {
    let lead = |said: &str| text(&agent(&clean(&format!("-- AGENTS.md\n{said}")), "lead").side_a.prompt.instructions);
    assert_eq!(lead("\u{feff}Be brief.\n"), "Be brief.\n");
    assert!(lead(" \n").starts_with("You lead"));
}

#[test]
fn a_declared_lead_takes_the_place_of_ours_even_when_it_is_broken() {
    let declared = |fields: &str| project(&format!("-- agents/agents/x.json\n{{\"name\": \"lead\"{fields}}}\n"));
    assert_eq!(names(&declared("")), [""; 0]);
    assert!(!declared("").team.agents.contains_key("lead"));
    let loaded = clean(
        r#"
-- agents/agents/x.json
{"name": "lead", "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "Mine."}
"#,
    );
    assert_eq!(text(&agent(&loaded, "lead").side_a.prompt.instructions), "Mine.");
}

#[test]
fn a_prompt_is_its_parts_with_what_they_include_and_has_the_defaults_of_the_specification() {
    let loaded = clean(
        r#"
-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": [{"type": "text", "content": "One. "}, {"type": "include", "prompt": "q"},
  {"type": "env", "property": "X"}, {"type": "include", "prompt": "r"}]}
-- agents/prompts/q.json
{"name": "q", "prompt": [{"type": "include", "prompt": "r"}, {"type": "text", "content": "Three. "}]}
-- agents/prompts/r.json
{"name": "r", "prompt": "Two. "}
"#,
    );
    let side = &agent(&loaded, "a").side_a;
    assert!(side.stop_on_response);
    let prompt = &side.prompt;
    assert_eq!(text(&prompt.instructions), "One. Two. Three. Two. ");
    assert_eq!((&prompt.model, prompt.include_chat, prompt.include_past_tools), (&None, false, false));
    assert_eq!((prompt.parallel_tool_calls, prompt.tool_choice), (None, ToolChoice::Auto));
}

#[test]
fn children_are_started_as_their_entry_says() {
    let loaded = clean(
        r#"
-- agents/agents/boss.json
{"name": "boss", "sideA": {"prompt": "boss"}}
-- agents/agents/one.json
{"name": "one", "type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}}
-- agents/agents/two.json
{"name": "two", "type": "dual_ai", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": ""}
-- agents/prompts/boss.json
{"name": "boss", "prompt": "", "tools": [{"name": "one"}, {"name": "two", "blocking": false,
  "initUserMessageProperty": "m", "initAttachmentsProperty": "f", "initAgentNameProperty": "n",
  "resumable": {"receives_messages": "side_b", "maxInstances": 2, "parentCommunication": "explicit"}}]}
"#,
    );
    let text = |text: &str| Some(text.to_owned());
    let one = ChildEntry::blocking(Name::from("one"));
    let two = ChildEntry {
        blocking: false,
        message_property: text("m"),
        attachments_property: text("f"),
        name_property: text("n"),
        resumable: Some(Resumable {
            receives: Side::B,
            instances_max: Some(2),
            communication: Communication::Explicit,
        }),
        ..ChildEntry::blocking(Name::from("two"))
    };
    let boss = agent(&loaded, "boss");
    assert_eq!(boss.side_a.prompt.children().collect::<Vec<_>>(), [&one, &two]);
}

#[test]
fn what_has_no_place_is_kept_under_its_own_keys() {
    let loaded = project(
        r#"
-- agents/agents/a.json
{"name": "a", "type": "ai_human", "icon": "i", "primary": false, "colour": ["red"], "sideB": {"prompt": "none"},
 "sideA": {"prompt": "p", "mood": 1, "sessionStop": {"name": "approve_asset", "x": null}}}
-- agents/agents/c.json
{"name": "c", "type": "dual_ai", "sideA": {"prompt": "q"}, "sideB": {"prompt": "q"}}
-- agents/prompts/p.json
{"name": "p", "toolDescription": "t", "prompt": [{"type": "env", "property": "X"}],
 "reasoning": {"effort": "low", "exclude": true},
 "tools": ["approve_asset", {"name": "c", "immediate": true, "optional": "FLAG", "extra": 1}, "provider:files"]}
-- agents/prompts/q.json
{"name": "q", "prompt": ""}
"#,
    );
    let expected = json!({
        "icon": "i", "primary": false, "colour": ["red"], "sideB": {"prompt": "none"},
        "sideA": {
            "mood": 1,
            "sessionStop": {"x": null},
            "prompt": {
                "toolDescription": "t",
                "prompt": [{"type": "env", "property": "X"}],
                "reasoning": {"exclude": true},
                "tools": {"c": {"extra": 1}, "provider:files": "provider:files"},
            },
        },
    });
    assert_eq!(Value::Object(agent(&loaded, "a").extra.clone()), expected);
}

/// A toolbox where `read` is another name of `read_file`.
#[derive(Debug)]
struct Aliased;

impl Tools for Aliased {
    fn canonical(&self, name: &str) -> Option<Name> {
        matches!(name, "read" | "read_file").then(|| Name::from("read_file"))
    }

    fn names(&self) -> Vec<Name> {
        vec![Name::from("read_file")]
    }
}

#[test]
fn an_alias_becomes_the_name_of_its_tool() {
    let files = MemoryFiles::from_iter([
        (
            "agents/agents/a.json",
            r#"{"name": "a", "sideA": {"prompt": "p", "sessionStop": "read_file", "stopTool": "read"}}"#,
        ),
        ("agents/prompts/p.json", r#"{"name": "p", "prompt": "", "tools": ["read"]}"#),
    ]);
    let loaded = load(&files, &Aliased);
    assert_eq!(lines(&loaded), [""; 0]);
    let agent = agent(&loaded, "a");
    assert_eq!(agent.side_a.prompt.tools, [ToolEntry::Tool(Name::from("read_file"))]);
    assert_eq!(agent.side_a.session_stop.as_ref().unwrap().tool.as_str(), "read_file");
    assert_eq!(agent.side_a.stop_tool.as_ref().unwrap().as_str(), "read_file");
}

#[test]
fn a_declared_name_comes_before_an_alias() {
    let files = MemoryFiles::from_iter([
        ("agents/agents/a.json", r#"{"name": "a", "sideA": {"prompt": "p"}}"#),
        (
            "agents/agents/b.json",
            r#"{"name": "read", "type": "dual_ai", "sideA": {"prompt": "q"}, "sideB": {"prompt": "q"}}"#,
        ),
        ("agents/prompts/p.json", r#"{"name": "p", "prompt": "", "tools": ["read"]}"#),
        ("agents/prompts/q.json", r#"{"name": "q", "prompt": ""}"#),
    ]);
    let loaded = load(&files, &Aliased);
    assert_eq!(lines(&loaded), [""; 0]);
    let child = ToolEntry::Child(ChildEntry::blocking(Name::from("read")));
    assert_eq!(agent(&loaded, "a").side_a.prompt.tools, [child]);
}

#[test]
fn a_team_survives_being_stored() {
    let team = clean(SEED).team;
    let stored = serde_json::to_string(&team).unwrap();
    assert_eq!(serde_json::from_str::<entourage_model::Team>(&stored).unwrap(), team);
}
