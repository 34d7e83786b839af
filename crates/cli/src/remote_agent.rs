//! Agents that run on another server: what is declared here is only where.

use crate::settings::{SettingsFile, place_of};
use entourage_model::{Agent, Place};

/// Where it is declared that the agent runs elsewhere. Only settings do so; a file of an agent that was brought in may
/// have kept it.
pub(crate) fn place(settings: &[SettingsFile], agent: &Agent) -> Place {
    let file = agent.source.file.as_deref().unwrap_or_default();
    match settings.iter().find(|settings| settings.name == file) {
        Some(settings) => place_of(&settings.name, &settings.text, &["subagents", agent.name.as_str(), "url"]),
        None => Place::at(file, 1, 1),
    }
}
