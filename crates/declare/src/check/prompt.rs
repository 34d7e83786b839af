//! A prompt's draft → prompt: what it may call exists.

use super::ledger::{Id, Ledger};
use super::shelf::Shelf;
use crate::draft::{AgentDraft, Declared, EntryDraft, PromptDraft};
use crate::faults::did_you_mean;
use crate::faults::quoted;
use entourage_model::{ChildEntry, Kind, Name, Prompt, Report, ToolEntry};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What every model provider takes as a tool's name.
const TOOL_NAME_CHARS_MAX: usize = 64;

pub(super) fn check(
    shelf: &Shelf<'_>,
    declared: &Declared<PromptDraft>,
    draft: &PromptDraft,
    instructions: Arc<str>,
    ledger: &mut Ledger,
) -> Prompt {
    Prompt {
        name: declared.name.value.clone(),
        instructions,
        model: draft.model.clone(),
        fallbacks: Vec::new(),
        include_chat: draft.include_chat,
        include_past_tools: draft.include_past_tools,
        parallel_tool_calls: draft.parallel_tool_calls,
        tool_choice: draft.tool_choice,
        required_schema: draft.required_schema.clone(),
        reasoning: draft.reasoning.clone(),
        tools: entries(shelf, declared, draft, ledger),
    }
}

/// Why an agent of that name cannot be offered as a tool, if it cannot.
pub(super) fn tool_name_fault(name: &Name) -> Option<Report> {
    let text = name.as_str();
    let fits =
        text.len() <= TOOL_NAME_CHARS_MAX && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let what = format!("agent {} cannot be offered as a tool under this name", quoted(text));
    let hint = format!("use at most {TOOL_NAME_CHARS_MAX} letters of a to z, digits, `_` and `-`");
    (!fits).then(|| Report::error("D011", what).hint(hint))
}

fn entries(
    shelf: &Shelf<'_>,
    declared: &Declared<PromptDraft>,
    draft: &PromptDraft,
    ledger: &mut Ledger,
) -> Vec<ToolEntry> {
    let id = Id::Prompt(declared.name.value.clone());
    let mut seen: BTreeMap<Name, bool> = BTreeMap::new();
    let mut entries = Vec::new();
    for draft in &draft.tools {
        let place = declared.place(draft.spot());
        let entry = match resolve(shelf, &id, draft) {
            Ok(entry) => entry,
            Err(report) => {
                ledger.refuse(&id, report.at(place));
                continue;
            }
        };
        let (name, is_tool) = match &entry {
            ToolEntry::Tool(tool) => (tool, true),
            ToolEntry::Child(child) => (&child.agent, false),
        };
        match seen.insert(name.clone(), is_tool) {
            // The same tool again, perhaps under an alias: harmless.
            Some(true) if is_tool => {
                let what = format!("{id} lists tool {} twice", quoted(name.as_str()));
                ledger.reports.push(Report::warning("D019", what).at(place).hint("remove one of them"));
                continue;
            }
            Some(_) => {
                let what = format!("{id} lists two things that its model would call {}", quoted(name.as_str()));
                ledger.refuse(&id, Report::error("D019", what).at(place.clone()).hint("remove one of them"));
            }
            None => {}
        }
        if let ToolEntry::Child(child) = &entry {
            ledger.need(&id, Id::Agent(child.agent.clone()), place);
        }
        entries.push(entry);
    }
    entries
}

fn resolve(shelf: &Shelf<'_>, id: &Id, entry: &EntryDraft) -> Result<ToolEntry, Report> {
    match entry {
        EntryDraft::Bare(name) => match shelf.tools.canonical(name.value.as_str()) {
            Some(tool) => Ok(ToolEntry::Tool(tool)),
            None => Err(unknown_tool(shelf, id, &name.value)),
        },
        EntryDraft::Full(child) => {
            let child = &child.value;
            match (shelf.agents.get(&child.agent), shelf.tools.canonical(child.agent.as_str())) {
                (Some(agent), _) => resolve_child(id, child, agent),
                (None, Some(tool)) => Ok(ToolEntry::Tool(tool)),
                (None, None) => Err(unknown_agent(shelf, id, &child.agent)),
            }
        }
    }
}

fn resolve_child(id: &Id, child: &ChildEntry, agent: &Declared<AgentDraft>) -> Result<ToolEntry, Report> {
    let is_person = agent.draft.as_ref().is_some_and(|draft| draft.kind == Kind::AiHuman);
    // What a broken agent says about its type may be wrong.
    if is_person && !agent.faults.has_error() {
        let what = format!("{id} starts agent {}, which is of type `ai_human`", quoted(child.agent.as_str()));
        let hint = format!("only an agent of type `dual_ai` can be a child; change `{}`", agent.faults.file);
        return Err(Report::error("D016", what).hint(hint));
    }
    let is_direct = child.resumable.is_none();
    match tool_name_fault(&child.agent).filter(|_| is_direct) {
        Some(fault) => Err(fault),
        None => Ok(ToolEntry::Child(child.clone())),
    }
}

fn unknown_tool(shelf: &Shelf<'_>, id: &Id, name: &Name) -> Report {
    let shown = quoted(name.as_str());
    if let Some(agent) = shelf.agents.get(name) {
        let kind = agent.draft.as_ref().map(|draft| draft.kind);
        let hint = match kind {
            Some(Kind::AiHuman) => "handing over to an agent of type `ai_human` is not supported yet".to_owned(),
            Some(Kind::DualAi) | None => format!("to start it as a child, write {{ \"name\": {:?} }}", name.as_str()),
        };
        return Report::error("D017", format!("{id} lists agent {shown} as if it were a tool")).hint(hint);
    }
    if shelf.prompts.contains_key(name) {
        return sub_prompt(id, name);
    }
    let what = format!("{id} may call tool {shown}, which nobody provides");
    let hint = did_you_mean(name.as_str(), shelf.tool_names.iter().map(Name::as_str));
    Report { hint, ..Report::error("D014", what) }
}

fn unknown_agent(shelf: &Shelf<'_>, id: &Id, name: &Name) -> Report {
    if shelf.prompts.contains_key(name) {
        return sub_prompt(id, name);
    }
    let what = format!("{id} starts agent {}, which is not declared", quoted(name.as_str()));
    let hint = did_you_mean(name.as_str(), shelf.agents.keys().map(|name| name.as_str()));
    Report { hint, ..Report::error("D015", what) }
}

fn sub_prompt(id: &Id, name: &Name) -> Report {
    Report::error("D017", format!("{id} lists prompt {} as if it were a tool", quoted(name.as_str())))
        .hint("prompts as tools are not supported yet; make it an agent of type `dual_ai`, and list that")
}
