//! Profiles: the agents of a team that dex declares.

use entourage_model::{Agent, Name, Team};
use std::sync::Arc;

/// The format whose declarations are profiles.
const FORMAT: &str = "dex";

/// Whom a team calls so. An agent that had to leave its plain name to another is called `format/id`.
pub(super) fn find<'t>(team: &'t Team, id: &str) -> Option<&'t Arc<Agent>> {
    all(team).find(|agent| profile_id(&agent.name) == id)
}

/// In the order of their ids.
pub(super) fn all(team: &Team) -> impl Iterator<Item = &Arc<Agent>> {
    let mut profiles: Vec<_> = team.agents.values().filter(|agent| agent.source.format == FORMAT).collect();
    profiles.sort_by_key(|agent| profile_id(&agent.name));
    profiles.into_iter()
}

/// What dex calls the agent of this name.
pub fn profile_id(name: &Name) -> &str {
    let name = name.as_str();
    name.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name)
}
