//! An agent of Standard Agents has two sides, and every other format one.

use crate::kit::{export_all, lines, loaded, lost_by_agent, only_file, page};
use entourage_declare::{Format, MemoryFiles, export};
use entourage_model::{
    Agent, Binding, ChildEntry, Communication, HandoffEntry, Instructions, Kind, ModelRef, Name, Part, Prompt,
    Reasoning, Resumable, Side, SideConfig, Source, Team, ToolChoice, ToolEntry,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn team(agent: Agent) -> Team {
    let mut team = Team::default();
    team.agents.insert(agent.name.clone(), Arc::new(agent));
    team
}

fn plain() -> Agent {
    let mut prompt = Prompt::new(Name::from("p"), "You review.\n");
    prompt.include_chat = false;
    prompt.include_past_tools = false;
    prompt.tools = vec![ToolEntry::Tool(Name::from("read_file")), ToolEntry::Tool(Name::from("grep_files"))];
    prompt.model = ModelRef::parse("anthropic:claude-opus-4-1");
    let source = Source { format: "standard-agents".to_owned(), file: None };
    Agent::one_sided(Name::from("reviewer"), "Reviews", prompt, source)
}

#[test]
fn what_one_side_can_say_is_written() {
    let mut agent = plain();
    agent.side_a.steps_max = Some(9);
    let written = export_all(&team(agent), Format::ClaudeCode);
    let (keys, body) = page(only_file(&written).1);
    let expected = json!({
        "name": "reviewer", "description": "Reviews", "tools": ["Read", "Grep"], "model": "claude-opus-4-1", "maxTurns": 9
    });
    assert_eq!(Value::Object(keys), expected);
    assert_eq!(body, "You review.\n");
    assert_eq!(lost_by_agent(&written), Vec::<String>::new());
}

#[test]
fn an_agent_without_tools_does_not_get_all_of_them() {
    let mut agent = plain();
    agent.side_a.prompt.tools = Vec::new();
    let written = export_all(&team(agent.clone()), Format::ClaudeCode);
    assert_eq!(page(only_file(&written).1).0["tools"], json!([]));
    let written = export_all(&team(agent), Format::Cursor);
    assert_eq!(lost_by_agent(&written), ["reviewer tools"]);
}

/// One that says everything that only Standard Agents has a word for.
fn talkative() -> Agent {
    let mut agent = plain();
    let bind =
        |tool: &str| Some(Binding { tool: Name::from(tool), message_property: None, attachments_property: None });
    agent.kind = Kind::DualAi;
    agent.side_b = Some(SideConfig::new(Prompt::new(Name::from("q"), "You answer.")));
    agent.session_turns_max = Some(4);
    agent.tool_description = Some("Call me".to_owned());
    agent.env.insert("A".to_owned(), "b".to_owned());
    agent.hooks.push(Name::from("h"));
    agent.extra = json!({ "icon": "x", "sideA": { "odd": 1, "prompt": {
        "recentImageThreshold": 3, "prompt": [], "model": { "name": "m", "inputPrice": 2 }
    } } })
    .as_object()
    .cloned()
    .unwrap_or_default();
    let side = &mut agent.side_a;
    side.label = Some("Reviewer".to_owned());
    side.stop_on_response = false;
    side.stop_tool = Some(Name::from("read_file"));
    side.stop_tool_response_property = Some("x".to_owned());
    side.session_stop = bind("read_file");
    side.session_fail = bind("read_file");
    side.session_status = bind("read_file");
    let prompt = &mut side.prompt;
    prompt.instructions = Instructions(vec![Part::Text("In ".into()), Part::Env("REGION".to_owned())]);
    prompt.include_chat = true;
    prompt.include_past_tools = true;
    prompt.parallel_tool_calls = Some(true);
    prompt.tool_choice = ToolChoice::Required;
    prompt.required_schema = Some(json!({ "type": "object" }));
    prompt.reasoning = Some(Reasoning { effort: Some("high".to_owned()), tokens_max: Some(100) });
    prompt.tools.push(ToolEntry::Child(ChildEntry {
        blocking: false,
        optional: Some("FLAG".to_owned()),
        name_property: Some("n".to_owned()),
        resumable: Some(Resumable { receives: Side::A, instances_max: None, communication: Communication::Implicit }),
        ..ChildEntry::blocking(Name::from("fixer"))
    }));
    prompt.tools.push(ToolEntry::Handoff(HandoffEntry::new(Name::from("other"))));
    prompt.provider_options.insert("seed".to_owned(), 1.into());
    agent
}

#[test]
fn everything_else_is_named_as_standard_agents_spells_it() {
    let written = export_all(&team(talkative()), Format::ClaudeCode);
    let (keys, body) = page(only_file(&written).1);
    assert_eq!(keys["effort"], "high");
    assert_eq!(keys["tools"], json!(["Read", "Grep", "Agent(fixer)"]));
    assert_eq!(body, "In ${REGION}");
    let fields: Vec<_> = written.losses.iter().map(|loss| loss.field.as_str()).collect();
    let expected = [
        "env",
        "hooks",
        "icon",
        "includeChat",
        "includePastTools",
        "maxSessionTurns",
        "model.inputPrice",
        "parallelToolCalls",
        "prompt",
        "providerOptions",
        "reasoning.maxTokens",
        "recentImageThreshold",
        "requiredSchema",
        "sideA.label",
        "sideA.odd",
        "sideA.sessionFail",
        "sideA.sessionStatus",
        "sideA.sessionStop",
        "sideA.stopOnResponse",
        "sideA.stopTool",
        "sideA.stopToolResponseProperty",
        "sideB",
        "toolChoice",
        "toolDescription",
        "tools",
        "tools.blocking",
        "tools.initAgentNameProperty",
        "tools.optional",
        "tools.resumable",
        "type",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn what_a_side_says_of_its_children_is_named_as_it_is_spelt_and_only_if_it_is_said() {
    let lost = |entry: &str, to: Format| {
        let entry =
            format!(r#"{{"name": "boss", "sideA": {{"prompt": "p", "subagents": [{{"agent": "kid"{entry}}}]}}}}"#);
        let kid = r#"{"name": "kid", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"}}"#;
        let loaded = loaded(&MemoryFiles::from_iter([
            ("agents/agents/boss.json", entry.as_str()),
            ("agents/agents/kid.json", kid),
            (
                "agents/prompts/p.json",
                r#"{"name": "p", "toolDescription": "t", "prompt": "x", "model": "openai:gpt-5"}"#,
            ),
        ]));
        let written = export(&loaded.team, &[Name::from("boss")], to).map_err(|reports| lines(&reports)).unwrap();
        let fields = written
            .losses
            .into_iter()
            .map(|loss| loss.field)
            .filter(|field| field.contains('.') || to == Format::Cursor);
        fields.collect::<Vec<_>>()
    };
    assert_eq!(lost("", Format::ClaudeCode), [""; 0]);
    let said = r#", "blocking": true, "maxInstances": 2, "parentCommunication": "explicit", "as": "k", "odd": 1"#;
    assert_eq!(
        lost(said, Format::ClaudeCode),
        ["as", "blocking", "maxInstances", "odd", "parentCommunication"].map(|key| format!("sideA.subagents.{key}"))
    );
    assert!(lost("", Format::Cursor).contains(&"sideA.subagents".to_owned()));
}

#[test]
fn what_callers_are_told_is_no_loss_where_it_is_all_that_is_said() {
    for (told, expected) in [("Reviews", &[][..]), ("Reviews code", &["reviewer toolDescription"])] {
        let agent = Agent { tool_description: Some(told.to_owned()), ..plain() };
        let written = export_all(&team(agent), Format::ClaudeCode);
        assert_eq!(page(only_file(&written).1).0["description"], "Reviews");
        assert_eq!(lost_by_agent(&written), expected);
    }
}
