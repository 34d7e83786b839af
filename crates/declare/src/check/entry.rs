//! The entries of a prompt's tools: what each names, and what a call of it does.

use super::ledger::{Id, Ledger};
use super::prompt::tool_name_fault;
use super::server::undeclared;
use super::shelf::Shelf;
use crate::draft::{AgentDraft, Claim, Declared, EntryDraft, EntryKind, FullEntry, PromptDraft};
use crate::faults::{meant_or, quoted};
use entourage_model::{
    ChildEntry, HandoffEntry, Kind, Name, Place, Prompt, PromptEntry, Report, ToolConfig, ToolEntry, server_of,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) tools: Vec<ToolEntry>,
    /// What some of the tools are given, by their own names.
    pub(super) configs: BTreeMap<Name, ToolConfig>,
}

pub(super) fn check_all(
    shelf: &Shelf<'_>,
    declared: &Declared<PromptDraft>,
    draft: &PromptDraft,
    ledger: &mut Ledger,
) -> Entries {
    let mut checker = Checker {
        shelf,
        declared,
        id: Id::Prompt(declared.name.value.clone()),
        ledger,
        seen: BTreeMap::new(),
        entries: Entries::default(),
    };
    for entry in &draft.tools {
        let place = declared.place(entry.spot());
        match checker.resolve(entry) {
            Ok(Some(resolved)) => checker.add(resolved, entry, place),
            Ok(None) => {}
            Err(report) => checker.ledger.refuse(&checker.id, report.at(place)),
        }
    }
    checker.entries
}

struct Checker<'a> {
    shelf: &'a Shelf<'a>,
    declared: &'a Declared<PromptDraft>,
    id: Id,
    ledger: &'a mut Ledger,
    /// The names that the model would call, and whether each is a tool's.
    seen: BTreeMap<Name, bool>,
    entries: Entries,
}

