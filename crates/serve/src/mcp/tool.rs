//! What clients are offered.

use super::root;
use crate::service::Service;
use entourage_model::{ToolEntry, ToolSpec};
use entourage_runtime::Offer;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use std::fmt::Write as _;
use std::sync::Arc;

/// The tool that starts agents by their ids, which a client learns from its description.
const SPAWN: &str = "agent_spawn";
/// The tools that change nothing.
pub(super) const READING: [&str; 3] = ["agent_list", "task_list", "task_output"];

/// The tool that ends a task.
pub(super) const CANCEL: &str = "task_cancel";

/// The tool that writes to an agent which was started before.
pub(super) const SEND: &str = "agent_send";

/// The tools for subagents and their tasks, and one for every exposed agent.
pub(super) async fn listed(service: &Service) -> Vec<Tool> {
    let team = root::team(service).await;
    let agent = root::agent_name(&team);
    let Offer { tools, agents } = service.runtime.offer(&team, &agent);
    let Some(client) = team.agent(&agent) else { return Vec::new() };
    // What it hands down to subagents is not for the client itself, which has tools of its own.
    let is_handed_down = |spec: &ToolSpec| {
        client.side_a.prompt.tools.iter().any(|entry| match entry {
            ToolEntry::Tool(name) => *name == spec.name,
            ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => false,
        })
    };
    tools.iter().filter(|spec| !is_handed_down(spec)).map(|spec| shown(spec, &agents)).collect()
}

fn shown(spec: &Arc<ToolSpec>, agents: &[(String, String)]) -> Tool {
    let name = spec.name.as_str();
    let mut description = spec.description.clone();
    if name == SPAWN {
        description += " Available agents:";
        for (id, pitch) in agents {
            _ = write!(description, "\n- {id}: {pitch}");
        }
    }
    let schema: JsonObject = spec.parameters.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(name.to_owned(), description, schema);
    if READING.contains(&name) { tool.with_annotations(ToolAnnotations::new().read_only(true)) } else { tool }
}
