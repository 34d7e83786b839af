//! Agents made of little text, for tests and benchmarks.
//!
//! Each side's instructions carry a mark, so that a brain can tell whose request it answers.

use entourage_model::{
    Agent, Binding, ChildEntry, Communication, Kind, ModelRef, Prompt, Resumable, Side, SideConfig, Source, Team,
    ToolEntry,
};
use std::sync::Arc;

/// What stands in the instructions of this agent or side.
pub fn mark(name: &str) -> String {
    format!("[[{name}]]")
}

pub fn team(agents: impl IntoIterator<Item = Agent>) -> Arc<Team> {
    let agents = agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent)));
    Arc::new(Team { agents: agents.collect(), ..Team::default() })
}

/// A one-sided agent.
pub fn solo(name: &str, tools: Vec<ToolEntry>) -> Agent {
    let side = side(name, tools);
    let source = Source { format: "test".to_owned(), file: None };
    Agent::one_sided(name.into(), format!("The {name} does it."), side.prompt, source)
}

/// Two sides, marked `name_a` and `name_b`; side A ends the session with `read_file`, whose path is the result.
pub fn pair(name: &str) -> Agent {
    let mut agent = solo(name, Vec::new());
    agent.kind = Kind::DualAi;
    agent.side_a = side(&format!("{name}_a"), vec![tool("read_file")]);
    agent.side_a.session_stop = Some(Binding {
        tool: "read_file".into(),
        message_property: Some("path".to_owned()),
        attachments_property: None,
    });
    agent.side_b = Some(side(&format!("{name}_b"), Vec::new()));
    agent.session_turns_max = Some(10);
    agent
}

/// A side that asks `openai:fake` and stops at the first text.
pub fn side(name: &str, tools: Vec<ToolEntry>) -> SideConfig {
    let prompt = Prompt {
        model: ModelRef::parse("openai:fake"),
        tools,
        ..Prompt::new(name.into(), format!("{} You work.", mark(name)))
    };
    SideConfig::new(prompt)
}

pub fn tool(name: &str) -> ToolEntry {
    ToolEntry::Tool(name.into())
}

/// A child that the call waits for.
pub fn blocking(agent: &str) -> ToolEntry {
    ToolEntry::Child(child(agent))
}

/// A child whose ending comes as a message.
pub fn background(agent: &str) -> ToolEntry {
    ToolEntry::Child(ChildEntry { blocking: false, ..child(agent) })
}

/// A child that can be written to again.
pub fn resumable(agent: &str) -> ToolEntry {
    let resumable = Resumable { receives: Side::A, instances_max: None, communication: Communication::Implicit };
    ToolEntry::Child(ChildEntry { resumable: Some(resumable), ..child(agent) })
}

fn child(agent: &str) -> ChildEntry {
    ChildEntry::blocking(agent.into())
}