/// What may have the name of an entry.
#[derive(Clone, Copy)]
enum Target<'a> {
    Tool,
    Agent(&'a Declared<AgentDraft>),
    Prompt(&'a Declared<PromptDraft>),
}

impl<'a> Checker<'a> {
    /// What the entry is. Absent: something that is declared, but is not ours to run.
    fn resolve(&mut self, entry: &'a EntryDraft) -> Result<Option<ToolEntry>, Report> {
        let target = self.target(entry)?;
        let name = entry.name();
        let (resolved, kind) = match target {
            Target::Tool => (self.tool(name), EntryKind::Tool),
            Target::Prompt(prompt) => {
                self.description(prompt);
                (Some(ToolEntry::Prompt(sub_prompt(prompt, entry))), EntryKind::Prompt)
            }
            Target::Agent(agent) if starts(agent, entry) => (Some(self.child(agent, entry)?), EntryKind::Child),
            Target::Agent(_) => (Some(ToolEntry::Handoff(handoff(entry))), EntryKind::Handoff),
        };
        if let EntryDraft::Full(entry) = entry {
            self.idle_fields(entry, kind);
        }
        Ok(resolved)
    }

    fn target(&self, entry: &'a EntryDraft) -> Result<Target<'a>, Report> {
        let candidates = self.candidates(entry.name());
        let fitting: Vec<_> = candidates.iter().copied().filter(|target| fits(target, entry)).collect();
        match (fitting.as_slice(), candidates.as_slice()) {
            ([target], _) | ([], [target]) => Ok(*target),
            ([], []) => Err(self.unknown(entry)),
            // An agent is often called as the prompt on one of its sides, which nobody calls by itself.
            ([Target::Agent(agent), Target::Prompt(prompt)], _) if has_on_side(agent, &prompt.name.value) => {
                Ok(Target::Agent(agent))
            }
            ([], several) | (several, _) => Err(self.ambiguous(entry.name(), several)),
        }
    }

    /// Declared names come before the aliases of tools.
    fn candidates(&self, name: &Name) -> Vec<Target<'a>> {
        let own = self.shelf.tool(name).filter(|tool| tool == name).map(|_| Target::Tool);
        let agent = self.shelf.agents.get(name).map(|agent| Target::Agent(agent));
        let prompt = self.shelf.prompts.get(name).map(|prompt| Target::Prompt(prompt));
        let declared: Vec<_> = [own, agent, prompt].into_iter().flatten().collect();
        let alias = || self.shelf.tool(name).map(|_| Target::Tool).into_iter().collect();
        if declared.is_empty() { alias() } else { declared }
    }

    fn ambiguous(&self, name: &Name, targets: &[Target<'_>]) -> Report {
        let file = |target: &Target<'_>| match target {
            Target::Tool => match self.shelf.own_tools.get(name) {
                Some(tool) => format!("the tool of `{}`", tool.faults.file),
                None => "the built-in tool".to_owned(),
            },
            Target::Agent(agent) => format!("the agent of `{}`", agent.faults.file),
            Target::Prompt(prompt) => format!("the prompt of `{}`", prompt.faults.file),
        };
        let files: Vec<_> = targets.iter().map(file).collect();
        let what = format!("{} lists {}, which can be {}", self.id, quoted(name.as_str()), files.join(" or "));
        Report::error("D027", what).hint("give one of them another name")
    }

    fn unknown(&self, entry: &EntryDraft) -> Report {
        let name = entry.name().as_str();
        if let Some(server) = server_of(name) {
            return undeclared(&self.id.to_string(), server, &self.shelf.tools.servers());
        }
        let is_for_tool = |claim: &Claim| claim.kinds.contains(&EntryKind::Tool);
        match entry {
            EntryDraft::Full(entry) if !entry.claims.iter().any(is_for_tool) => {
                unknown_agent(self.shelf, &self.id, name)
            }
            EntryDraft::Full(_) | EntryDraft::Bare(_) => unknown_tool(self.shelf, &self.id, name),
        }
    }

    /// The specification asks for `toolDescription` of every prompt. Nobody reads it but the model that calls the prompt
    /// as a tool, which without it does not know when to: only then it must be there.
    fn description(&mut self, prompt: &Declared<PromptDraft>) {
        let Some(draft) = &prompt.draft else { return };
        let has_one = draft.tool_description.as_ref().is_some_and(|text| !text.trim().is_empty());
        // One of a wrong type is reported already.
        if has_one || prompt.faults.has_error() {
            return;
        }
        let id = Id::Prompt(prompt.name.value.clone());
        let report = Report::error("D005", format!("`toolDescription` is missing, and {id} is called as a tool"));
        let hint = "say by `toolDescription` what the prompt does and when to call it";
        self.ledger.refuse(&id, report.at(prompt.place(prompt.name.spot)).hint(hint));
    }

    /// A tool that a model's provider runs is reported where it is declared.
    fn tool(&self, name: &Name) -> Option<ToolEntry> {
        let own = self.shelf.own_tools.get(name).filter(|tool| !tool.faults.has_error());
        let is_elsewhere = own.is_some_and(|tool| tool.draft.as_ref().is_some_and(|draft| draft.program.is_none()));
        (!is_elsewhere).then(|| ToolEntry::Tool(self.shelf.callable(name)))
    }

    fn child(&mut self, agent: &Declared<AgentDraft>, entry: &EntryDraft) -> Result<ToolEntry, Report> {
        let child = match entry {
            EntryDraft::Bare(name) => ChildEntry::blocking(name.value.clone()),
            EntryDraft::Full(entry) => entry.child.clone(),
        };
        if let Some(report) = child_fault(&self.id, agent) {
            return Err(report);
        }
        let told = told_secret(self.shelf, &self.id, &child);
        self.ledger.reports.extend(told.map(|report| report.at(self.declared.place(entry.spot()))));
        Ok(ToolEntry::Child(child))
    }

    /// Fields that say nothing about what the entry turned out to be.
    fn idle_fields(&mut self, entry: &FullEntry, kind: EntryKind) {
        let noun = match kind {
            EntryKind::Tool => "a tool",
            EntryKind::Child => "an agent",
            EntryKind::Handoff => "an agent that takes over",
            EntryKind::Prompt => "a prompt",
        };
        for claim in entry.claims.iter().filter(|claim| !claim.kinds.contains(&kind)) {
            let name = quoted(entry.child.agent.as_str());
            let what = format!("`{}` has no effect: {name} is {noun}", claim.field);
            let report = Report::warning("D028", what).at(self.declared.place(claim.spot));
            self.ledger.reports.push(report.hint("remove it"));
        }
    }

    fn add(&mut self, resolved: ToolEntry, entry: &EntryDraft, place: Place) {
        let name = resolved.name().clone();
        let (needed, is_tool, is_offered) = match &resolved {
            ToolEntry::Tool(name) => (Id::Tool(name.clone()), true, false),
            ToolEntry::Child(child) => (Id::Agent(child.agent.clone()), false, child.resumable.is_none()),
            ToolEntry::Handoff(handoff) => (Id::Agent(handoff.agent.clone()), false, true),
            ToolEntry::Prompt(prompt) => (Id::Prompt(prompt.prompt.clone()), false, true),
        };
        if let Some(fault) = tool_name_fault(&needed, &name).filter(|_| is_offered) {
            self.ledger.refuse(&self.id, fault.at(place.clone()));
        }
        match self.seen.insert(name.clone(), is_tool) {
            // The same tool again, perhaps under an alias: harmless.
            Some(true) if is_tool => {
                let what = format!("{} lists tool {} twice", self.id, quoted(name.as_str()));
                self.ledger.reports.push(Report::warning("D019", what).at(place).hint("remove one of them"));
                return;
            }
            Some(_) => {
                let what = format!("{} lists two things that its model would call {}", self.id, quoted(name.as_str()));
                self.ledger.refuse(&self.id, Report::error("D019", what).at(place).hint("remove one of them"));
            }
            None => {}
        }
        self.ledger.need(&self.id, needed);
        if let Some(config) = given(entry).filter(|_| is_tool) {
            self.entries.configs.insert(name, config.clone());
        }
        self.entries.tools.push(resolved);
    }
}

/// The prompts that a prompt calls.
pub(super) fn called_prompts<'p>(prompts: &'p BTreeMap<&Name, Prompt>) -> impl Iterator<Item = &'p Name> {
    prompts.values().flat_map(|prompt| &prompt.tools).filter_map(|entry| match entry {
        ToolEntry::Prompt(entry) => Some(&entry.prompt),
        ToolEntry::Tool(_) | ToolEntry::Child(_) | ToolEntry::Handoff(_) => None,
    })
}

