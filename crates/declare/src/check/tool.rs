//! A tool's draft → tool: its name is free, and what it uses exists.

use super::entry::unknown_tool;
use super::ledger::{Id, Ledger};
use super::prompt::tool_name_fault;
use super::shelf::Shelf;
use crate::Format;
use crate::draft::{Declared, ToolDraft};
use crate::tree::At;
use entourage_model::{EffectClass, Name, Report, ScriptTool, Source, ToolSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What models drive children with, and an older name of one of them.
const DIALECTS: [&str; 20] = [
    "subagent_create",
    "subagent_message",
    "subagents",
    "send_to_agent",
    "subagent",
    "subagent_worker",
    "subagent_assign_task",
    "task_delegate",
    "task_join",
    "task_delegations",
    "task_create",
    "task_update",
    "task_list_items",
    "task_start",
    "agent_spawn",
    "agent_send",
    "agent_list",
    "task_output",
    "task_cancel",
    "task_list",
];

/// What the tools of MCP servers begin with.
const SERVERS: &str = "mcp__";

pub(super) fn check_all(shelf: &Shelf<'_>, ledger: &mut Ledger) -> BTreeMap<Name, ScriptTool> {
    let tools = shelf.own_tools.values().filter_map(|declared| check(shelf, declared, ledger));
    tools.map(|tool| (tool.spec.name.clone(), tool)).collect()
}

/// Absent: broken and reported, or not ours to run.
fn check(shelf: &Shelf<'_>, declared: &Declared<ToolDraft>, ledger: &mut Ledger) -> Option<ScriptTool> {
    let draft = declared.draft.as_ref()?;
    let At { value: name, spot } = &declared.name;
    let id = Id::Tool(name.clone());
    if let Some(report) = name_fault(shelf, &id, name) {
        ledger.refuse(&id, report.at(declared.place(*spot)));
    }
    for At { value: used, spot } in &draft.uses {
        let place = declared.place(*spot);
        match needed(shelf, used) {
            Some(Needed::Declared(used)) => ledger.need(&id, used),
            Some(Needed::There) => {}
            None => ledger.refuse(&id, unknown_tool(shelf, &id, used.as_str()).at(place)),
        }
    }
    let spec = ToolSpec {
        name: name.clone(),
        description: draft.description.clone(),
        parameters: Arc::new(draft.parameters.clone()),
        class: EffectClass::AtMostOnce,
    };
    Some(ScriptTool {
        spec: Arc::new(spec),
        program: Arc::clone(draft.program.as_ref()?),
        variables: draft.variables.clone(),
        uses: draft.uses.iter().map(|used| shelf.callable(&used.value)).collect(),
        source: Source { format: Format::StandardAgents.name().to_owned(), file: Some(declared.faults.file.clone()) },
    })
}

/// Why a tool cannot have its name, if it cannot.
fn name_fault(shelf: &Shelf<'_>, id: &Id, name: &Name) -> Option<Report> {
    if let Some(fault) = tool_name_fault(id, name) {
        return Some(fault.hint("give the file another name, of letters of a to z, digits, `_` and `-`"));
    }
    let exposed = shelf.agents.get(name).filter(|agent| agent.draft.as_ref().is_some_and(|draft| draft.expose_as_tool));
    let taken = if shelf.tools.canonical(name.as_str()).as_ref() == Some(name) {
        "that comes with entourage".to_owned()
    } else if DIALECTS.contains(&name.as_str()) || name.as_str().starts_with(SERVERS) {
        "that entourage itself offers to models".to_owned()
    } else {
        format!("that is an agent, exposed by `{}`", exposed?.faults.file)
    };
    let what = format!("{id} has the name of a tool {taken}");
    Some(Report::error("D035", what).hint("give the file another name"))
}

enum Needed {
    /// In the project, so that it may be broken.
    Declared(Id),
    There,
}

fn needed(shelf: &Shelf<'_>, name: &Name) -> Option<Needed> {
    let declared = if shelf.own_tools.contains_key(name) {
        Id::Tool
    } else if shelf.prompts.contains_key(name) {
        Id::Prompt
    } else if shelf.agents.contains_key(name) {
        Id::Agent
    } else {
        return shelf.tools.canonical(name.as_str()).map(|_| Needed::There);
    };
    Some(Needed::Declared(declared(name.clone())))
}
