//! Keys that only complete another: they are lost with it.

use crate::Format;
use crate::exchange::Loss;
use crate::solo::Solo;
use entourage_model::Name;
use serde_json::Value;

/// Names what says whose a model is, where the model is lost.
pub(super) fn name(name: &Name, solo: &Solo, losses: &mut Vec<Loss>) {
    let Some(model) = &solo.model else { return };
    let is_lost = losses.iter().any(|loss| loss.agent == name.as_str() && loss.field == model.key);
    if let Some(field) = provider_key(solo).filter(|_| is_lost) {
        losses.push(Loss { agent: name.to_string(), field });
    }
}

/// Absent: the model's own key says it all.
fn provider_key(solo: &Solo) -> Option<String> {
    let said = &solo.verbatim;
    match solo.format {
        Format::Codex => said.contains_key("model_provider").then(|| "model_provider".to_owned()),
        Format::Goose => said.get("settings")?.get("goose_provider").map(|_| "settings.goose_provider".to_owned()),
        Format::DockerAgent => {
            let name = said.get("model").and_then(Value::as_str)?;
            said.get("file")?.get("models")?.get(name).map(|_| format!("models.{name}"))
        }
        Format::StandardAgents
        | Format::Stax
        | Format::Dex
        | Format::AgentScope
        | Format::ClaudeCode
        | Format::Opencode
        | Format::GithubCopilot
        | Format::Gemini
        | Format::Cursor
        | Format::Windsurf
        | Format::Openclaw
        | Format::Generic => None,
    }
}