/// Says which entries nobody calls where their prompt is called itself: it is asked once, and only tools answer in time.
pub(super) fn idle_in_prompts(shelf: &Shelf<'_>, prompts: &BTreeMap<&Name, Prompt>, ledger: &mut Ledger) {
    for called in called_prompts(prompts).collect::<BTreeSet<_>>() {
        let Some((declared, prompt)) = shelf.prompts.get(called).zip(prompts.get(called)) else { continue };
        let idle: BTreeSet<&Name> = prompt.tools.iter().filter_map(other_than_tool).collect();
        let listed = declared.draft.iter().flat_map(|draft| &draft.tools);
        for entry in listed.filter(|entry| idle.contains(entry.name())) {
            let (name, id) = (quoted(entry.name().as_str()), Id::Prompt(called.clone()));
            let what = format!("{name} has no effect where {id} is called as a tool: it may call only tools there");
            let report = Report::warning("D009", what).at(declared.place(entry.spot()));
            ledger.reports.push(report.hint("list it in the prompt of a side"));
        }
    }
}

/// The agent or prompt that an entry names.
fn other_than_tool(entry: &ToolEntry) -> Option<&Name> {
    match entry {
        ToolEntry::Tool(_) => None,
        ToolEntry::Child(child) => Some(&child.agent),
        ToolEntry::Handoff(handoff) => Some(&handoff.agent),
        ToolEntry::Prompt(prompt) => Some(&prompt.prompt),
    }
}

/// Whether every field of the entry can be about that kind of thing.
fn fits(target: &Target<'_>, entry: &EntryDraft) -> bool {
    let kinds: &[EntryKind] = match target {
        Target::Tool => &[EntryKind::Tool],
        Target::Agent(_) => &[EntryKind::Child, EntryKind::Handoff],
        Target::Prompt(_) => &[EntryKind::Prompt],
    };
    match entry {
        EntryDraft::Bare(_) => true,
        EntryDraft::Full(entry) => entry.claims.iter().all(|claim| claim.kinds.iter().any(|kind| kinds.contains(kind))),
    }
}

/// Whether an entry that names an agent starts a child. A bare name hands over to an agent of type `ai_human`, and to
/// any agent of 0.2.0; so does an object there, unless it has a field that only a child has.
fn starts(agent: &Declared<AgentDraft>, entry: &EntryDraft) -> bool {
    let typed = agent.draft.as_ref().map(|draft| (draft.kind, draft.says_type));
    match (entry, typed) {
        (EntryDraft::Bare(_), Some((Kind::DualAi, true))) => true,
        (EntryDraft::Bare(_), Some((Kind::DualAi, false) | (Kind::AiHuman, _)) | None) => false,
        (EntryDraft::Full(entry), Some((Kind::DualAi, false))) => {
            entry.claims.iter().any(|claim| claim.kinds == [EntryKind::Child])
        }
        (EntryDraft::Full(_), Some((Kind::DualAi, true) | (Kind::AiHuman, _)) | None) => true,
    }
}

