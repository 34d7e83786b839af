//! What was imported, as a project has it that keeps it.

use super::files;
use crate::kit::{export_all, imported, lines, loaded, lost_by_agent, only_file, toml, yaml};
use entourage_declare::{Format, Loaded, MemoryFiles};
use entourage_model::{Name, Team, ToolEntry};
use serde_json::Value;

fn project(path: &str, text: &str) -> Loaded {
    let imported = imported(path, text);
    let files: MemoryFiles = imported.agents.into_iter().map(|agent| (agent.path, agent.text)).collect();
    loaded(&files)
}

/// The agents that were declared, without those that are always there.
fn declared(loaded: &Loaded) -> Team {
    let mut team = loaded.team.clone();
    team.agents.retain(|_, agent| agent.source.file.is_some());
    team
}

/// Model, steps, tools and children of an agent, in a line.
fn line(team: &Team, name: &str) -> String {
    let agent = team.agent(&Name::from(name)).expect("the agent is there");
    let prompt = &agent.side_a.prompt;
    let entry = |entry: &ToolEntry| match entry {
        ToolEntry::Child(child) => format!("→{}", child.agent),
        ToolEntry::Tool(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => entry.name().to_string(),
    };
    let tools: Vec<_> = prompt.tools.iter().map(entry).collect();
    let model = prompt.model.as_ref().map_or("-", |model| model.as_str());
    let steps = agent.side_a.steps_max.map_or("-".to_owned(), |steps| steps.to_string());
    format!("{} {model} {steps} {}", agent.source.format, tools.join(" "))
}

#[test]
fn an_imported_agent_works_here_as_it_does_there() {
    let loaded = project(".codex/agents/x.toml", &::toml::to_string(&files::codex()).expect("the file is TOML"));
    assert_eq!(lines(&loaded.reports), Vec::<String>::new());
    let expected = "codex ollama:gpt-5 - find_files grep_files list_files read_file mcp__far__* mcp__shelf__*";
    assert_eq!(line(&loaded.team, "digger"), expected);

    let loaded = project("x.json", &files::goose().to_string());
    assert_eq!(
        lines(&loaded.reports),
        [
            "warning[D007] .agents/agents/root-digger.md:28:5 the field `settings.lead` is unknown and has no effect | did you mean \
         `goose_model`?",
            "warning[D097] .agents/agents/root-digger.md:45:5 agent `root-digger` may start agent `sort`, which is not declared | \
         did you mean `goal`?",
        ]
    );
    let all = "edit_file find_files grep_files list_files read_file shell write_file mcp__far__* mcp__shelf__*";
    assert_eq!(line(&loaded.team, "root-digger"), format!("goose gemini:my-model 8 {all}"));

    let loaded = project("x.json", &files::docker_agent().to_string());
    assert_eq!(lines(&loaded.reports), Vec::<String>::new());
    let expected =
        "docker-agent anthropic:claude-opus-4-1 8 find_files grep_files list_files read_file →sorter mcp__shelf__*";
    assert_eq!(line(&loaded.team, "digger"), expected);
    assert_eq!(line(&loaded.team, "sorter"), "docker-agent openai:gpt-5-mini - ");
}

#[test]
fn an_imported_agent_can_be_exported_as_it_was() {
    let text = ::toml::to_string(&files::codex()).expect("the file is TOML");
    let written = export_all(&declared(&project(".codex/agents/x.toml", &text)), Format::Codex);
    assert_eq!((toml(only_file(&written).1), lost_by_agent(&written)), (files::codex(), Vec::new()));

    for (file, format) in [(files::goose(), Format::Goose), (files::docker_agent(), Format::DockerAgent)] {
        let written = export_all(&declared(&project("x.json", &file.to_string())), format);
        assert_eq!((yaml(only_file(&written).1), lost_by_agent(&written)), (file, Vec::new()));
    }
}

#[test]
fn what_is_kept_without_effect_is_named() {
    let fields = |path: &str, file: &Value| {
        let text =
            if path.ends_with(".toml") { ::toml::to_string(file).expect("it is TOML") } else { file.to_string() };
        let mut fields: Vec<_> = imported(path, &text).losses.into_iter().map(|loss| loss.field).collect();
        fields.sort();
        fields
    };
    assert_eq!(
        fields(".codex/agents/x.toml", &files::codex()),
        ["approval_policy", "features", "nickname_candidates", "web_search"]
    );
    assert_eq!(
        fields("x.json", &files::goose()),
        [
            "activities",
            "author",
            "extensions",
            "parameters",
            "prompt",
            "response",
            "retry",
            "settings.lead",
            "sub_recipes"
        ]
    );
    let expected = [
        "add_date",
        "budget",
        "budget",
        "fallback.cooldown",
        "handoffs",
        "hooks",
        "metadata",
        "metadata",
        "models.big.max_tokens",
        "permissions",
        "permissions",
        "skills",
        "structured_output",
        "structured_output.strict",
        "sub_agents",
        "toolsets",
        "toolsets.ignore_vcs",
        "toolsets.ref",
        "welcome_message",
    ];
    assert_eq!(fields("x.json", &files::docker_agent()), expected);
}

#[test]
fn what_another_project_keeps_is_imported_as_what_it_was() {
    let first = imported("x.json", &files::goose().to_string()).agents;
    let again = imported(".agents/agents/root-digger.md", &first[0].text).agents;
    assert_eq!(again, first);
}
