//! The built-in agent `lead`: whoever declares no agent to talk to talks to it.

use crate::files::{self, Files};
use crate::tools::Tools;
use entourage_model::{Agent, ChildEntry, Kind, Name, Prompt, Report, SideConfig, Source, Team, ToolChoice, ToolEntry};
use serde_json::Map;

pub(crate) const NAME: &str = "lead";

/// What a project says to whoever works on it.
const INSTRUCTIONS_FILE: &str = "AGENTS.md";

const INSTRUCTIONS: &str = "\
You lead the work in this project. Do what you are asked: look before you change anything, use your tools rather than \
guess, and say plainly what you did and what you could not do. Where an agent among your tools fits a piece of the \
work, give it that piece with everything it needs to know: it sees nothing else of this conversation.";

/// Has every tool, and every exposed agent as a child that it waits for.
pub(crate) fn lead(files: &dyn Files, tools: &dyn Tools, team: &Team, reports: &mut Vec<Report>) -> Agent {
    let own = tools.names().into_iter().map(ToolEntry::Tool);
    let children = team.agents.values().filter(|agent| agent.expose_as_tool && agent.kind == Kind::DualAi);
    let prompt = Prompt {
        name: Name::from(NAME),
        instructions: instructions(files, reports).into(),
        model: None,
        fallbacks: Vec::new(),
        include_chat: true,
        include_past_tools: true,
        parallel_tool_calls: None,
        tool_choice: ToolChoice::Auto,
        required_schema: None,
        reasoning: None,
        tools: own.chain(children.map(|agent| ToolEntry::Child(child(agent)))).collect(),
    };
    Agent {
        name: Name::from(NAME),
        kind: Kind::AiHuman,
        title: None,
        description: "Leads the work in this project; comes with entourage.".to_owned(),
        side_a: SideConfig {
            prompt,
            label: None,
            stop_on_response: true,
            stop_tool: None,
            stop_tool_response_property: None,
            steps_max: None,
            session_stop: None,
            session_fail: None,
            session_status: None,
        },
        side_b: None,
        session_turns_max: None,
        expose_as_tool: false,
        tool_description: None,
        source: Source { format: "built-in".to_owned(), file: None },
        extra: Map::new(),
    }
}

fn child(agent: &Agent) -> ChildEntry {
    ChildEntry {
        agent: agent.name.clone(),
        blocking: true,
        message_property: None,
        attachments_property: None,
        name_property: None,
        resumable: None,
    }
}

fn instructions(files: &dyn Files, reports: &mut Vec<Report>) -> String {
    let text = files::text(files, INSTRUCTIONS_FILE).unwrap_or_else(|report| {
        reports.push(report);
        None
    });
    text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| INSTRUCTIONS.to_owned())
}