/// What is to be said of a child whose name or first message is the value of a secret. The specification allows it where
/// the author says so by these very fields.
pub(super) fn told_secret(shelf: &Shelf<'_>, id: &Id, child: &ChildEntry) -> Option<Report> {
    let mut told = child.immediate.iter().flat_map(|immediate| [&immediate.name_env, &immediate.description_env]);
    let secret = told.find_map(|name| name.as_deref().filter(|name| shelf.is_secret(name)))?;
    let what = format!("{id} shows variable {}, which is secret, to a model", quoted(secret));
    let hint = "remove it from `immediate` unless the model is to see it; `scopedEnv` hands it on unseen";
    Some(Report::warning("D036", what).hint(hint))
}

/// Why an agent cannot be a child of `id`, if it cannot.
pub(super) fn child_fault(id: &Id, agent: &Declared<AgentDraft>) -> Option<Report> {
    let is_person = agent.draft.as_ref().is_some_and(|draft| draft.kind == Kind::AiHuman);
    // What a broken agent says about its type may be wrong.
    if !is_person || agent.faults.has_error() {
        return None;
    }
    let what = format!("{id} starts agent {}, which is of type `ai_human`", quoted(agent.name.value.as_str()));
    let hint = format!("only an agent of type `dual_ai` can be a child; change `{}`", agent.faults.file);
    Some(Report::error("D016", what).hint(hint))
}

pub(super) fn unknown_agent(shelf: &Shelf<'_>, id: &Id, name: &str) -> Report {
    let what = format!("{id} starts agent {}, which is not declared", quoted(name));
    let hint = meant_or(name, shelf.agents.keys().map(|name| name.as_str()), "add it to `agents/agents`");
    Report::error("D015", what).hint(hint)
}

pub(super) fn unknown_tool(shelf: &Shelf<'_>, id: &Id, name: &str) -> Report {
    let what = format!("{id} may call tool {}, which nobody provides", quoted(name));
    let hint = meant_or(name, shelf.callables().map(Name::as_str), "add it to `agents/tools`");
    Report::error("D014", what).hint(hint)
}

/// A broken agent may have had it there.
fn has_on_side(agent: &Declared<AgentDraft>, prompt: &Name) -> bool {
    let Some(draft) = agent.draft.as_ref().filter(|_| !agent.faults.has_error()) else { return true };
    let sides = [&draft.side_a, &draft.side_b].into_iter().flatten();
    sides.filter_map(|side| side.prompt.as_ref()).any(|used| used.value == *prompt)
}

/// What the entry gives to a tool, if it gives anything.
fn given(entry: &EntryDraft) -> Option<&ToolConfig> {
    match entry {
        EntryDraft::Bare(_) => None,
        EntryDraft::Full(entry) => Some(&entry.config).filter(|config| **config != ToolConfig::default()),
    }
}

fn handoff(entry: &EntryDraft) -> HandoffEntry {
    match entry {
        EntryDraft::Bare(name) => HandoffEntry::new(name.value.clone()),
        EntryDraft::Full(entry) => HandoffEntry {
            agent: entry.child.agent.clone(),
            optional: entry.child.optional.clone(),
            message_property: entry.child.message_property.clone(),
            attachments_property: entry.child.attachments_property.clone(),
        },
    }
}

fn sub_prompt(prompt: &Declared<PromptDraft>, entry: &EntryDraft) -> PromptEntry {
    let description = prompt.draft.as_ref().and_then(|draft| draft.tool_description.clone()).unwrap_or_default();
    match entry {
        EntryDraft::Bare(name) => PromptEntry::new(name.value.clone(), description),
        EntryDraft::Full(entry) => PromptEntry {
            optional: entry.child.optional.clone(),
            message_property: entry.child.message_property.clone(),
            attachments_property: entry.child.attachments_property.clone(),
            include_text_response: entry.include_text_response,
            include_tool_calls: entry.include_tool_calls,
            include_errors: entry.include_errors,
            ..PromptEntry::new(entry.child.agent.clone(), description)
        },
    }
}
