//! The subagents that come with the program. A declaration with the same id takes the place of one.

use crate::Format;
use crate::draft::Declared;
use crate::faults::Faults;
use crate::solo::{Said, Solo};
use crate::tree::{At, Spot};
use entourage_model::{Agent, Name, WorkspaceMode, WorkspaceWish};

const GENERAL_PURPOSE_ID: &str = "general-purpose";

const RESEARCH: &str = include_str!("builtin/research.md");
const CODING: &str = include_str!("builtin/coding.md");
const GOAL: &str = include_str!("builtin/goal.md");
const GENERAL_PURPOSE: &str = include_str!("builtin/general-purpose.md");

/// dex's three profiles: one that looks, one that changes, one that judges.
pub(crate) fn profiles() -> Vec<Declared<Solo>> {
    let profile = |id: &str, title: &str, description: &str, body: &str| {
        let mut solo = Solo::new(Format::Dex, body);
        solo.title = Some(said("name", title.to_owned()));
        solo.description = Some(said("description", description.to_owned()));
        solo.verbatim.insert("id".to_owned(), id.into());
        solo.verbatim.insert("name".to_owned(), title.into());
        solo.verbatim.insert("description".to_owned(), description.into());
        solo
    };
    let mut research =
        profile("research", "Research", "Gathers information and reports it with evidence; changes nothing.", RESEARCH);
    deny(&mut research, &["write", "edit", "bash"]);
    research.read_only = Some(said("disabledTools", true));
    let coding = profile("coding", "Coding", "Makes a change in the project and shows that it works.", CODING);
    let description = "Judges by its own checks whether work has reached its goal; changes no file.";
    let mut goal = profile("goal", "Goal", description, GOAL);
    deny(&mut goal, &["write", "edit"]);
    [("research", research), ("coding", coding), ("goal", goal)].map(|(id, solo)| built_in(id, solo)).into()
}

/// AgentScope's one: as capable as whoever calls it.
pub(crate) fn general_purpose() -> Declared<Solo> {
    let description =
        "Does any task that needs many steps, with the tools of whoever calls it, and reports the outcome.";
    let mut solo = Solo::new(Format::AgentScope, GENERAL_PURPOSE);
    solo.description = Some(said("description", description.to_owned()));
    solo.workspace = Some(said("workspace", WorkspaceWish { mode: WorkspaceMode::Shared, path: None }));
    solo.verbatim.insert("description".to_owned(), description.into());
    solo.verbatim.insert("workspace".to_owned(), serde_json::json!({ "mode": "shared" }));
    built_in(GENERAL_PURPOSE_ID, solo)
}

/// Whether it is that one, and no declaration that took its place.
pub(crate) fn is_general_purpose(agent: &Agent) -> bool {
    let name = agent.name.as_str();
    let id = name.strip_prefix("agentscope/").unwrap_or(name);
    agent.source.file.is_none() && agent.source.format == Format::AgentScope.name() && id == GENERAL_PURPOSE_ID
}

/// In the profile's own words, so that it can be exported as it is.
fn deny(solo: &mut Solo, tools: &[&str]) {
    let named = tools.iter().map(|tool| At { value: (*tool).to_owned(), spot: Spot::START });
    solo.denied_tools = Some(said("disabledTools", named.collect()));
    solo.verbatim.insert("disabledTools".to_owned(), tools.to_vec().into());
}

fn built_in(id: &str, solo: Solo) -> Declared<Solo> {
    Declared { name: At { value: Name::from(id), spot: Spot::START }, faults: Faults::new(""), draft: Some(solo) }
}

fn said<T>(key: &str, value: T) -> Said<T> {
    Said { key: key.to_owned(), spot: Spot::START, value }
}
