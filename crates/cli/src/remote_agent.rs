//! Agents that run on another server: what is declared here is only where.

use crate::project::Project;
use crate::settings::{SettingsFile, place_of};
use entourage_declare::Files as _;
use entourage_model::{Agent, Place};

/// The key of a declaration that says where the agent runs.
const ADDRESS: &str = "url";

/// Where it is declared that the agent runs elsewhere.
pub(crate) fn place(project: &Project, settings: &[SettingsFile], agent: &Agent) -> Place {
    let file = agent.source.file.as_deref().unwrap_or_default();
    if let Some(settings) = settings.iter().find(|settings| settings.name == file) {
        return place_of(&settings.name, &settings.text, &["subagents", agent.name.as_str(), ADDRESS]);
    }
    let text = project.read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_address = |line: &str| line.strip_prefix(ADDRESS).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let line = text.lines().position(is_address).unwrap_or_default();
    Place::at(file, u32::try_from(line + 1).unwrap_or(u32::MAX), 1)
}
